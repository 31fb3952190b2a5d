//! SIGTERM, SIGHUP, and what is wrong at the start.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::process::Program;
use super::rows::{self, Row};
use super::site::Site;
use super::tables::Tables;
use std::time::{Duration, Instant};
use support::stack::{Services, turn};

/// Another bound for clients: far away.
const CHANGED: &str = "[metric.lustre_write_rate]\neta = 9.0\n";

#[test]
fn stop_is_clean_and_in_time_and_the_next_run_continues() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "stopped");
    let mut process = Some(site.start());
    Feed::to(&site).paced(&rows::undisturbed(), 15.0, |tick| {
        if tick == 70 || tick == 110 {
            process.take().unwrap().finish();
            process = Some(site.start());
        }
    });
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    process.unwrap().finish();
}

/// The tables where eta changes in the middle, when `settled` returns: reloaded, or read at the next start.
fn with_changed_eta(
    services: &'static Services,
    name: &str,
    [reload, kill]: [bool; 2],
    settled: impl Fn(&Site) -> Tables,
) -> Tables {
    let rows = rows::undisturbed();
    let middle = rows.iter().position(|row| row.arrival_us - rows[0].arrival_us > 40_000_000).unwrap();
    let (before, after): (&[Row], &[Row]) = rows.split_at(middle);
    let site = Site::new(services, name);
    let feed = Feed::to(&site);
    feed.all(before);
    let mut process = site.start();
    site.settled_for_now();
    site.configure(CHANGED);
    if reload {
        process.signal("HUP");
        process.wait_for("thresholds reloaded");
    }
    if kill {
        process.kill();
        process = site.start();
    }
    // Late is what comes 0.6 s of the clock late: a busy machine delays rows by less.
    feed.paced(after, 5.0, |_| {});
    let tables = settled(&site);
    process.finish();
    tables
}

#[test]
fn reloaded_thresholds_apply_and_survive_a_kill() {
    let Some((services, _turn)) = turn() else { return };
    let reloaded = with_changed_eta(services, "reloaded", [true, false], Site::settled);
    let bounds = |tables: &Tables| -> Vec<String> {
        let clients = tables.of("signals").filter(|row| row.starts_with("lustre"));
        clients.map(|row| row.split(" | ").nth(5).unwrap().to_string()).collect()
    };
    assert_ne!(bounds(&reloaded), bounds(undisturbed(services)), "eta changed nothing");
    let as_reloaded = |site: &Site| site.settles_as(&reloaded);
    with_changed_eta(services, "reloaded_and_killed", [true, true], as_reloaded).drops_equal(&reloaded);
    with_changed_eta(services, "restarted", [false, true], as_reloaded).drops_equal(&reloaded);
}

/// Runs an invalid configuration; the program logs why in one sentence.
fn fails(site: &Site, more: &str, words: &[&str]) {
    site.configure(more);
    let mut process = site.start();
    let ended = process.ended_within(Duration::from_secs(120));
    let log = process.log();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "{log}");
    let last = log.trim_end().lines().last().unwrap_or_default().to_string();
    eprintln!("{last}");
    assert!(words.iter().all(|word| last.contains(word)), "{words:?} are not in {last:?} of {log}");
}

#[test]
fn missing_topics_are_named_if_they_may_not_be_created() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "no_topics");
    let text = std::fs::read_to_string(&site.config).unwrap();
    let program = || Program::new("run", &site.config).env("TAILBACK_KAFKA__CREATE_TOPICS", "false");
    let mut process = program().start();
    let ended = process.ended_within(Duration::from_secs(120));
    let log = process.log();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "{log} with {text}");
    assert!(log.contains("no_topics.counters") && log.contains("create_topics"), "{log}");
}

#[test]
fn missing_schema_is_reported_with_the_migrate_command() {
    let Some((services, _turn)) = turn() else { return };
    fails(&Site::bare(services, "bare"), "", &["tailback migrate"]);
}

#[test]
fn wrong_password_is_reported_and_not_shown() {
    let Some((services, _turn)) = turn() else { return };
    let mut site = Site::bare(services, "locked");
    site.database.rows("CREATE ROLE locked LOGIN PASSWORD 'right'");
    let access = services.dir.join("postgres/data/pg_hba.conf");
    let rules = std::fs::read_to_string(&access).unwrap();
    std::fs::write(&access, format!("host all locked 127.0.0.1/32 scram-sha-256\n{rules}")).unwrap();
    site.database.rows("SELECT pg_reload_conf()");
    site.database.url = site.database.url.replace("tailback@", "locked:hunter2@");
    fails(&site, "", &["password"]);
    let mut process = site.start();
    process.ended_within(Duration::from_secs(120));
    assert!(!process.log().contains("hunter2"));
}

#[test]
fn backlog_of_a_stopped_stage_exceeds_its_limit() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "backlog");
    site.configure("[health]\nbacklog_messages = 100\n");
    let rows = rows::undisturbed();
    Feed::to(&site).all(&rows);
    let aggregator =
        "SELECT value, state FROM monitor_health WHERE name = 'backlog_messages' AND label = 'aggregator'";
    let is_measured = |expected: &str| {
        let deadline = Instant::now() + Duration::from_secs(120);
        while site.database.rows(aggregator) != [expected] {
            assert!(Instant::now() < deadline, "{:?} instead of {expected}", site.database.rows(aggregator));
            std::thread::sleep(Duration::from_millis(500));
        }
    };
    let rollup = site.start_stages("rollup");
    is_measured(&format!("{} | exceeded", rows.len()));
    let others = site.start_stages("aggregator,detector");
    is_measured("0 | within");
    let labels = "SELECT label FROM monitor_health WHERE name = 'backlog_messages' ORDER BY 1";
    assert_eq!(site.database.rows(labels), ["aggregator", "detector", "rollup"]);
    others.finish();
    rollup.finish();
}
