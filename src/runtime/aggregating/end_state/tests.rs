//! Events with their times, and the state after each.

use super::*;
use EndEvent::{
    BrokerFailed, BrokerReturned, Eof, Message, More, NoMore, NoMoreEarlier, Paused, Refused, Silent, Skipped,
};
use EndState::{AtEnd, BrokerDown, Reading, Unverified};

const ON_TIME: EndEvent = More { is_late: false };
const LATE: EndEvent = More { is_late: true };

/// A partition at time 0, and the time that is so many milliseconds later.
fn started() -> (PartitionEnd, impl Fn(u64) -> Instant) {
    let begin = Instant::now();
    (PartitionEnd::new(begin), move |ms| begin + Duration::from_millis(ms))
}

const READING: Expected = Expected::State(Reading { failed: false });
const READING_FAILED: Expected = Expected::State(Reading { failed: true });
const UNVERIFIED: Expected = Expected::State(Unverified { failed: false });
const UNVERIFIED_FAILED: Expected = Expected::State(Unverified { failed: true });

/// A state; one that keeps when the end was confirmed has that in milliseconds.
#[derive(Clone, Copy)]
enum Expected {
    State(EndState),
    AtEnd(u64),
    Down(u64),
}

/// Plays events, each with its time in milliseconds, and compares the state after each.
fn check(steps: &[(EndEvent, u64, Expected)]) {
    let (mut end, at) = started();
    for (event, ms, expected) in steps {
        end.note(*event, at(*ms));
        let expected = match *expected {
            Expected::State(state) => state,
            Expected::AtEnd(ms) => AtEnd { confirmed: at(ms) },
            Expected::Down(ms) => BrokerDown { confirmed: at(ms) },
        };
        assert_eq!(end.state, expected, "{event:?} at {ms} ms");
    }
}

#[test]
fn messages_until_the_end() {
    check(&[(Message, 1, READING), (Eof, 2, Expected::AtEnd(2)), (Message, 3, READING)]);
}

#[test]
fn checks_of_a_quiet_end_keep_it() {
    check(&[
        (Eof, 1, Expected::AtEnd(1)),
        (Silent, 2, Expected::AtEnd(1)),
        (NoMoreEarlier, 3, Expected::AtEnd(1)),
        (NoMore, 6, Expected::AtEnd(6)),
    ]);
}

#[test]
fn end_is_left_when_the_broker_has_more() {
    for more in [ON_TIME, LATE] {
        check(&[
            (Eof, 1, Expected::AtEnd(1)),
            (more, 2, READING),
            (Message, 3, READING),
            (Eof, 4, Expected::AtEnd(4)),
        ]);
    }
}

#[test]
fn pause_makes_an_end_unverified() {
    check(&[
        (Eof, 1, Expected::AtEnd(1)),
        (Paused, 2, UNVERIFIED),
        (Silent, 3, UNVERIFIED),
        (Skipped, 4, UNVERIFIED),
        (NoMoreEarlier, 5, UNVERIFIED),
        (NoMore, 6, Expected::AtEnd(6)),
        (Paused, 7, UNVERIFIED),
        (ON_TIME, 8, READING),
    ]);
}

#[test]
fn silence_makes_reading_unverified() {
    check(&[
        (NoMore, 1, READING),
        (LATE, 2, READING),
        (Paused, 3, READING),
        (Silent, 4, UNVERIFIED),
        (Message, 5, READING),
        (Silent, 6, UNVERIFIED),
        (Eof, 7, Expected::AtEnd(7)),
    ]);
}

#[test]
fn failure_at_the_end() {
    check(&[
        (Eof, 1, Expected::AtEnd(1)),
        (BrokerFailed, 2, Expected::Down(1)),
        (BrokerFailed, 3, Expected::Down(1)),
        (ON_TIME, 4, Expected::Down(1)),
        (NoMoreEarlier, 5, Expected::Down(1)),
        (NoMore, 6, Expected::AtEnd(6)),
        (BrokerReturned, 7, Expected::Down(6)),
        (LATE, 8, READING_FAILED),
        (Eof, 9, Expected::AtEnd(9)),
    ]);
}

#[test]
fn failure_is_noted_until_the_end_is_confirmed() {
    check(&[
        (BrokerFailed, 1, READING_FAILED),
        (Message, 2, READING_FAILED),
        (Silent, 3, UNVERIFIED_FAILED),
        (NoMore, 4, Expected::Down(4)),
        (Paused, 5, UNVERIFIED_FAILED),
        (ON_TIME, 6, READING_FAILED),
        (Silent, 7, UNVERIFIED_FAILED),
        (NoMore, 8, Expected::Down(8)),
        (NoMore, 9, Expected::AtEnd(9)),
    ]);
}

#[test]
fn failure_of_an_unverified_end() {
    check(&[(Silent, 1, UNVERIFIED), (BrokerFailed, 2, UNVERIFIED_FAILED)]);
}

#[test]
fn unconfirmed_end_is_valid_for_three_seconds() {
    let (mut end, at) = started();
    assert!(!end.is_valid(at(0)));
    end.note(Eof, at(1_000));
    assert!(end.is_valid(at(3_999)) && !end.is_valid(at(4_000)));
    end.note(BrokerFailed, at(1_500));
    assert!(end.is_valid(at(3_999)) && !end.is_valid(at(4_000)));
    assert!(end.is_reached(), "the partition is still not waited for");
    end.note(NoMore, at(3_500));
    assert!(end.is_valid(at(6_499)) && !end.is_valid(at(6_500)));
}

#[test]
fn end_is_valid_once_producers_had_time_to_return() {
    let (mut end, at) = started();
    end.note(BrokerReturned, at(0));
    end.note(Eof, at(1_000));
    end.note(NoMore, at(11_000));
    assert!(!end.is_valid(at(12_000)) && end.is_valid(at(12_001)));
    end.note(BrokerFailed, at(12_500));
    end.note(NoMore, at(21_000));
    assert!(!end.is_valid(at(21_000)), "the broker did not answer for 10 s: producers return after it");
    end.note(NoMore, at(33_000));
    assert!(!end.is_valid(at(33_000)) && end.is_valid(at(33_001)));
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
    assert_eq!(end.remedy(after, at(10_000)), None);
    assert_eq!([10_001, 20_001].map(|ms| end.remedy(after, at(ms))), [Some(Remedy::Seek), None]);
    assert_eq!(end.remedy(after, at(20_002)), Some(Remedy::Seek));
    end.note(Skipped, at(25_000));
    assert!(end.remedy(after, at(35_000)).is_none() && end.is_stalled(after, at(35_001)));
    end.note(Silent, at(35_001));
    assert_eq!(end.remedy(after, at(36_000)), None, "the broker must be queried first");
    assert!(end.must_verify(after, at(36_000)));
    end.note(LATE, at(36_000));
    assert!(end.remedy(after, at(36_000)) == Some(Remedy::Seek) && !end.must_verify(after, at(36_000)));
}

#[test]
fn partition_that_two_seeks_do_not_resume_needs_another_consumer() {
    let (mut end, at) = started();
    let remedy = |end: &mut PartitionEnd, ms| end.remedy(Duration::from_secs(10), at(ms));
    let of_silence = [11_000, 22_000, 33_000].map(|ms| remedy(&mut end, ms));
    assert_eq!(of_silence, [Some(Remedy::Seek), Some(Remedy::Seek), Some(Remedy::Restart)]);
    end.note(Message, at(34_000));
    assert_eq!(remedy(&mut end, 45_000), Some(Remedy::Seek), "a message shows that it works");
    for ms in [56_000, 67_000, 78_000] {
        end.note(Refused, at(ms - 1));
        assert_eq!(remedy(&mut end, ms), Some(Remedy::Seek), "another consumer would be refused, too");
    }
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
