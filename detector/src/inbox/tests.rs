//! Order across raw partitions.

use super::*;
use proptest::prelude::*;

#[derive(Default)]
struct Kept(Vec<i64>);

impl Outlet for Kept {
    fn rows(&mut self, rows: &CounterBatch) {
        self.0.extend(rows.rows().map(|(_, time, _)| time.0 / 1_000_000));
    }

    fn jobs(&mut self, events: &[JobEvent]) {
        self.0.extend(events.iter().map(|event| -event.time.0));
    }
}

fn second(seconds: i64) -> Time {
    Time(seconds * 1_000_000)
}

fn row(inbox: &mut Inbox, partition: i32, offset: i64, seconds: i64) {
    let origin = Origin { topic: "ldms.x", partition, offset, arrived: second(1_000_000) };
    let fill = |counters: &mut VecDeque<u64>| {
        counters.push_back(seconds as u64);
        Ok::<usize, ()>(1)
    };
    inbox.row(&origin, second(seconds), SourceIndex(0), fill).unwrap();
}

fn said_at(time: Time) -> JobEvent {
    JobEvent {
        time,
        nodes: Vec::new(),
        job_id: schemas::Name::parse("7").unwrap(),
        label: String::new(),
        user: String::new(),
        name: String::new(),
        start: Some(Time(0)),
        end: None,
        seen: false,
    }
}

fn reached(inbox: &mut Inbox, now: i64, to: &[(i32, i64)], kept: &mut Kept) {
    let raw = |(partition, time): &(i32, i64)| Reached {
        topic: "ldms.x".into(),
        partition: *partition,
        time: second(*time),
    };
    inbox.progress(second(now), &to.iter().map(raw).collect::<Vec<_>>(), kept);
}

#[test]
fn a_row_waits_for_the_raw_partition_that_is_behind() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    (0..100).for_each(|t| row(&mut inbox, 0, t, t));
    reached(&mut inbox, 500, &[(0, 99), (1, -1)], &mut kept);
    assert_eq!((kept.0.len(), inbox.waiting()), (0, 100));
    (0..50).for_each(|t| row(&mut inbox, 1, t, t));
    reached(&mut inbox, 501, &[(1, 49)], &mut kept);
    let expected: Vec<i64> = (0..50).flat_map(|t| [t, t]).collect();
    assert_eq!(kept.0, expected);
    assert_eq!(inbox.waiting(), 50);
}

/// A report a second, from `now` until `until`.
fn reached_each_second(inbox: &mut Inbox, (now, until): (i64, i64), to: &[(i32, i64)], kept: &mut Kept) {
    (now..=until).for_each(|now| reached(inbox, now, to, kept));
}

#[test]
fn a_raw_partition_without_progress_is_not_waited_for() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    reached(&mut inbox, 500, &[(0, 0), (1, 0)], &mut kept);
    (0..10).for_each(|t| row(&mut inbox, 0, t, t + 5));
    reached_each_second(&mut inbox, (501, 529), &[(0, 14)], &mut kept);
    assert_eq!(kept.0.len(), 0);
    reached_each_second(&mut inbox, (530, 531), &[(0, 14)], &mut kept);
    assert_eq!(kept.0.len(), 10);
}

#[test]
fn outage_of_all_aggregators_gives_up_no_raw_partition() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    reached(&mut inbox, 500, &[(0, 0), (1, 0)], &mut kept);
    (0..10).for_each(|t| row(&mut inbox, 0, t, t + 5));
    // An aggregator that starts reports no partition at first; then it has its own alone.
    reached(&mut inbox, 600, &[], &mut kept);
    reached_each_second(&mut inbox, (700, 725), &[(0, 14)], &mut kept);
    assert_eq!((kept.0.len(), inbox.watermark()), (0, second(0)), "the other has half a minute to return");
    (0..3).for_each(|t| row(&mut inbox, 1, t, t + 4));
    reached(&mut inbox, 726, &[(1, 6)], &mut kept);
    assert_eq!(kept.0, [4, 5, 5, 6, 6]);
}

#[test]
fn rows_wait_for_a_raw_partition_that_is_announced_unread() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    let unread = Reached { topic: "ldms.y".into(), partition: 3, time: Time::MIN };
    (0..10).for_each(|t| row(&mut inbox, 0, t, t + 5));
    inbox.progress(second(500), &[unread], &mut kept);
    reached_each_second(&mut inbox, (501, 529), &[(0, 14)], &mut kept);
    assert_eq!((kept.0.len(), inbox.watermark()), (0, Time::MIN));
    reached_each_second(&mut inbox, (530, 531), &[(0, 14)], &mut kept);
    assert_eq!(kept.0.len(), 10, "it is given up after half a minute");
}

#[test]
fn reader_that_begins_leaves_the_rows_of_an_earlier_one() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    row(&mut inbox, 1, 0, 12);
    reached(&mut inbox, 500, &[(0, -1), (1, 12)], &mut kept);
    let unread = Reached { topic: "ldms.x".into(), partition: 1, time: Time::MIN };
    (0..10).for_each(|t| row(&mut inbox, 0, t, t + 5));
    reached(&mut inbox, 501, &[(0, 14)], &mut kept);
    assert_eq!(kept.0, [5, 6, 7, 8, 9, 10, 11, 12, 12]);
    inbox.progress(second(520), &[unread], &mut kept);
    reached_each_second(&mut inbox, (521, 549), &[(0, 20)], &mut kept);
    assert_eq!(kept.0.len(), 9, "it is waited for since its reader began");
}

#[test]
fn reader_that_begins_withdraws_what_a_clock_showed() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    (0..2).for_each(|partition| row(&mut inbox, partition, 0, 10));
    // Both were at their ends, of recorded rows.
    reached(&mut inbox, 500, &[(0, 500), (1, 500)], &mut kept);
    let unread = |partition| Reached { topic: "ldms.x".into(), partition, time: Time::MIN };
    inbox.progress(second(501), &[unread(0), unread(1)], &mut kept);
    (11..20).for_each(|t| row(&mut inbox, 0, t, t));
    reached(&mut inbox, 501, &[(0, 19)], &mut kept);
    assert_eq!((kept.0.as_slice(), inbox.watermark()), ([10, 10].as_slice(), second(10)));
    (11..20).for_each(|t| row(&mut inbox, 1, t, t));
    reached(&mut inbox, 502, &[(1, 19)], &mut kept);
    assert_eq!(kept.0.len(), 20);
}

#[test]
fn a_full_inbox_lets_go_and_counts_it() {
    let (mut inbox, mut kept) = (Inbox::new(20), Kept::default());
    reached(&mut inbox, 1, &[(0, 0), (1, 0)], &mut kept);
    (0..50).for_each(|t| row(&mut inbox, 0, t, t + 5));
    reached(&mut inbox, 2, &[(0, 54)], &mut kept);
    assert_eq!((kept.0.len(), inbox.waiting(), inbox.forced()), (30, 20, 30));
}

#[test]
fn a_clock_that_is_ahead_delays_no_other_source() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    let fill = |_: &mut VecDeque<u64>| Ok::<usize, ()>(0);
    let origin = Origin { topic: "ldms.x", partition: 0, offset: 0, arrived: second(7) };
    inbox.row(&origin, second(90_000), SourceIndex(0), fill).unwrap();
    row(&mut inbox, 0, 1, 8);
    row(&mut inbox, 1, 0, 8);
    reached(&mut inbox, 9, &[(0, 9), (1, 9)], &mut kept);
    assert_eq!(kept.0, [90_000, 8, 8]);
}

#[test]
fn a_dropped_row_is_counted_once() {
    let (mut inbox, mut drops) = (Inbox::new(10), DropCounts::default());
    let rows = |offsets: &[i64]| -> Vec<DroppedRow> {
        let reason = schemas::DropReason::InvalidJson;
        offsets.iter().map(|offset| DroppedRow { offset: *offset, reason }).collect()
    };
    inbox.dropped("ldms.x", 0, &rows(&[1, 4]), &mut drops);
    inbox.dropped("ldms.x", 0, &rows(&[1, 4, 9]), &mut drops);
    inbox.dropped("ldms.x", 1, &rows(&[1]), &mut drops);
    assert_eq!(drops.total(), 4);
}

proptest! {
    /// Rows that are sent again, and messages that come in other pieces, change nothing.
    #[test]
    fn what_comes_out_depends_on_the_rows_alone(
        spread in proptest::collection::vec(0..4_i32, 1..200),
        again in proptest::collection::vec(any::<bool>(), 200),
        progressed in proptest::collection::vec(any::<bool>(), 200),
    ) {
        let run = |again: &[bool], progressed: &[bool]| {
            let (mut inbox, mut kept) = (Inbox::new(10_000), Kept::default());
            reached(&mut inbox, 1, &[(0, 0), (1, 0), (2, 0), (3, 0)], &mut kept);
            let mut offsets = [0_i64; 4];
            for (t, partition) in spread.iter().enumerate() {
                let offset = &mut offsets[*partition as usize];
                row(&mut inbox, *partition, *offset, t as i64);
                if again[t] {
                    row(&mut inbox, *partition, *offset, t as i64);
                }
                *offset += 1;
                if progressed[t] {
                    reached(&mut inbox, 2, &[(*partition, t as i64)], &mut kept);
                }
            }
            reached(&mut inbox, 3, &[(0, 9999), (1, 9999), (2, 9999), (3, 9999)], &mut kept);
            kept.0
        };
        let never = vec![false; 200];
        let plain = run(&never, &never);
        prop_assert_eq!(&plain, &(0..spread.len() as i64).collect::<Vec<_>>());
        prop_assert_eq!(run(&again, &progressed), plain);
    }
}

/// How much is released at once changes nothing: rows of a second never go before job updates of a second earlier,
/// nor after those of a second later.
#[test]
fn job_updates_go_between_seconds_however_much_is_released() {
    let at = second;
    let order = |bundle: i64| {
        let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
        for second in 0..12_i64 {
            row(&mut inbox, 0, 2 * second, second);
            let arrived = at(second);
            inbox.jobs(
                &Origin { topic: "ldms.x", partition: 0, offset: 2 * second + 1, arrived },
                vec![said_at(arrived)],
            );
            if second % bundle == bundle - 1 {
                reached(&mut inbox, 500, &[(0, second)], &mut kept);
            }
        }
        kept.0
    };
    let seconds: Vec<i64> = (0..12).flat_map(|second| [-second * 1_000_000, second]).collect();
    assert_eq!([2, 3, 12].map(order), [&seconds; 3].map(Clone::clone));
}

#[test]
fn one_message_gives_rows_of_several_sources_and_jobs_each_once() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    let origin = |offset| Origin { topic: "ldms.x", partition: 0, offset, arrived: second(1_000_000) };
    for _ in 0..2 {
        // An aggregator that begins again sends the message again.
        for (source, seconds) in [(0, 5), (1, 5), (0, 6)] {
            if seconds == 6 {
                inbox.jobs(&origin(3), vec![said_at(second(5))]);
            }
            let fill = |counters: &mut VecDeque<u64>| {
                counters.push_back(1);
                Ok::<usize, ()>(1)
            };
            inbox.row(&origin(3), second(seconds), SourceIndex(source), fill).unwrap();
        }
    }
    row(&mut inbox, 0, 2, 4);
    row(&mut inbox, 0, 4, 7);
    reached(&mut inbox, 500, &[(0, 10)], &mut kept);
    assert_eq!(kept.0, [-5_000_000, 5, 5, 6, 7], "offset 2 was seen before 3");
}

#[test]
fn rows_of_a_topic_that_was_created_again_are_taken() {
    let (mut inbox, mut kept) = (Inbox::new(1_000), Kept::default());
    let arriving = |inbox: &mut Inbox, offset: i64, at: i64| {
        let origin = Origin { topic: "ldms.x", partition: 0, offset, arrived: second(at) };
        let fill = |counters: &mut VecDeque<u64>| {
            counters.push_back(0);
            Ok::<usize, ()>(1)
        };
        inbox.row(&origin, second(at), SourceIndex(0), fill).unwrap();
    };
    (0..50).for_each(|offset| arriving(&mut inbox, offset, offset));
    // An aggregator that begins again sends rows twice.
    (20..50).for_each(|offset| arriving(&mut inbox, offset, offset));
    assert_eq!((inbox.waiting(), inbox.created_again().count()), (50, 0));
    (0..60).for_each(|offset| arriving(&mut inbox, offset, 100 + offset));
    (40..60).for_each(|offset| arriving(&mut inbox, offset, 100 + offset));
    assert_eq!(inbox.created_again().collect::<Vec<_>>(), ["ldms.x"]);
    reached(&mut inbox, 500, &[(0, 499)], &mut kept);
    assert_eq!(kept.0, (0..50).chain(100..160).collect::<Vec<_>>());
}
