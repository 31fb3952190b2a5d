//! Lines of the log while something is broken: one at its begin, one a minute, one at its end.

use super::feed::{Feed, since_epoch};
use super::outages::away_s;
use super::process::Process;
use super::rows;
use super::site::Site;
use crate::alerts::outbox::notice;
use crate::alerts::receiver::{Mood, Receiver};
use schemas::{NoticeKind, ResultBatch, RoutedNotice};
use std::time::{Duration, Instant};
use store::postgres::{PartCommit, PgSettings, PgStore};
use store::storage_policy::StoredRows;
use support::stack::turn_with_own;

/// Incidents of which the receiver is to be notified.
const INCIDENTS: usize = 20;

/// Notices in the outbox, as a roll-up commits them.
async fn put_notices(site: &Site) {
    let about = |number: usize| RoutedNotice {
        notice: notice(&format!("i{number}"), 1, NoticeKind::Firing),
        receivers: vec!["hook".to_string()],
    };
    let results = ResultBatch { notices: (0..INCIDENTS).map(about).collect(), ..ResultBatch::default() };
    let mut store = PgStore::connect(&PgSettings::at(&site.database.url)).await.unwrap();
    let part = PartCommit {
        partition: 0,
        epoch: store.claim("rollup", 0, "test", None).await.unwrap().epoch,
        from_position: None,
        to_position: 0,
        results: &results,
        stored: &StoredRows::default(),
        table: &[],
        snapshot: None,
    };
    store.commit("rollup", &[part]).await.unwrap();
}

/// Where the process answers.
pub(super) fn address_of(process: &Process) -> String {
    let log = process.log();
    let line = log.lines().find(|line| line.contains("metrics and health")).unwrap();
    line.split("address=").nth(1).unwrap().split_whitespace().next().unwrap().to_string()
}

/// Requests the advice each half a second, as a scheduler's script may.
fn ask(runtime: &tokio::runtime::Runtime, address: &str, for_s: u64) {
    let end = Instant::now() + Duration::from_secs(for_s);
    while Instant::now() < end {
        // Whatever the answer: it is the log that counts.
        let _ = runtime.block_on(reqwest::get(format!("http://{address}/api/v1/advice")));
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn each_lasting_failure_has_a_line_a_minute() {
    let Some((services, _turn)) = turn_with_own("postgres", "lines") else { return };
    let site = Site::new(services, "lines");
    let (sink, runtime) = (Receiver::new(), tokio::runtime::Runtime::new().unwrap());
    let (hook, _serving) = runtime.block_on(sink.listen("127.0.0.1:0"));
    let file = site.config.with_extension("hook.toml");
    std::fs::write(&file, format!("name = \"hook\"\nkind = \"webhook\"\nurl = \"http://{hook}/\"\n"))
        .unwrap();
    site.configure(&format!("[alerts]\nreceivers = [{:?}]\n", file.display().to_string()));
    runtime.block_on(put_notices(&site));
    sink.set(Mood::Breaks);
    let mut process = site.start();
    process.wait_for_times("partitions claimed", 2);
    let start_s = since_epoch().as_secs() as i64;
    Feed::to(&site).all(&rows::live(start_s, 10));
    std::thread::sleep(Duration::from_secs(away_s()));
    sink.set(Mood::Takes);
    let deadline = Instant::now() + Duration::from_secs(400);
    while sink.taken().len() < INCIDENTS {
        assert!(Instant::now() < deadline, "{} of {INCIDENTS} arrived", sink.taken().len());
        std::thread::sleep(Duration::from_millis(200));
    }
    let address = address_of(&process);
    services.command("postgres", "stop");
    ask(&runtime, &address, away_s());
    services.command("postgres", "start");
    site.database.wait_until_there();
    process.wait_for("PostgreSQL: connection works again");
    let log = process.log();
    let of = |what: &str| {
        let about = |line: &&str| line.contains(what) && (line.contains(" WARN ") || line.contains("ERROR"));
        log.lines().filter(about).count() as u64
    };
    let (all, most) = (of(""), 2 + away_s() / 60);
    eprintln!(
        "{all} lines WARN or ERROR in 2 x {} s; {} tries were refused, {} of the receiver, {} of the database, {} of queries",
        away_s(),
        sink.refused(),
        of("delivery"),
        of("PostgreSQL: connection"),
        of("query")
    );
    assert!(sink.refused() > INCIDENTS);
    // The receiver is tried again with growing delays, so its failure may last longer than its refusals.
    assert!((1..=most + 5).contains(&of("notice delivery")), "{log}");
    assert!((1..=most).contains(&of("PostgreSQL: connection")), "{log}");
    assert!((1..=most).contains(&of("query of the page or the API")), "{log}");
    assert_eq!(all, of("notice delivery") + of("PostgreSQL: connection") + of("query of the page"), "{log}");
    process.finish();
}
