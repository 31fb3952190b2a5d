//! Judges what stages passed over.

use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many, span};
use store::read::doctor::Rejected;

/// How a person looks at what is kept.
const LOOK: &str = "look at them: SELECT time, stage, topic, partition, message_offset, reason, detail, message_key, size, \
                    encode(head, 'escape') FROM rejected_messages ORDER BY time DESC LIMIT 20";

/// Messages that could not be processed, and rows that PostgreSQL refused; the newest kind comes first.
pub fn check(rejected: &[Rejected], now_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "rejected_messages");
    let Some(newest) = rejected.first() else {
        notes.ok("the stages could process every message");
        return notes.done();
    };
    let count = rejected.iter().map(|kind| kind.count).sum::<i64>();
    let kinds: Vec<String> = rejected
        .iter()
        .map(|kind| format!("{} {} of {} ({})", kind.count, kind.reason, kind.topic, kind.stage))
        .collect();
    let what = format!(
        "{} passed over and kept aside: {}; the newest {} ago: {} {}",
        many(usize::try_from(count).unwrap_or(usize::MAX), "message"),
        few(&kinds, 5),
        span((now_s - newest.newest_s).max(0.0)),
        newest.topic,
        newest.newest
    );
    notes.warn(what, LOOK);
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    #[test]
    fn rejected_messages_are_named_with_the_newest_first() {
        assert_eq!(check(&[], 0.0)[0].level, Level::Ok);
        let kind = |topic: &str, reason: &str, count, newest_s| Rejected {
            stage: "detector".into(),
            topic: topic.into(),
            reason: reason.into(),
            count,
            newest_s,
            newest: "partition 2, offset 7: the message is damaged".into(),
        };
        let found = check(
            &[kind("tailback.counters", "bad_message", 3, 900.0), kind("episodes", "refused_row", 1, 10.0)],
            960.0,
        );
        assert_eq!(found[0].level, Level::Warn);
        assert!(found[0].what.starts_with("4 messages passed over"), "{found:?}");
        assert!(found[0].what.contains("3 bad_message of tailback.counters (detector)"), "{found:?}");
        assert!(found[0].what.contains("60 s ago: tailback.counters partition 2, offset 7"), "{found:?}");
        assert!(found[0].mend.contains("FROM rejected_messages"), "{found:?}");
    }
}
