//! Kafka and the database go away and return: the tables equal those of the undisturbed run.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::process::Program;
use super::rows::{self, SECONDS};
use super::site::Site;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::stack::turn_with_own;

/// Outages of the broker in a test.
const OUTAGES: usize = 2;

/// Lines of a log that report something wrong.
fn warnings(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains(" WARN ") || line.contains("ERROR")).collect()
}

/// Seconds for which the database is away.
pub fn away_s() -> u64 {
    std::env::var("TAILBACK_AWAY_S").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn a_broker_that_restarts_and_one_that_crashes_lose_nothing() {
    let Some((services, _turn)) = turn_with_own("kafka", "broker") else { return };
    let site = Site::new(services, "broker");
    let process = site.start();
    let one_at_a_time = Mutex::new(());
    std::thread::scope(|scope| {
        Feed::to(&site).paced(&rows::undisturbed(), 8.0, |tick| match tick {
            50 => drop(scope.spawn(|| {
                let _restart = one_at_a_time.lock().unwrap();
                services.command("kafka", "restart");
            })),
            100 => drop(scope.spawn(|| {
                let _crash = one_at_a_time.lock().unwrap();
                services.command("kafka", "kill");
                services.command("kafka", "start");
            })),
            _ => {}
        });
    });
    let mut found = site.settles_as(undisturbed(services));
    let log = process.log();
    let lines = warnings(&log);
    assert!(lines.iter().any(|line| line.contains("Kafka: connection failed; retrying")), "{lines:#?}");
    assert!(lines.len() <= 3 * OUTAGES, "{lines:#?}");
    // What a broker had taken when it crashed, and not confirmed, the samplers' side may send again: LDMS does too.
    found.drops.remove("duplicate");
    found.drops_equal(undisturbed(services));
    process.finish();
}

/// Longer than its session of nine seconds: when it continues, it knows no broker at first, not even itself.
#[test]
fn frozen_broker_whose_session_ends_loses_nothing() {
    let Some((services, _turn)) = turn_with_own("kafka", "still") else { return };
    let site = Site::new(services, "still");
    let process = site.start();
    std::thread::scope(|scope| {
        Feed::to(&site).paced(&rows::undisturbed(), 8.0, |tick| {
            if tick == 50 || tick == 100 {
                scope.spawn(|| {
                    services.command("kafka", "freeze");
                    std::thread::sleep(Duration::from_secs(13));
                    services.command("kafka", "thaw");
                });
            }
        });
    });
    let mut found = site.settles_as(undisturbed(services));
    found.drops.remove("duplicate");
    found.drops_equal(undisturbed(services));
    process.finish();
}

/// The broker is there, and neither answers nor takes anything: a stop waits for it no longer than it may.
#[test]
fn stop_is_in_time_while_the_broker_is_frozen() {
    let Some((services, _turn)) = turn_with_own("kafka", "stopped_still") else { return };
    let site = Site::new(services, "stopped_still");
    let mut process = Some(site.start());
    std::thread::scope(|scope| {
        Feed::to(&site).paced(&rows::undisturbed(), 8.0, |tick| {
            if tick == 60 {
                let mut running = process.take().unwrap();
                scope.spawn(move || {
                    services.command("kafka", "freeze");
                    // What was read of these rows waits for Kafka, and for the rest of them. Meanwhile every stage asks the
                    // broker for offsets and for the identity of its topic (each 5 s).
                    std::thread::sleep(Duration::from_secs(6));
                    let ended = running.stop();
                    // Whatever comes out, the run that follows needs a broker.
                    services.command("kafka", "thaw");
                    assert!(ended.is_some_and(|status| status.success()), "{ended:?} after SIGTERM");
                    assert!(running.log().contains(" stopped stage="), "no stage logged its end");
                    running.stages_stopped_in_time();
                });
            }
        });
    });
    let process = site.start();
    let mut found = site.settles_as(undisturbed(services));
    found.drops.remove("duplicate");
    found.drops_equal(undisturbed(services));
    process.finish();
}

#[test]
fn crashed_or_unavailable_database_loses_nothing() {
    let Some((services, _turn)) = turn_with_own("postgres", "away") else { return };
    let site = Site::new(services, "away");
    let process = site.start();
    // While it is away 100 seconds of rows arrive.
    let speed = 100.0 / away_s() as f64;
    let pushed = rows::undisturbed();
    std::thread::scope(|scope| {
        Feed::to(&site).paced(&pushed, speed, |tick| {
            if tick == 20 {
                scope.spawn(|| {
                    services.command("postgres", "stop-immediate");
                    services.command("postgres", "start");
                    std::thread::sleep(Duration::from_secs(3));
                    services.command("postgres", "stop");
                    std::thread::sleep(Duration::from_secs(away_s()));
                    services.command("postgres", "start");
                });
            }
        });
    });
    site.database.wait_until_there();
    eprintln!("{SECONDS} s of rows, {} s without a database", away_s());
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    let log = process.log();
    let lines = warnings(&log);
    let [first, .., last] = &lines[..] else { panic!("{lines:?}") };
    assert!(first.contains("PostgreSQL: connection failed; retrying"), "{lines:#?}");
    let lasting = lines.iter().filter(|line| line.contains("still fails")).count();
    assert!(lasting as u64 <= away_s() / 60 && lines.len() <= 4 + lasting, "{last}: {lines:#?}");
    process.finish();
}

/// Waits for a commit, at most some seconds; the positions after it.
fn just_committed(site: &Site) -> BTreeMap<i32, i64> {
    let (begun, before) = (Instant::now(), site.database.positions("detector"));
    loop {
        let now = site.database.positions("detector");
        if now != before || begun.elapsed() > Duration::from_secs(20) {
            return now;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a server at once. The script's own way takes so long on a busy machine that the log is flushed before.
fn crash(server: &Path) {
    let file = server.join("data/postmaster.pid");
    let text = std::fs::read_to_string(&file).unwrap();
    let pid = text.lines().next().unwrap();
    assert!(Command::new("kill").args(["-s", "QUIT", pid]).status().unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(120);
    while file.exists() {
        assert!(Instant::now() < deadline, "the server does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// With a server that flushes its log late, so that each crash loses commits that it had confirmed.
#[test]
fn lost_commits_of_the_database_are_repeated_once() {
    let Some((services, _turn)) = turn_with_own("postgres", "forgetful") else { return };
    let site = Site::new(services, "forgetful");
    let flushes = |setting: &str| {
        site.database.rows(setting);
        site.database.rows("SELECT pg_reload_conf()");
    };
    flushes("ALTER SYSTEM SET wal_writer_delay = '10s'");
    // After each megabyte it would be flushed too, and on a busy machine that is just before the crash.
    flushes("ALTER SYSTEM SET wal_writer_flush_after = '1GB'");
    // A commit of any other session would flush those before it.
    flushes("ALTER SYSTEM SET synchronous_commit = off");
    let program = Program::new("run", &site.config).env("TAILBACK_DATABASE__SYNCHRONOUS_COMMIT", "false");
    let process = program.start();
    let costly = AtomicUsize::new(0);
    // A slow machine recovers from one crash when the next is due.
    let one_at_a_time = Mutex::new(());
    std::thread::scope(|scope| {
        Feed::to(&site).paced(&rows::undisturbed(), 6.0, |tick| {
            if matches!(tick, 30 | 60 | 90 | 120) {
                scope.spawn(|| {
                    let _crash = one_at_a_time.lock().unwrap();
                    let before = just_committed(&site);
                    crash(&services.dir.join("postgres"));
                    services.command("postgres", "start");
                    site.database.wait_until_there();
                    let after = site.database.positions("detector");
                    // Without its first commit a partition has no position.
                    let is_less = |(partition, position): (&i32, &i64)| {
                        after.get(partition).is_none_or(|now| now < position)
                    };
                    let is_back = before.iter().any(is_less);
                    costly.fetch_add(usize::from(is_back), Ordering::Relaxed);
                });
            }
        });
    });
    site.database.wait_until_there();
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    let costly = costly.into_inner();
    eprintln!("{costly} of 4 crashes set positions back");
    assert!(costly > 0, "no crash cost a commit: {}", process.log());
    process.finish();
    flushes("ALTER SYSTEM RESET wal_writer_delay");
    flushes("ALTER SYSTEM RESET wal_writer_flush_after");
}
