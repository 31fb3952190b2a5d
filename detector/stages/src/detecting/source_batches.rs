//! When seen sources are stored.

use crate::stage::even_share;
use schemas::Time;

/// Seconds of event time between two rounds.
const INTERVAL_S: f64 = 10.0;

/// Sources of one commit. A file system's clients are all in one partition: twenty thousand rows at once would hold up the
/// signals of the same transaction.
const SOURCES_MAX: usize = 2_500;

/// Seen sources are rows of the database that change with every sample. They are stored at intervals, each partition at its
/// own phase and some with each commit, and all when no row arrives between two calls with `all`.
#[derive(Debug, Default)]
pub struct SourceBatches {
    /// The newest row at the start of the latest round, and at the latest call with `all`.
    begun: Option<Time>,
    idle_at: Option<Time>,
    /// Whether the round has sources left.
    has_more: bool,
}

impl SourceBatches {
    /// How many sources this commit may store, when the newest row is of `newest`.
    pub fn most(&mut self, partition: i32, newest: Option<Time>, all: bool) -> usize {
        let phase_s = even_share(partition) * INTERVAL_S;
        let slot = |time: Time| ((time.seconds() + phase_s) / INTERVAL_S).floor();
        let is_idle = all && self.idle_at == newest;
        let is_due = newest.map(slot) != self.begun.map(slot);
        // Where transactions are far apart, the rest is stored before the next round.
        let is_late = is_due && self.has_more;
        if is_idle || is_due {
            (self.begun, self.has_more) = (newest, true);
        }
        if all {
            self.idle_at = newest;
        }
        match (is_idle || is_late, self.has_more) {
            (true, _) => usize::MAX,
            (false, true) => SOURCES_MAX,
            (false, false) => 0,
        }
    }

    /// Notes whether sources are left.
    pub fn sent(&mut self, has_more: bool) {
        self.has_more = has_more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_ends_after_all_sources_and_repeats_after_10_s() {
        let mut batches = SourceBatches::default();
        let at = |second: f64| Some(Time::from_seconds(1_000_000_000.0 + second));
        assert_eq!(batches.most(0, at(0.0), true), SOURCES_MAX);
        batches.sent(true);
        assert_eq!(batches.most(0, at(1.0), false), SOURCES_MAX, "there are more");
        batches.sent(false);
        assert_eq!(batches.most(0, at(2.0), true), 0);
        assert_eq!(batches.most(0, at(9.9), false), 0);
        assert_eq!(batches.most(0, at(10.0), false), SOURCES_MAX);
        batches.sent(true);
        assert_eq!(batches.most(0, at(70.0), false), usize::MAX, "it took too long");
        batches.sent(false);
        assert_eq!(batches.most(0, at(70.5), true), 0);
        assert_eq!(batches.most(0, at(70.5), true), usize::MAX, "nothing more comes: all");
    }
}
