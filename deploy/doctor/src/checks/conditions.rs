//! Tailback's own condition in the database, judged by the limits that the roll-up wrote there.

use crate::finding::{Finding, Group, Notes};
use store::read::health::Condition;

/// Each value beside its limit.
pub fn check(conditions: &[Condition]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "limits");
    for condition in conditions {
        let Condition { name, label, value, above, is_exceeded, meaning } = condition;
        let of = if label.is_empty() { String::new() } else { format!(" of {label}") };
        let what = format!("{name}{of}: {value:.2}, limit {above}: {meaning}");
        match is_exceeded {
            true => notes.warn(what, "see the runbook in docs/operations.md; the limit is in [health]"),
            false => notes.ok(what),
        }
    }
    if conditions.is_empty() {
        notes.unknown("no limits are stored: the roll-up stage writes them at its start");
    }
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    #[test]
    fn value_above_its_limit_is_a_warning() {
        let lag = |value: f64| Condition {
            name: "lag_s".into(),
            label: "detector".into(),
            value,
            above: 30.0,
            is_exceeded: value > 30.0,
            meaning: "Seconds from a row's time to its commit".into(),
        };
        let found = check(&[lag(31.0), lag(2.5)]);
        assert_eq!(found.iter().map(|f| f.level).collect::<Vec<_>>(), [Level::Warn, Level::Ok]);
        assert!(found[0].what.starts_with("lag_s of detector: 31.00, limit 30"), "{found:?}");
        assert_ne!(check(&[])[0].level, Level::Ok);
    }
}
