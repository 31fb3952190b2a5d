//! The native sampler's rows in Kafka: every one, whole, with a null key, and read by the pipeline.

use super::secure::secure;
use super::site::Site;
use super::token_endpoint::TokenEndpoint;
use super::tokens::lead_by_tokens;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use support::node::node;
use support::stack::turn;

/// Samples of a run.
const TICKS: usize = 6;
/// Sets of the node, one row each a sample, and the schema that determines their topic.
const SETS: [(&str, &str); 4] = [
    ("ib_sysfs/mlx5_0.1", "ib_sysfs"),
    ("ib_sysfs/mlx5_0.2", "ib_sysfs"),
    ("home-ffff88103d6bd111", "lustre_client"),
    ("snx11168-ffff88103d6bd000", "lustre_client"),
];
/// What the pipeline makes of them, by set.
const SERIES: [(&str, usize); 8] = [
    ("ib_wait_ratio/nid00001/mlx5_0.1", 0),
    ("ib_wait_ratio/nid00001/mlx5_0.2", 1),
    ("lustre_metadata_rate/nid00001/home", 2),
    ("lustre_metadata_rate/nid00001/snx11168", 3),
    ("lustre_read_rate/nid00001/home", 2),
    ("lustre_read_rate/nid00001/snx11168", 3),
    ("lustre_write_rate/nid00001/home", 2),
    ("lustre_write_rate/nid00001/snx11168", 3),
];
/// Longest wait for the broker, and for readings of the last rows.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// `tailback sample` on the node in `folder`.
fn sample(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::TAILBACK);
    command.args(["sample", "--producer", "nid00001", "--sysfs"]).arg(folder.join("sys"));
    command.arg("--procfs").arg(folder.join("proc")).args(arguments).env_remove("RUST_LOG");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    done
}

/// All rows of a topic, without their order; keys must be null.
pub fn rows_of(broker: &str, topic: &str) -> Vec<String> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", broker).set("group.id", format!("{topic}.test"));
    let consumer: BaseConsumer = config.create().unwrap();
    let metadata = consumer.fetch_metadata(Some(topic), REQUEST_TIMEOUT).unwrap();
    let (mut assigned, mut expected) = (TopicPartitionList::new(), 0);
    for partition in metadata.topics()[0].partitions() {
        assigned.add_partition_offset(topic, partition.id(), Offset::Beginning).unwrap();
        let (low, high) = consumer.fetch_watermarks(topic, partition.id(), REQUEST_TIMEOUT).unwrap();
        expected += usize::try_from(high - low).unwrap();
    }
    consumer.assign(&assigned).unwrap();
    let mut rows = Vec::new();
    while rows.len() < expected {
        let message = consumer.poll(REQUEST_TIMEOUT).expect("the broker has more rows").unwrap();
        assert_eq!(message.key(), None);
        rows.push(String::from_utf8(message.payload().unwrap().to_vec()).unwrap());
    }
    rows
}

/// Ticks from the first of these timestamps to the last: a sampler on a busy machine is late, and may miss a second.
fn ticks(timestamps: &[f64]) -> i64 {
    timestamps.windows(2).map(|pair| (pair[1] - pair[0]).round().max(1.0) as i64).sum()
}

/// Names of the columns.
fn columns(row: &Value) -> Vec<String> {
    row.as_object().unwrap().keys().cloned().collect()
}

/// Every set has a row a sample, with the columns that a set printed at once has, in the topic of its schema. Gives the
/// ticks from the first sample to the last, of each set.
fn all_are_there(site: &Site, printed: &[Value]) -> [i64; 4] {
    let mut timestamps: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for schema in ["ib_sysfs", "lustre_client"] {
        for row in rows_of(&site.services.broker, &site.raw_topic(schema)) {
            let row: Value = serde_json::from_str(&row).unwrap();
            let instance = row["instance"].as_str().unwrap().strip_prefix("nid00001/").unwrap();
            let (set, of) = SETS.iter().find(|(set, _)| *set == instance).unwrap();
            assert_eq!(*of, schema);
            let like = printed.iter().find(|like| like["instance"] == row["instance"]).unwrap();
            assert_eq!(columns(&row), columns(like));
            if schema == "lustre_client" {
                // The files do not change.
                assert_eq!(row["write_bytes.sum"], like["write_bytes.sum"], "{row}");
            }
            timestamps.entry(set).or_default().push(row["timestamp"].as_f64().unwrap());
        }
    }
    assert_eq!(timestamps.len(), SETS.len());
    for of_set in timestamps.values_mut() {
        of_set.sort_unstable_by(f64::total_cmp);
        let seconds: Vec<f64> = of_set.iter().map(|at| at.floor()).collect();
        assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]), "a sample is there twice: {of_set:?}");
        assert_eq!(of_set.len(), TICKS);
    }
    let first = &timestamps[SETS[0].0];
    for of_set in timestamps.values() {
        let together = first.iter().zip(of_set).all(|(a, b)| (a - b).abs() < 1.0);
        assert!(together, "sets are sampled together: {timestamps:?}");
    }
    SETS.map(|(set, _)| ticks(&timestamps[set]))
}

/// Samples into Kafka with `arguments`, and reads what came there.
fn sampled_and_read(site: &Site, arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    node(folder.path());
    let printed = sample(folder.path(), &["--once"]).stdout;
    let printed: Vec<Value> =
        String::from_utf8(printed).unwrap().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(printed.len(), SETS.len());
    let (ticks, prefix) = (TICKS.to_string(), site.raw_topic(""));
    let done =
        sample(folder.path(), &[&["--figures", &ticks, "--topic-prefix", &prefix], arguments].concat());
    let warnings = String::from_utf8(done.stderr).unwrap();
    assert!(!warnings.contains("WARN"), "{warnings}");
    let ticks = all_are_there(site, &printed);
    let process = site.start();
    let readings = "SELECT s.name, sum(r.ticks) FROM signal_rows r JOIN series s USING (series_id) GROUP BY 1 ORDER BY 1";
    let expected: Vec<String> =
        SERIES.iter().map(|(series, set)| format!("{series} | {}", ticks[*set])).collect();
    let deadline = Instant::now() + REQUEST_TIMEOUT;
    while site.database.rows(readings) != expected && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(200));
    }
    let tables = site.settled_for_now();
    assert_eq!(site.database.rows(readings), expected, "readings from the first sample to the last");
    assert!(tables.drops.is_empty(), "{:?}", tables.drops);
    process.finish();
}

#[test]
fn every_sampled_row_is_in_kafka_and_is_read() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "sampler");
    // A list, as in the README.
    sampled_and_read(&site, &["--kafka", &[services.broker.as_str(); 2].join(",")]);
}

#[test]
fn sampled_rows_arrive_through_tls_and_a_password() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "secure_sampler");
    let tls = services.dir.join("kafka/tls");
    secure(&site, &tls.join("ca.pem"), &tls.join("password"));
    sampled_and_read(&site, &["--kafka", "config", "--config", site.config.to_str().unwrap()]);
}

#[test]
fn sampled_rows_arrive_through_tls_and_a_token() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "token_sampler");
    let endpoint = TokenEndpoint::start(services, "kafka");
    lead_by_tokens(&site, &endpoint);
    sampled_and_read(&site, &["--kafka", "config", "--config", site.config.to_str().unwrap()]);
}
