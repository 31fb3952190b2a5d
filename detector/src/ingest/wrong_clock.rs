//! Producers whose clocks are ahead of the others', by name.

use schemas::{DropCounts, DropReason, Name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Producers that are named; the rows of further ones are counted all the same.
const NAMED_MAX: usize = 1_000;

/// A clock that was ahead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongClock {
    /// Seconds by which its latest such row was ahead of the bulk of the components.
    pub ahead_s: f64,
    /// Rows that were.
    pub rows: u64,
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct WrongClocks {
    by_producer: BTreeMap<Name, WrongClock>,
}

impl WrongClocks {
    /// Counts `rows` of a producer.
    pub(super) fn count(&mut self, producer: &Name, ahead_s: f64, rows: u64, drops: &mut DropCounts) {
        if rows == 0 {
            return;
        }
        (0..rows).for_each(|_| drops.count(DropReason::ClockAhead));
        if !self.by_producer.contains_key(producer) && self.by_producer.len() >= NAMED_MAX {
            return;
        }
        let known = self.by_producer.entry(producer.clone()).or_insert(WrongClock { ahead_s, rows: 0 });
        (known.ahead_s, known.rows) = (ahead_s, known.rows + rows);
    }

    /// Keeps those of producers that `still_report`.
    pub(super) fn retain(&mut self, still_report: impl Fn(&Name) -> bool) {
        self.by_producer.retain(|producer, _| still_report(producer));
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_producer.is_empty()
    }

    /// By name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Name, &WrongClock)> {
        self.by_producer.iter()
    }
}
