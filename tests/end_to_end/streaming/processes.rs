//! Processes that die, join, or fall asleep: the tables equal those of the undisturbed run.

use super::arrival::undisturbed;
use super::feed::{Feed, since_epoch};
use super::process::{Process, Program};
use super::rows::{self, Dice};
use super::site::Site;
use std::time::{Duration, Instant};
use support::stack::turn;

/// Kills in one run.
const KILLS: u64 = 20;
/// Time in which a detector begins to work on any machine.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Starts stages as a fixed member of the consumer groups: its successor of the same name takes over at once, without
/// waiting until the group believes that it is dead.
fn start_member(site: &Site, stages: &str, member: &str) -> Process {
    Program::new("run", &site.config)
        .env("TAILBACK_RUN__STAGES", stages)
        .env("TAILBACK_KAFKA__CONSUMER__GROUP_INSTANCE_ID", member)
        .start()
}

#[test]
fn tables_equal_after_20_kills_of_a_detector() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "kills");
    let aggregator = start_member(&site, "aggregator", "aggregator");
    let mut dice = Dice::new("kills");
    let mut worked = 0;
    std::thread::scope(|scope| {
        let pushed = scope.spawn(|| Feed::to(&site).paced(&rows::undisturbed(), 8.0, |_| {}));
        for kill in 0..KILLS {
            let detector = start_member(&site, "detector,rollup", "detector");
            let claimed = || detector.log().contains("partitions claimed");
            // Every other one dies at work, however slow the machine is; the others wherever they are by then.
            let begun = Instant::now();
            while kill % 2 == 0 && !claimed() && begun.elapsed() < WAIT_TIMEOUT {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_millis(400 + dice.below(900)));
            worked += usize::from(claimed());
            detector.kill();
        }
        pushed.join().unwrap();
    });
    assert!(worked >= 10, "only {worked} of the killed detectors had begun to work");
    eprintln!("{worked} of {KILLS} killed detectors had claimed their partitions");
    let detector = start_member(&site, "detector,rollup", "detector");
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    detector.finish();
    aggregator.finish();
}

#[test]
fn tables_equal_after_20_kills_of_an_aggregator() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "aggregator_kills");
    let detector = start_member(&site, "detector,rollup", "detector");
    let mut dice = Dice::new("aggregator kills");
    std::thread::scope(|scope| {
        let pushed = scope.spawn(|| Feed::to(&site).paced(&rows::undisturbed(), 8.0, |_| {}));
        for _ in 0..KILLS {
            let aggregator = start_member(&site, "aggregator", "aggregator");
            std::thread::sleep(Duration::from_millis(400 + dice.below(900)));
            aggregator.kill();
        }
        pushed.join().unwrap();
    });
    let aggregator = start_member(&site, "aggregator", "aggregator");
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    detector.finish();
    aggregator.finish();
}

#[test]
fn of_two_detectors_one_dies_after_a_third_has_joined() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "joining");
    let others = site.start_stages("aggregator,rollup");
    let (mut first, second) = (Some(site.start_stages("detector")), site.start_stages("detector"));
    let mut third = None;
    Feed::to(&site).paced(&rows::undisturbed(), 8.0, |tick| match tick {
        40 => third = Some(site.start_stages("detector")),
        90 => first.take().into_iter().for_each(Process::kill),
        _ => {}
    });
    let tables = site.settles_as(undisturbed(services));
    let third = third.unwrap();
    assert!(third.log().contains("partitions claimed"), "the third never had a partition");
    tables.drops_equal(undisturbed(services));
    [others, second, third].into_iter().for_each(Process::finish);
}

/// In real time: an aggregator that waits for its share of a stopped one's partitions announces nothing of them, and rows
/// that the others read meanwhile follow the clock. The group notices the death after [`SESSION_MS`], twice the lateness: a
/// row of a partition that is not waited for is late then, and one that a busy machine delays is not.
#[test]
fn aggregator_dies_and_a_third_joins() {
    const ASSIGNED: &str = "raw partitions assigned";
    const LATENESS: &str = "[stream]\nlateness_s = 8";
    const SESSION_MS: &str = "16000";
    const SECONDS: u32 = 50;
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "sharing");
    site.configure(LATENESS);
    let start_aggregator = || {
        Program::new("run", &site.config)
            .env("TAILBACK_RUN__STAGES", "aggregator")
            .env("TAILBACK_KAFKA__CONSUMER__SESSION_TIMEOUT_MS", SESSION_MS)
            .start()
    };
    let detector = site.start_stages("detector,rollup");
    let mut first = Some(start_aggregator());
    first.as_mut().unwrap().wait_for(ASSIGNED);
    let second = start_aggregator();
    let mut third = None;
    let start_s = since_epoch().as_secs() as i64 + 8;
    let rows = rows::live(start_s, SECONDS);
    Feed::to(&site).live(&rows, start_s, |second| match second {
        8 => first.take().into_iter().for_each(Process::kill),
        40 => third = Some(start_aggregator()),
        _ => {}
    });
    let expected = Site::tables_with(services, "not_shared", LATENESS, &rows);
    site.settles_as(&expected).drops_equal(&expected);
    let third = third.unwrap();
    let had_some = |line: &str| line.contains(ASSIGNED) && !line.contains("partitions=0");
    for aggregator in [&second, &third] {
        assert!(aggregator.log().lines().any(had_some), "an aggregator never had a raw partition");
    }
    [detector, second, third].into_iter().for_each(Process::finish);
}

#[test]
fn paused_detector_writes_nothing_after_a_takeover() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "asleep");
    let others = site.start_stages("aggregator,rollup");
    let mut sleeper = site.start_stages("detector");
    sleeper.wait_for("partitions claimed");
    let other = site.start_stages("detector");
    Feed::to(&site).paced(&rows::undisturbed(), 8.0, |tick| match tick {
        50 => sleeper.signal("STOP"),
        // 60 seconds of rows at eight times their pace are more than the session's 6 s.
        125 => sleeper.signal("CONT"),
        _ => {}
    });
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    eprintln!(
        "the sleeper: {:?}",
        sleeper.log().lines().filter(|l| l.contains("owned") || l.contains("again")).collect::<Vec<_>>()
    );
    [others, sleeper, other].into_iter().for_each(Process::finish);
}

/// Waits until a row is judged that was sampled after `since`; the seconds that have passed since then. The simulated rows of
/// a second are pushed at its begin.
fn blind_s(site: &Site, since: Duration) -> f64 {
    let sampled_s = (since + Duration::from_secs(1)).as_secs_f64();
    let newest =
        || site.database.rows("SELECT extract(epoch FROM max(time)) FROM signal_rows")[0].parse::<f64>();
    while !newest().is_ok_and(|newest| newest > sampled_s) {
        assert!(since_epoch().saturating_sub(since) < WAIT_TIMEOUT, "nothing is judged after the kill");
        std::thread::sleep(Duration::from_millis(50));
    }
    since_epoch().saturating_sub(since).as_secs_f64()
}

/// The group notices a death after six seconds. The limit is twice what an idle machine needs, and half of what Kafka's own
/// session would cost.
#[test]
fn killed_process_is_replaced_within_seconds() {
    const BLIND_MAX_S: f64 = 20.0;
    const SECONDS: u32 = 75;
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "blind");
    let mut first = site.start();
    first.wait_for("raw partitions assigned");
    let start_s = since_epoch().as_secs() as i64 + 3;
    let rows = rows::live(start_s, SECONDS);
    std::thread::scope(|scope| {
        scope.spawn(|| Feed::to(&site).live(&rows, start_s, |_| {}));
        blind_s(&site, Duration::from_secs(start_s as u64 + 5));
        let killed = since_epoch();
        first.kill();
        let mut restarted = site.start();
        let restart_s = blind_s(&site, killed);
        restarted.wait_for("raw partitions assigned");
        let mut beside = site.start();
        beside.wait_for("raw partitions assigned");
        std::thread::sleep(Duration::from_secs(5));
        let killed = since_epoch();
        restarted.kill();
        let take_over_s = blind_s(&site, killed);
        eprintln!(
            "nothing was judged for {restart_s:.1} s with a restart, for {take_over_s:.1} s with a process beside it"
        );
        assert!(restart_s.max(take_over_s) < BLIND_MAX_S);
        beside.finish();
    });
}
