//! Whether the stages can continue where they stopped.

use crate::facts::stages::{Input, StageFacts};
use crate::finding::{Finding, Group, Notes};
use crate::words::{many, span};

/// What to do where positions and topics do not belong together.
const START_OVER: &str = "stop all stages, delete the counters and partials topics, run `tailback migrate --forget-positions`, and \
    start them again";

/// Whether what it has to read is still there.
pub fn check(stage: &StageFacts, snapshot_interval_s: u64, now_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "positions");
    let name = stage.name;
    if !stage.lost.is_empty() {
        let lost = &stage.lost;
        notes.error(
            format!("{name}: its topic has lost partitions {lost:?} and was created again"),
            START_OVER,
        );
    }
    stage.inputs.iter().for_each(|input| check_input(name, input, &mut notes));
    if notes.problems() > 0 {
        return notes.done();
    }
    let age = |input: &Input| input.snapshot_arrived_s.map_or(0.0, |s| now_s - s);
    let stored = stage.inputs.iter().filter(|input| input.snapshot.is_some());
    if let Some(oldest) = stored.max_by(|a, b| age(a).total_cmp(&age(b))) {
        check_snapshot(name, oldest, age(oldest), snapshot_interval_s, &mut notes);
    } else if stage.inputs.iter().any(|input| input.next.is_some()) {
        notes.ok(format!("{name}: nothing that it has to read was deleted"));
    }
    notes.done()
}

fn check_input(stage: &str, input: &Input, notes: &mut Notes) {
    let (of, next, low, high) = (input.name(), input.next.unwrap_or(input.low), input.low, input.high);
    if next > high {
        notes.warn(
            format!("{stage}: stands at {next} in {of}, which ends at {high}: the topic was created again"),
            "start `tailback run`: it reads the new topic from its first message",
        );
    } else if next < low {
        let messages = many((low - next) as usize, "message");
        notes.error(
            format!("{stage}: {messages} of {of} were deleted before they were read"),
            "let the stage run, and raise retention.ms of the topic above the longest outage; these rows are lost",
        );
    } else if let Some(snapshot) = input.snapshot.filter(|snapshot| *snapshot < low) {
        notes.error(
            format!("{stage}: a restart reads {of} from {snapshot}, but the log begins at {low}"),
            "raise retention.ms of the topic, and let the stage run until it has written another snapshot",
        );
    }
}

/// The oldest snapshot, which is `age_s` old.
fn check_snapshot(stage: &str, oldest: &Input, age_s: f64, interval_s: u64, notes: &mut Notes) {
    let again = oldest.next.unwrap_or(0) - oldest.snapshot.unwrap_or(0);
    let messages = many(again.max(0) as usize, "message");
    let (age, of) = (span(age_s), oldest.name());
    let what = format!("{stage}: the oldest snapshot is {age} old; a restart reads {messages} of {of} again");
    match age_s > 10.0 * interval_s as f64 && again > 0 {
        true => notes.warn(what, "look at the stage's log for snapshots that could not be written"),
        false => notes.ok(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example_stage::{input, stage};
    use crate::finding::Level;

    #[test]
    fn deleted_messages_are_an_error_recreated_topic_a_warning() {
        for (input, word, level) in [
            (input(50, 10, 90), "40 messages", Level::Error),
            (input(0, 10, 5), "created again", Level::Warn),
        ] {
            let found = check(&stage(1, vec![input]), 60, 160.0);
            assert_eq!(found[0].level, level);
            assert!(found[0].what.contains(word), "{found:?}");
        }
        let old = Input { snapshot: Some(5), ..input(20, 30, 40) };
        assert!(check(&stage(1, vec![old]), 60, 160.0)[0].what.contains("a restart reads"));
    }

    #[test]
    fn an_old_snapshot_makes_restarts_slow() {
        let old = Input { snapshot: Some(5), snapshot_arrived_s: Some(0.0), ..input(0, 30, 40) };
        let stage = stage(1, vec![old]);
        assert_eq!(check(&stage, 60, 160.0)[0].level, Level::Ok);
        assert_eq!(check(&stage, 60, 1_600.0)[0].level, Level::Warn);
    }
}
