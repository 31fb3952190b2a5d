//! Who is waited for, and for how long, whatever clocks say.

use super::*;

fn at(second: i64) -> Time {
    Time::from_seconds(second as f64)
}

fn merge() -> LinkMerge {
    LinkMerge::new(2, FabricSettings::default(), Some(network()))
}

/// Of `partition`: the watermark, the youngest row and the watermark with which it came, what is told.
fn says(partition: i32, watermark_tick: i64, row: Option<(i64, i64)>, told: Option<i64>) -> LinkMessage {
    LinkMessage {
        watermark_tick,
        newest: row.map(|(newest, _)| newest),
        heard_tick: row.map(|(_, heard)| heard),
        told,
        ..message(partition, Vec::new())
    }
}

/// What the fabric looked at up to now.
fn now_after(merge: &mut LinkMerge, message: LinkMessage) -> i64 {
    merge.message(message);
    merge.fabric().now()
}

/// Recorded rows come in portions: when the first were read, the watermark leaps from their times to the clock. So it does
/// when brokers were away, by less than a minute, and whoever sends rows is still about to come back.
#[test]
fn a_watermark_that_leaps_makes_nobody_quiet_and_no_second_complete() {
    for clock in [1_000_000, 40 + 35] {
        let mut news = LinkNews::new(1.0, 3.0);
        let mut until = |watermark: i64| news.progress(read_up_to(at(watermark), Some(at(40))));
        let told: Vec<Option<Time>> = [40].into_iter().chain(clock..=clock + 30).map(&mut until).collect();
        let (last, before) = told.split_last().unwrap();
        assert!(*last == Some(at(56)) && before.iter().all(|until| *until == Some(at(40))), "{told:?}");

        let mut merge = merge();
        let row = Some((60, 60));
        let leapt = |partition, watermark: i64, told| LinkMessage {
            leapt_tick: Some(clock),
            ..says(partition, watermark, row, Some(told))
        };
        assert_eq!(now_after(&mut merge, says(1, 60, row, Some(56))), i64::MIN);
        let first = LinkMessage { news: empty(60), ..says(0, 63, row, Some(59)) };
        assert_eq!(now_after(&mut merge, first), 56);
        assert_eq!([(1, 56), (0, 59)].map(|(p, told)| now_after(&mut merge, leapt(p, clock, told))), [56; 2]);
        assert_eq!(
            [(0, 59), (1, 56)].map(|(p, told)| now_after(&mut merge, leapt(p, clock + 29, told))),
            [56; 2]
        );
        assert_eq!(now_after(&mut merge, leapt(1, clock + 30, 56)), 59);
    }
}

/// A minute and more lies between two commits: each step of the watermark was a small one.
#[test]
fn one_without_rows_is_waited_for_no_longer_while_rows_are_caught_up_with() {
    let mut merge = merge();
    merge.message(says(1, 60, None, None));
    for watermark in [100, 300, 500] {
        let news = empty(watermark - 10);
        let row = Some((watermark, watermark));
        merge.message(says(1, watermark, None, None));
        let now = now_after(&mut merge, LinkMessage { news, ..says(0, watermark, row, Some(watermark - 4)) });
        assert_eq!(now, watermark - 11);
    }
}

/// The same where the steps themselves are leaps, since the machine is small: rows follow them.
#[test]
fn a_leap_that_rows_followed_is_none_for_those_that_never_had_a_row() {
    let mut merge = merge();
    let told = |merge: &mut LinkMerge, watermark: i64, newest: i64| {
        let leapt = |message: LinkMessage| LinkMessage { leapt_tick: Some(watermark), ..message };
        merge.message(leapt(says(1, watermark, None, None)));
        let row = Some((newest, watermark));
        let news = empty(newest - 10);
        now_after(merge, leapt(LinkMessage { news, ..says(0, watermark, row, Some(newest - 4)) }))
    };
    assert_eq!(told(&mut merge, 500, 499), 488);
    assert_eq!(told(&mut merge, 9_000, 700), 488);
}

/// Rows that are 20 s behind the clock, all the time.
#[test]
fn rows_that_are_steadily_behind_the_clock_are_waited_for() {
    let mut merge = merge();
    for clock in 100..140 {
        let (newest, told) = (clock - 20, clock - 24);
        // One of the partitions has a row every fourth second.
        let rare = (newest / 4 * 4, newest / 4 * 4 + 20);
        merge.message(says(1, clock, Some(rare), Some(rare.0 - 4)));
        let news = vec![TickNews { tick: told, ..TickNews::default() }];
        let now =
            now_after(&mut merge, LinkMessage { news, ..says(0, clock, Some((newest, clock)), Some(told)) });
        assert!(now <= rare.0 - 4, "second {now} was looked at, the other one is at {}", rare.0 - 4);
        assert!(clock < 110 || now > rare.0 - 8, "nothing goes on: {now}");
    }
    // That one dies: nobody waits for it any more.
    for clock in 140..160 {
        merge.message(says(1, clock, Some((116, 136)), Some(112)));
        let news = vec![TickNews { tick: clock - 24, ..TickNews::default() }];
        let told = LinkMessage { news, ..says(0, clock, Some((clock - 20, clock)), Some(clock - 24)) };
        let now = now_after(&mut merge, told);
        assert_eq!(now == clock - 24, clock >= 145, "at {clock} {now} was looked at");
    }
}

/// The node's rows are of an hour later than those of all others.
#[test]
fn one_clock_that_is_an_hour_ahead_does_not_end_the_hour_for_others() {
    let mut news = LinkNews::new(1.0, 3.0);
    let rows = |second: i64| ReadUpTo {
        watermark: at(second),
        newest: Some(at(second + 3_600)),
        rows: second as u64,
    };
    assert_eq!(
        [10, 11, 12].map(|second| news.progress(rows(second))),
        [10, 11, 12].map(|second| Some(at(second)))
    );
    // It dies, and its last row stays the youngest one; rows of the others are heard of all the same.
    let later = |second: i64| ReadUpTo { newest: Some(at(3_612)), ..rows(second) };
    assert_eq!([20, 30].map(|second| news.progress(later(second))), [20, 30].map(|second| Some(at(second))));
    assert_eq!(news.take(0).unwrap().heard_tick, Some(30));
}

/// All rows stop while a region is open, and come again ten seconds later.
#[test]
fn a_silence_passes_no_second_of_which_rows_could_still_come() {
    let network = network();
    let stalls: Vec<TickNews> = news(&network, 0).into_iter().filter(|news| news.tick <= 20).collect();
    for behind in [0, 20] {
        let mut merge = LinkMerge::new(1, FabricSettings::default(), Some(Arc::clone(&network)));
        let row = Some((24, 24 + behind));
        let news = stalls.clone();
        assert_eq!(now_after(&mut merge, LinkMessage { news, ..says(0, 24 + behind, row, Some(20)) }), 20);
        assert!(merge.fabric().is_open());
        let silence =
            (25..40).map(|second| (second, now_after(&mut merge, says(0, second + behind, row, Some(20)))));
        for (second, now) in silence {
            assert!(now < second - 3, "at {second} {now} was looked at, {behind} s behind the clock");
        }
        assert!(merge.fabric().now() > 30, "nothing goes on");
        merge.message(says(0, 70 + behind, row, Some(20)));
        assert!(!merge.fabric().is_open(), "what is open does not end");
    }
}
