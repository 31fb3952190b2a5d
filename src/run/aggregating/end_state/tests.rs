//! Events with their times, and the state after each.

use super::*;
use EndEvent::{
    BrokerFailed, BrokerReturned, Eof, Message, More, NoMore, NoMoreEarlier, Paused, Silent, Skipped,
};
use EndState::{AtEnd, BrokerDown, Reading, Unverified};

const ON_TIME: EndEvent = More { is_late: false };
const LATE: EndEvent = More { is_late: true };

/// A partition at time 0, and the time that is so many milliseconds later.
fn started() -> (PartitionEnd, impl Fn(u64) -> Instant) {
    let begin = Instant::now();
    (PartitionEnd::new(begin), move |ms| begin + Duration::from_millis(ms))
}

/// The states after `events`, each at its time in milliseconds, are the expected ones.
fn check(
    name: &str,
    events: &[(EndEvent, u64, EndState)],
    at: &dyn Fn(u64) -> Instant,
    mut end: PartitionEnd,
) {
    for (step, (event, ms, expected)) in events.iter().enumerate() {
        end.note(*event, at(*ms));
        assert_eq!(end.state, *expected, "{name}: step {step}, {event:?} at {ms} ms");
    }
}

#[test]
fn each_event_leads_to_its_state() {
    let (_, at) = started();
    let (reading, unverified) = (Reading { failed: false }, Unverified { failed: false });
    let (reading_failed, unverified_failed) = (Reading { failed: true }, Unverified { failed: true });
    let at_end = |ms| AtEnd { confirmed: at(ms) };
    let down = |ms| BrokerDown { confirmed: at(ms) };
    let cases: [(&str, &[(EndEvent, u64, EndState)]); 7] = [
        ("messages until the end", &[(Message, 1, reading), (Eof, 2, at_end(2)), (Message, 3, reading)]),
        (
            "checks of a quiet end",
            &[
                (Eof, 1, at_end(1)),
                (Silent, 2, at_end(1)),
                (NoMoreEarlier, 3, at_end(1)),
                (ON_TIME, 4, at_end(1)),
                (LATE, 5, at_end(1)),
                (NoMore, 6, at_end(6)),
            ],
        ),
        (
            "a pause and its checks",
            &[
                (Eof, 1, at_end(1)),
                (Paused, 2, unverified),
                (Silent, 3, unverified),
                (Skipped, 4, unverified),
                (NoMoreEarlier, 5, unverified),
                (NoMore, 6, at_end(6)),
                (Paused, 7, unverified),
                (ON_TIME, 8, reading),
            ],
        ),
        (
            "silence",
            &[
                (NoMore, 1, reading),
                (LATE, 2, reading),
                (Paused, 3, reading),
                (Silent, 4, unverified),
                (Message, 5, reading),
                (Silent, 6, unverified),
                (Eof, 7, at_end(7)),
            ],
        ),
        (
            "a failure at the end",
            &[
                (Eof, 1, at_end(1)),
                (BrokerFailed, 2, down(1)),
                (BrokerFailed, 3, down(1)),
                (ON_TIME, 4, down(1)),
                (NoMoreEarlier, 5, down(1)),
                (NoMore, 6, at_end(6)),
                (BrokerReturned, 7, down(6)),
                (LATE, 8, reading_failed),
                (Eof, 9, at_end(9)),
            ],
        ),
        (
            "a failure is noted until the end is confirmed",
            &[
                (BrokerFailed, 1, reading_failed),
                (Message, 2, reading_failed),
                (Silent, 3, unverified_failed),
                (NoMore, 4, down(4)),
                (Paused, 5, unverified_failed),
                (ON_TIME, 6, reading_failed),
                (Silent, 7, unverified_failed),
                (NoMore, 8, down(8)),
                (NoMore, 9, at_end(9)),
            ],
        ),
        ("a failure in doubt", &[(Silent, 1, unverified), (BrokerFailed, 2, unverified_failed)]),
    ];
    for (name, events) in cases {
        check(name, events, &at, PartitionEnd::new(at(0)));
    }
}

#[test]
fn end_after_broker_error_is_valid_for_three_seconds() {
    let (mut end, at) = started();
    assert!(!end.is_valid(at(0)));
    end.note(Eof, at(1_000));
    assert!(end.is_valid(at(60_000)), "an end without errors does not expire");
    end.note(BrokerFailed, at(1_500));
    assert!(end.is_valid(at(3_999)) && !end.is_valid(at(4_000)));
    assert!(end.is_reached(), "the partition is still not waited for");
    end.note(NoMore, at(3_500));
    assert!(end.is_valid(at(60_000)));
}

#[test]
fn end_is_valid_once_producers_had_time_to_return() {
    let (mut end, at) = started();
    end.note(BrokerReturned, at(0));
    end.note(Eof, at(1_000));
    assert!(!end.is_valid(at(12_000)) && end.is_valid(at(12_001)));
    end.note(BrokerFailed, at(20_000));
    end.note(NoMore, at(21_000));
    assert!(!end.is_valid(at(21_000)), "the broker did not answer for 20 s: producers return after it");
    assert!(end.is_valid(at(33_001)));
    end.note(BrokerFailed, at(40_000));
    end.note(Skipped, at(41_000));
    end.note(NoMore, at(44_000));
    assert!(end.is_valid(at(44_000)), "a short failure does not delay the end");
}

#[test]
fn broker_is_unreachable_without_answers_after_a_failure() {
    let (mut end, at) = started();
    let is_unreachable = |end: &PartitionEnd, ms| end.is_unreachable(Duration::from_secs(60), at(ms));
    assert!(!is_unreachable(&end, 100_000), "no failure is known");
    end.note(BrokerFailed, at(1_000));
    assert!(!is_unreachable(&end, 60_000) && is_unreachable(&end, 60_001));
    end.note(Silent, at(50_000));
    assert!(is_unreachable(&end, 60_001), "silence is no answer");
    for (event, ms) in [(Paused, 100_000), (NoMoreEarlier, 200_000), (Skipped, 300_000), (Message, 400_000)] {
        end.note(event, at(ms));
        assert!(!is_unreachable(&end, ms + 60_000) && is_unreachable(&end, ms + 60_001), "{event:?}");
    }
}

#[test]
fn stalled_partition_is_resumed_once_per_interval() {
    let (mut end, at) = started();
    let after = Duration::from_secs(10);
    assert!(!end.must_resume(after, at(10_000)));
    assert!(end.must_resume(after, at(10_001)) && !end.must_resume(after, at(20_001)));
    assert!(end.must_resume(after, at(20_002)));
    end.note(Skipped, at(25_000));
    assert!(!end.must_resume(after, at(35_000)) && end.is_stalled(after, at(35_001)));
    end.note(Silent, at(35_001));
    assert!(!end.must_resume(after, at(36_000)), "the broker must be queried first");
    assert!(end.must_verify(after, at(36_000)));
    end.note(LATE, at(36_000));
    assert!(end.must_resume(after, at(36_000)) && !end.must_verify(after, at(36_000)));
}

#[test]
fn end_must_be_verified_again_after_a_second() {
    let (mut end, at) = started();
    let must_verify = |end: &PartitionEnd, ms| end.must_verify(Duration::from_secs(1), at(ms));
    end.note(Eof, at(0));
    assert!(!must_verify(&end, 1_000) && must_verify(&end, 1_001));
    end.note(BrokerFailed, at(500));
    assert!(must_verify(&end, 1_001));
    end.note(Paused, at(600));
    assert!(must_verify(&end, 600));
}
