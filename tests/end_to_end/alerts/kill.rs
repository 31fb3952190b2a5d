//! `kill -9` during a demo: the notices of the outbox arrive in order, and equal those of a run that was not killed.

use super::outbox::{deliver, receiver, until};
use super::receiver::{Mood, Receiver, Taken};
use super::schema;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SECONDS: &str = "330";

fn demo(store: &Path, config: &Path) -> Child {
    let mut command = Command::new(crate::TAILBACK);
    command.args(["demo", "--no-page", "--seconds", SECONDS, "--start", "1700000000", "--speed", "60"]);
    command.arg("--store").arg(store).arg("--config").arg(config);
    let log = File::options().create(true).append(true).open(log_of(store)).unwrap();
    command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Log file of the demos of `store`.
fn log_of(store: &Path) -> PathBuf {
    store.with_extension("log")
}

fn runs_to_its_end(store: &Path, config: &Path) {
    let ended = demo(store, config).wait().unwrap();
    assert!(ended.success(), "{ended}: {}", std::fs::read_to_string(log_of(store)).unwrap());
}

fn rows(store: &Path, sql: &str) -> Vec<String> {
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Each notice that the store marks as delivered arrived, and the sequence of no incident decreased.
fn none_lost_nor_reordered(store: &Path, all: &[Taken]) {
    let arrived: Vec<(String, u64)> = all
        .iter()
        .map(|taken| {
            (
                taken.json()["incident"].as_str().unwrap().to_string(),
                taken.json()["sequence"].as_u64().unwrap(),
            )
        })
        .collect();
    let keys: BTreeSet<String> =
        arrived.iter().map(|(incident, sequence)| format!("{incident}.{sequence}")).collect();
    for key in rows(store, "SELECT key FROM alert_outbox WHERE state = 'delivered'") {
        assert!(keys.contains(&key), "{key} is lost");
    }
    let mut latest: BTreeMap<&String, u64> = BTreeMap::new();
    for (incident, sequence) in &arrived {
        let known = latest.entry(incident).or_default();
        assert!(sequence >= known, "{incident} went back to {sequence}");
        *known = *sequence;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_demo_loses_no_notice_and_sends_the_same() {
    let sink = Receiver::new();
    sink.set(Mood::IsSlow(Duration::from_millis(100)));
    let (address, _serving) = sink.listen("127.0.0.1:0").await;
    let folder = tempfile::tempdir().unwrap();
    let hook = format!("kind = \"webhook\"\nurl = \"http://{address}/\"\nbackoff_s = 0.1");
    let (file, config) = (folder.path().join("r.toml"), folder.path().join("tailback.toml"));
    std::fs::write(&file, format!("name = \"r\"\n{hook}")).unwrap();
    std::fs::write(
        &config,
        format!("[alerts]\nreceivers = [{:?}]\npoll_ms = 20\n", file.display().to_string()),
    )
    .unwrap();
    let (straight, killed) = (folder.path().join("straight.db"), folder.path().join("killed.db"));
    runs_to_its_end(&straight, &config);
    let before = sink.taken().len();
    for life_ms in [900, 1_300, 1_700, 1_100] {
        let mut child = demo(&killed, &config);
        tokio::time::sleep(Duration::from_millis(life_ms)).await;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    runs_to_its_end(&killed, &config);
    let _way = deliver(&killed, receiver(&hook));
    let waiting = "SELECT key FROM alert_outbox WHERE state = 'waiting'";
    until("nothing waits", || rows(&killed, waiting).is_empty()).await;
    let incidents = "SELECT concat_ws(' ', incident, rule, subject, started_s, fired_s, resolved_s)
                     FROM alert_incidents ORDER BY 1";
    assert!(!rows(&straight, incidents).is_empty(), "the demo's contention is an incident");
    assert_eq!(rows(&killed, incidents), rows(&straight, incidents));
    sink.taken().iter().for_each(|taken| schema::check(&taken.json()));
    none_lost_nor_reordered(&killed, &sink.taken()[before..]);
}
