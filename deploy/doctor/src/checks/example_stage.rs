//! A detector with messages, for the tests of checks.

use crate::facts::kafka::GroupFacts;
use crate::facts::stages::{Input, StageFacts};

/// A detector with so many members.
pub(super) fn stage(members: usize, inputs: Vec<Input>) -> StageFacts {
    let group = GroupFacts { state: "Stable".into(), members: vec!["here".into(); members] };
    StageFacts { name: "detector", group: Some(group), inputs, ..StageFacts::default() }
}

/// A partition with the messages `low..high`, of which the next one to read arrived at 100 s.
pub(super) fn input(low: i64, next: i64, high: i64) -> Input {
    Input {
        topic: "tailback.counters".into(),
        low,
        high,
        next: Some(next),
        next_arrived_s: Some(100.0),
        ..Input::default()
    }
}
