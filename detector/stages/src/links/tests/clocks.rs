//! Which partitions are waited for, and for how long, with wrong clocks.

use super::*;

fn at(second: i64) -> Time {
    Time::from_seconds(second as f64)
}

fn merge() -> LinkMerge {
    LinkMerge::new(2, FabricSettings::default(), Some(network()))
}

/// A message of `partition`: the watermark, the youngest row, seconds of silence since, and the final tick.
fn report(
    partition: i32,
    watermark_tick: i64,
    row: Option<(i64, i64)>,
    reported: Option<i64>,
) -> LinkMessage {
    LinkMessage {
        watermark_tick,
        newest: row.map(|(newest, _)| newest),
        silent_s: row.map_or(1_000.0, |(_, silent_s)| silent_s as f64),
        final_tick: reported,
        ..message(partition, Vec::new())
    }
}

/// What the fabric looked at up to now.
fn now_after(merge: &mut LinkMerge, message: LinkMessage) -> i64 {
    merge.message(message);
    merge.fabric().now()
}

/// Recorded rows come in portions: when the first were read, the watermark leaps from their times to the clock.
#[test]
fn jumping_watermark_completes_no_second() {
    let clock = 1_000_000;
    let mut updates = LinkUpdates::new(1.0, 3.0);
    let mut until = |watermark: i64| updates.progress(read_up_to(at(watermark), Some(at(40))));
    let reported: Vec<Option<Time>> = [40].into_iter().chain(clock..clock + 30).map(&mut until).collect();
    let (last, before) = reported.split_last().unwrap();
    assert!(*last == Some(at(56)) && before.iter().all(|until| *until == Some(at(40))), "{reported:?}");

    let mut merge = merge();
    assert_eq!(now_after(&mut merge, report(1, 60, Some((60, 0)), Some(56))), i64::MIN);
    let first = LinkMessage { updates: empty(60), ..report(0, 63, Some((60, 0)), Some(59)) };
    assert_eq!(now_after(&mut merge, first), 56);
    for silent_s in [1, 9, 29] {
        let leapt = |partition, reported| {
            report(partition, clock + silent_s - 1, Some((60, silent_s)), Some(reported))
        };
        assert_eq!(
            [(1, 56), (0, 59)].map(|(p, reported)| now_after(&mut merge, leapt(p, reported))),
            [56; 2]
        );
    }
    merge.message(report(0, clock + 29, Some((60, 30)), Some(59)));
    assert_eq!(now_after(&mut merge, report(1, clock + 29, Some((60, 30)), Some(56))), 59);
}

/// Rows come eight seconds late, and pause now and then: whenever they do, the watermark steps to the clock.
#[test]
fn pauses_of_late_rows_make_no_partition_quiet() {
    let mut updates = LinkUpdates::new(1.0, 3.0);
    let mut clock = 100.0_f64;
    for pause in 0..20 {
        for second in 0..10 {
            clock += 1.0;
            let (row, rows) = (Time::from_seconds(clock - 8.0), pause * 10 + second + 1);
            let until = updates.progress(ReadUpTo { watermark: row, newest: Some(row), rows });
            assert_eq!(until, Some(row));
        }
        let row = Time::from_seconds(clock - 8.0);
        let watermark = Time::from_seconds(clock);
        let until = updates.progress(ReadUpTo { watermark, newest: Some(row), rows: pause * 10 + 10 });
        assert_eq!(until, Some(row), "a step of eight seconds is no silence of as many");
    }
}

/// Steps of minutes: rows of a small machine, which are caught up with at a hundred times their pace.
#[test]
fn partition_without_rows_is_quiet_during_catch_up() {
    let mut updates = LinkUpdates::new(1.0, 3.0);
    let mut silent_s = |watermark: i64| {
        updates.progress(ReadUpTo { watermark: at(watermark), newest: Some(at(100)), rows: 7 });
        updates.take(0).unwrap().silent_s
    };
    assert_eq!([100, 200, 300, 400].map(&mut silent_s), [0.0, 1.0, 2.0, 3.0]);

    let mut merge = merge();
    merge.message(report(1, 60, None, None));
    for watermark in [100, 300, 500] {
        let updates = empty(watermark - 10);
        merge.message(report(1, watermark, None, None));
        let reported = report(0, watermark, Some((watermark, 0)), Some(watermark - 4));
        assert_eq!(now_after(&mut merge, LinkMessage { updates, ..reported }), watermark - 11);
    }
}

/// Rows that are 20 s behind the clock, all the time.
#[test]
fn rows_that_are_steadily_behind_the_clock_are_waited_for() {
    let mut merge = merge();
    let second = |tick: i64| vec![TickUpdate { tick, ..TickUpdate::default() }];
    for clock in 100..140 {
        let (newest, reported) = (clock - 20, clock - 24);
        // One of the partitions has a row every fourth second.
        let (rare, silent) = (newest / 4 * 4, newest % 4);
        merge.message(report(1, clock, Some((rare, silent)), Some(rare - 4)));
        let often = report(0, clock, Some((newest, 0)), Some(reported));
        let now = now_after(&mut merge, LinkMessage { updates: second(reported), ..often });
        assert!(now <= rare - 4, "second {now} was looked at, the other one is at {}", rare - 4);
        assert!(clock < 110 || now > rare - 8, "no progress: {now}");
    }
    // That partition stops: no other one waits for it.
    for clock in 140..160 {
        merge.message(report(1, clock, Some((116, clock - 136)), Some(112)));
        let often = report(0, clock, Some((clock - 20, 0)), Some(clock - 24));
        let now = now_after(&mut merge, LinkMessage { updates: second(clock - 24), ..often });
        assert_eq!(now == clock - 24, clock >= 145, "at {clock} {now} was looked at");
    }
}

/// The node's rows are of an hour later than those of all others.
#[test]
fn clock_an_hour_ahead_does_not_end_seconds_of_others() {
    let mut updates = LinkUpdates::new(1.0, 3.0);
    let rows = |second: i64| ReadUpTo {
        watermark: at(second),
        newest: Some(at(second + 3_600)),
        rows: second as u64,
    };
    let reported = [10, 11, 12].map(|second| updates.progress(rows(second)));
    assert_eq!(reported, [10, 11, 12].map(|second| Some(at(second))));
    // It stops, and its last row stays the youngest one; rows of the others are still processed.
    let later = |second: i64| ReadUpTo { newest: Some(at(3_612)), ..rows(second) };
    assert_eq!(
        [20, 30].map(|second| updates.progress(later(second))),
        [20, 30].map(|second| Some(at(second)))
    );
    assert_eq!(updates.take(0).unwrap().silent_s, 0.0);
}

/// The only node of a partition; its rows are late, and there is one each second.
#[test]
fn clock_an_hour_behind_delays_at_most_half_a_minute() {
    let mut behind = LinkUpdates::new(1.0, 3.0);
    let mut merge = merge();
    for clock in 10_000..10_060 {
        let late = Some(at(clock - 3_600));
        behind.progress(ReadUpTo { watermark: at(clock), newest: late, rows: clock as u64 });
        merge.message(behind.take(1).unwrap());
        let updates = vec![TickUpdate { tick: clock - 4, ..TickUpdate::default() }];
        let reported = report(0, clock, Some((clock, 0)), Some(clock - 4));
        let now = now_after(&mut merge, LinkMessage { updates, ..reported });
        // Seconds of the others are processed as soon as the clock is beyond them by the lateness.
        assert_eq!(now, if clock < 10_030 { i64::MIN } else { clock - 9 }, "at {clock}");
    }
}

/// All rows stop while a region is open, and come again ten seconds later.
#[test]
fn a_silence_passes_no_second_of_which_rows_could_still_come() {
    let network = network();
    let stalls: Vec<TickUpdate> =
        updates(&network, 0).into_iter().filter(|updates| updates.tick <= 20).collect();
    for behind in [0, 20] {
        let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(Arc::clone(&network)));
        let updates = stalls.clone();
        let last = report(0, 24 + behind, Some((24, 0)), Some(20));
        assert_eq!(now_after(&mut merge, LinkMessage { updates, ..last }), 20);
        assert!(merge.fabric().is_open());
        let silent = |second: i64| report(0, second + behind, Some((24, second - 24)), Some(20));
        for second in 25..40 {
            let now = now_after(&mut merge, silent(second));
            assert!(now < second - 3, "at {second} {now} was looked at, {behind} s behind the clock");
        }
        assert!(merge.fabric().now() > 30, "no progress");
        merge.message(silent(70));
        assert!(!merge.fabric().is_open(), "what is open does not end");
    }
}
