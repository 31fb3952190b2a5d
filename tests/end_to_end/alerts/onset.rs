//! Latency from the end of the tick in which contention begins to the webhook's arrival, over 200 onsets.
//!
//! 200 hosts report an InfiniBand port each second through Kafka, at the samplers' own pace; two of them become contended in
//! each second. `tailback run` with all stages and the default intervals reads them, PostgreSQL stores the outbox, and a
//! webhook of this process receives the notices. The printed latency is beyond the rule's least
//! duration of ten seconds.
//!
//! `cargo test --profile dist --test end_to_end onset -- --ignored --nocapture`

use super::outbox::until;
use super::receiver::{Receiver, now_s};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const HOSTS: usize = 200;
/// Seconds of quiet before the first onset.
const QUIET_S: i64 = 60;
/// Least duration of the rule, in seconds.
const LEAST_S: f64 = 10.0;
/// Data words that a port sends each second.
const WORDS: f64 = 2.5e8;

const RULE: &str = r#"
name = "onset"
about = "series"
severity = "warning"
group_by = "component"
summary = "{subject}"
description = "{slowdown}"
hint = ""
[when]
metric = ["ib_wait_ratio"]
state = "contended"
least_duration_s = 10
[clear]
after_s = 15
"#;

fn service(name: &str, command: &str, folder: &Path) -> String {
    let root = support::paths::root();
    let output =
        Command::new(root.join("tests/services").join(name)).arg(command).arg(folder).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// All services of the test; they end with it.
struct Site {
    folder: tempfile::TempDir,
    run: Option<Child>,
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(mut run) = self.run.take() {
            let _ = run.kill();
            let _ = run.wait();
        }
        let _ = service("kafka", "kill", &self.folder.path().join("kafka"));
        let _ = service("postgres", "stop-immediate", &self.folder.path().join("pg"));
    }
}

impl Site {
    fn configure(&self, broker: &str, database: &str, hook: &str) -> PathBuf {
        let path = |name: &str| self.folder.path().join(name);
        std::fs::write(path("onset.toml"), RULE).unwrap();
        let receiver = format!(
            "name = \"r\"\nkind = \"webhook\"\nurl = {hook:?}\nrules = [\"onset\"]\nmax_per_minute = 10000\n"
        );
        std::fs::write(path("r.toml"), receiver).unwrap();
        let text = format!(
            "[kafka]\nbrokers = [{broker:?}]\npartitions = 4\n[database]\nurl = {database:?}\n[http]\n\
             listen = \"127.0.0.1:0\"\n[alerts]\nrules = [{:?}]\nreceivers = [{:?}]\n",
            path("onset.toml").display().to_string(),
            path("r.toml").display().to_string()
        );
        std::fs::write(path("tailback.toml"), text).unwrap();
        path("tailback.toml")
    }
}

fn tailback(command: &str, config: &Path) -> Command {
    let mut program = Command::new(crate::TAILBACK);
    program.args([command, "--config"]).arg(config).stdout(Stdio::null());
    program
}

/// The second of the first contended tick of a host, from the beginning.
fn onset_s(host: usize) -> i64 {
    QUIET_S + host as i64 / 2
}

/// Cumulative counters of a port.
#[derive(Clone, Copy, Default)]
struct Port {
    words: f64,
    waits: f64,
}

/// Numbers between -1 and 1 that look random, the same in each run.
fn noise(host: usize, second: i64) -> f64 {
    let mixed = (host as u64 * 1_000_003).wrapping_add_signed(second).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / f64::from(1 << 23) - 1.0
}

fn row(host: usize, time_s: i64, port: &Port) -> String {
    format!(
        "{{\"timestamp\":{time_s}.000000,\"producer\":\"nid{host:05}\",\"instance\":\"nid{host:05}/mlx5_0.1\",\"job_id\":0,\
         \"app_id\":0,\"ca_name\":\"mlx5_0\",\"port\":1,\"symbol_error\":0,\"link_downed\":0,\"port_xmit_discards\":0,\
         \"port_xmit_data\":{:.0},\"port_rcv_data\":0,\"port_xmit_packets\":{:.0},\"port_rcv_packets\":0,\
         \"port_xmit_wait\":{:.0}}}",
        port.words,
        port.words / 500.0,
        port.waits
    )
}

/// Sends rows at the samplers' pace; the time of second 0.
async fn play(producer: &BaseProducer) -> i64 {
    let begin_s = now_s().ceil() as i64;
    let mut ports = [Port::default(); HOSTS];
    for second in 0..QUIET_S + (HOSTS / 2) as i64 + LEAST_S as i64 + 10 {
        let due_s = (begin_s + second) as f64;
        tokio::time::sleep(Duration::from_secs_f64((due_s - now_s()).max(0.0))).await;
        for (host, port) in ports.iter_mut().enumerate() {
            let ratio = if second >= onset_s(host) { 1.5 } else { 0.05 };
            port.words += WORDS * (1.0 + 0.03 * noise(host, second));
            port.waits += WORDS * ratio * (1.0 + 0.05 * noise(host, -second));
            let payload = row(host, begin_s + second, port);
            producer.send(BaseRecord::<(), _>::to("ldms.ibmad").payload(payload.as_bytes())).unwrap();
        }
        producer.flush(Duration::from_secs(120)).unwrap();
    }
    begin_s
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement of three minutes in real time"]
async fn from_the_onset_to_the_webhook() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut site = Site { folder, run: None };
    let broker = service("kafka", "start", &site.folder.path().join("kafka"));
    let database = service("postgres", "start", &site.folder.path().join("pg"));
    let sink = Receiver::new();
    let (address, _serving) = sink.listen("127.0.0.1:0").await;
    let config = site.configure(&broker, &database, &format!("http://{address}/"));
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", &broker).create().unwrap();
    let topic = NewTopic::new("ldms.ibmad", 4, TopicReplication::Fixed(1));
    admin.create_topics(&[topic], &AdminOptions::new()).await.unwrap();
    assert!(tailback("migrate", &config).status().unwrap().success());
    let log = std::fs::File::create(site.folder.path().join("run.log")).unwrap();
    site.run = Some(tailback("run", &config).stderr(log).spawn().unwrap());
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", &broker).set("linger.ms", "1").create().unwrap();
    let begin_s = play(&producer).await;
    let log = || std::fs::read_to_string(site.folder.path().join("run.log")).unwrap();
    // By host: arrival, and from the notice the start of contention and the end of the rule's least duration.
    let arrived = || -> BTreeMap<String, [f64; 3]> {
        let firing = sink.taken().into_iter().filter(|taken| taken.json()["kind"] == "firing");
        let of = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
        let sent = firing.map(|taken| (taken.json(), taken.at_s));
        sent.map(|(json, at_s)| {
            let subject = json["subject"].as_str().unwrap().to_string();
            (subject, [at_s, of(&json, "started_s"), of(&json, "fired_s")])
        })
        .collect()
    };
    if arrived().len() < HOSTS {
        eprintln!("{} of {HOSTS} arrived; {}", arrived().len(), log());
    }
    until("the notices of all onsets arrive", || arrived().len() >= HOSTS).await;
    let arrived = arrived();
    let onsets: Vec<f64> = (0..HOSTS).map(|host| (begin_s + onset_s(host)) as f64).collect();
    let p99 = print(&onsets, &arrived);
    let is_tried = std::env::var_os("TAILBACK_TRIED").is_some();
    assert!(is_tried || p99 < 2.0, "the goal is 2 s");
}

/// Prints the latencies; returns their p99.
fn print(onsets: &[f64], arrived: &BTreeMap<String, [f64; 3]>) -> f64 {
    let since_onset = |host: usize| arrived[&format!("nid{host:05}")].map(|at_s| at_s - onsets[host]);
    let beyond: Vec<f64> = (0..HOSTS).map(|host| since_onset(host)[0] - LEAST_S).collect();
    let mut slowest: Vec<usize> = (0..HOSTS).collect();
    slowest.sort_by(|a, b| beyond[*b].total_cmp(&beyond[*a]));
    for host in &slowest[..10] {
        let [_, started_s, fired_s] = since_onset(*host);
        eprintln!(
            "host {host}: {:.3} s; began {started_s:.3} s, fired {fired_s:.3} s after its onset",
            beyond[*host]
        );
    }
    let sorted: Vec<f64> = slowest.iter().rev().map(|host| beyond[*host]).collect();
    let [p50, p99] = [0.5, 0.99].map(|share| quantile(&sorted, share));
    println!(
        "{HOSTS} onsets, from the end of the first contended tick to the webhook, beyond the rule's {LEAST_S} s: \
         p50 {p50:.3} s, p99 {p99:.3} s, least {:.3} s, most {:.3} s",
        sorted[0],
        sorted[HOSTS - 1]
    );
    p99
}
