//! Rows that are none, and messages that Kafka does not take: each is counted with a reason, and nothing else differs.

use super::arrival::undisturbed;
use super::feed::{Feed, since_epoch};
use super::rows::{self, Dice, RAW_PARTITIONS, Row, in_order_of_arrival};
use super::site::{PARTITIONS, Site};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use support::stack::turn;

/// Copies of each poison.
const COPIES: u64 = 3;
/// No reason: a message without a byte is skipped, as a blank line of a file is.
const EMPTY: &str = "";

/// Bytes, and the reason for which they are dropped.
fn poisons() -> Vec<(Vec<u8>, &'static str)> {
    let client = |columns: &str| {
        let known = r#"{"timestamp":1790000030.5,"producer":"nid00099","instance":"nid00099/snx11137-ffff","component_id":99,"job_id":0,"app_id":0,"fs_name":"snx11137","llite":"snx11137-ffff""#;
        format!("{known},{columns}}}").into_bytes()
    };
    let mut unknown_id = vec![0, 0x7F, 0xFF, 0xFF, 0x01];
    unknown_id.extend([2; 40]);
    let long = format!(r#"{{"timestamp":1790000030.5,"text":"{}"}}"#, "x".repeat(900_000));
    vec![
        (br#"{"timestamp":1790000030.5,"producer":"nid0"#.to_vec(), "invalid_json"),
        (b"no row at all".to_vec(), "invalid_json"),
        ((128..=255).collect(), "invalid_json"),
        (Vec::new(), EMPTY),
        (long.into_bytes(), "unknown_schema"),
        (unknown_id, "unknown_schema_id"),
        (vec![0, 1], "invalid_avro"),
        (client(r#""read_bytes.sum":"few","write_bytes.sum":"many""#), "bad_value"),
        (client(r#""read_bytes.sum":-1,"write_bytes.sum":-4096"#), "negative_counter"),
        (client(r#""fsync":1"#), "missing_column"),
    ]
}

#[test]
fn poison_is_counted_with_its_reason_and_changes_nothing() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "poison");
    let mut dice = Dice::new("poison");
    let mut rows = rows::undisturbed();
    let (first_us, last_us) = (rows[0].arrival_us, rows[rows.len() - 1].arrival_us);
    let mut expected = BTreeMap::new();
    for (payload, reason) in poisons() {
        for _ in 0..COPIES {
            let arrival_us = first_us + dice.below((last_us - first_us) as u64) as i64;
            let partition = dice.below(u64::from(RAW_PARTITIONS)) as i32;
            let payload = payload.clone();
            rows.push(Row { schema: "lustre_client", time_us: arrival_us, arrival_us, partition, payload });
            if reason != EMPTY {
                *expected.entry(reason.to_string()).or_insert(0) += 1;
            }
        }
    }
    let feed = Feed::to(&site);
    feed.all(&in_order_of_arrival(rows));
    let process = site.start();
    site.wait_until_read();
    for partition in 0..PARTITIONS {
        feed.payload(&format!("{}.counters", site.name), partition, 0, b"\xC3\x01none of Tailback's");
    }
    feed.flush();
    expected.insert("bad_message".to_string(), PARTITIONS as u64);
    let tables = site.settles_as(undisturbed(services));
    assert_eq!(tables.drops, expected);
    process.finish();
}

#[test]
fn verdicts_too_large_for_their_topic_hold_nothing_up() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "large");
    // No verdict is as short as that.
    site.create_topic_for_messages_of(&format!("{}.verdicts", site.name), 150);
    Feed::to(&site).all(&in_order_of_arrival(rows::undisturbed()));
    let mut process = site.start();
    process.wait_for("message dropped: too large for Kafka");
    site.settles_as(undisturbed(services));
    assert!(process.log().contains("large.verdicts"), "the log names the topic");
    process.finish();
    let kept = "SELECT stage, topic, reason, count(*) > 0, bool_and(message_key <> '' AND size > 150),
                       bool_and(length(head) = least(size, 4096))
                FROM rejected_messages GROUP BY 1, 2, 3 ORDER BY 1";
    let of = |stage: &str| format!("{stage} | large.verdicts | too_large | t | t | t");
    let found = site.database.rows(kept);
    assert!(
        found.contains(&of("detector")) && found.iter().all(|row| row.contains("too_large | ")),
        "{found:?}"
    );
}

/// What `rejected_messages` holds, without offsets, which depend on what else is in the topics.
const REJECTED: &str =
    "SELECT stage, topic, partition, number, reason, size, encode(head, 'escape') FROM rejected_messages";

fn wait_for_rejected(site: &Site, expected: &[String]) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let mut found = site.database.rows(REJECTED);
        found.sort();
        if found == expected || Instant::now() > deadline {
            assert_eq!(found, expected);
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn undecodable_messages_are_kept_once_whatever_dies() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "letters");
    let feed = Feed::to(&site);
    feed.all(&in_order_of_arrival(rows::undisturbed()));
    let process = site.start();
    site.wait_until_read();
    let mut expected = Vec::new();
    let mut push = |stage: &str, topic: &str, partition: i32, payload: &str| {
        let topic = format!("{}.{topic}", site.name);
        feed.payload(&topic, partition, since_epoch().as_millis() as i64, payload.as_bytes());
        let size = payload.len();
        let head = &payload[..size.min(4_096)];
        expected.push(format!("{stage} | {topic} | {partition} | 0 | bad_message | {size} | {head}"));
    };
    for partition in 0..PARTITIONS {
        push("detector", "counters", partition, "none of Tailback's");
        push("rollup", "partials", partition, &"no partial ".repeat(1_000));
    }
    push("aggregator", "jobs", 0, "no job");
    push("aggregator", "jobs", 0, r#"{"job_id":"?"}"#);
    expected.sort();
    feed.flush();
    // Some were committed by now, some not.
    process.kill();
    let process = site.start();
    let tables = site.settles_as(undisturbed(services));
    wait_for_rejected(&site, &expected);
    let bad_messages = tables.drops.get("bad_message").copied();
    assert_eq!(bad_messages, Some(2 * PARTITIONS as u64), "{:?}", tables.drops);
    // On a busy machine the database may not answer doctor in its five seconds.
    let mut said = String::new();
    for _ in 0..20 {
        let mut doctor = std::process::Command::new(crate::TAILBACK);
        let done = doctor.args(["doctor", "--config"]).arg(&site.config).output().unwrap();
        said = String::from_utf8_lossy(&done.stdout).into_owned();
        if !said.contains("the database does not answer") {
            break;
        }
    }
    assert!(said.contains("14 messages passed over") && said.contains("FROM rejected_messages"), "{said}");
    process.finish();
}

#[test]
fn refused_job_of_a_second_cluster_names_the_key_to_set() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "clusters");
    let mut process = site.start();
    process.wait_for_times("partitions claimed", 2);
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", &services.broker).create().unwrap();
    let topic = format!("{}.jobs", site.name);
    for (cluster, node) in [("alpha", "a1"), ("beta", "b1")] {
        let job = format!(r#"{{"job_id":"7","cluster":"{cluster}","nodes":"{node}","start":1790000000}}"#);
        producer.send(BaseRecord::<str, str>::to(&topic).key("7").payload(&job)).unwrap();
        producer.flush(Duration::from_secs(60)).unwrap();
    }
    let query = "SELECT detail FROM rejected_messages";
    let begun = Instant::now();
    while site.database.rows(query).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", process.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    let detail = site.database.rows(query).remove(0);
    assert!(
        detail.starts_with("bad_job: cluster: ") && detail.contains("set kafka.home_cluster"),
        "{detail}"
    );
    process.wait_for("set kafka.home_cluster");
    process.finish();
}

#[test]
fn rows_that_postgresql_refuses_cost_themselves_alone() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "refused_rows");
    let undisturbed = undisturbed(services);
    let first = |table| undisturbed.of(table).next().and_then(|row| row.split(" | ").next()).unwrap();
    let (job, producer) = (first("jobs"), first("producers"));
    site.database.rows(&format!("ALTER TABLE jobs ADD CONSTRAINT refused CHECK (job_id <> '{job}')"));
    let check = format!("CHECK (producer <> '{producer}')");
    site.database.rows(&format!("ALTER TABLE producers ADD CONSTRAINT refused {check}"));
    let is_refused = |row: &String| {
        row.starts_with(&format!("jobs: {job} | ")) || row.starts_with(&format!("producers: {producer} | "))
    };
    let mut expected = undisturbed.clone();
    expected.rows.retain(|row| !is_refused(row));
    let (all, left) = (undisturbed.rows.len(), expected.rows.len());
    assert!(all - left >= 2, "{all} {left}");
    Feed::to(&site).all(&in_order_of_arrival(rows::undisturbed()));
    let mut process = site.start();
    process.wait_for("PostgreSQL refuses rows");
    site.settles_as(&expected);
    process.finish();
    let tables = site.database.rows(
        "SELECT DISTINCT stage, topic, reason, position('23514' IN detail) > 0 FROM rejected_messages ORDER BY 2",
    );
    assert_eq!(tables, ["detector | jobs | refused_row | t", "detector | producers | refused_row | t"]);
}
