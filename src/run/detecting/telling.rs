//! When the database is told of the sources that were heard.

use crate::run::partitions::even_share;
use schemas::Time;

/// Seconds of event time between two tellings.
const HEARD_S: f64 = 10.0;

/// Sources of one commit. A file system's clients are all in one partition: twenty thousand rows at once would hold up the
/// signals of the same transaction.
const SOURCES_MAX: usize = 2_500;

/// Sources heard are rows of the database that change with every row that comes: they are told now and then, each
/// partition at another moment and some with each commit, and all when nothing more comes between two askings for `all`.
#[derive(Debug, Default)]
pub struct Telling {
    /// The newest row when a telling began last, and when `all` was asked for last.
    told: Option<Time>,
    asked: Option<Time>,
    /// Whether a telling has more to tell.
    goes_on: bool,
}

impl Telling {
    /// How many sources this commit may tell of, when the newest row is of `newest`.
    pub fn most(&mut self, partition: i32, newest: Option<Time>, all: bool) -> usize {
        let phase_s = even_share(partition) * HEARD_S;
        let slot = |time: Time| ((time.seconds() + phase_s) / HEARD_S).floor();
        let is_idle = all && self.asked == newest;
        let is_due = newest.map(slot) != self.told.map(slot);
        // Where transactions are far apart, the rest is told before the next turn.
        let is_late = is_due && self.goes_on;
        if is_idle || is_due {
            (self.told, self.goes_on) = (newest, true);
        }
        if all {
            self.asked = newest;
        }
        match (is_idle || is_late, self.goes_on) {
            (true, _) => usize::MAX,
            (false, true) => SOURCES_MAX,
            (false, false) => 0,
        }
    }

    /// Notes whether there are more to tell of.
    pub fn has_told(&mut self, goes_on: bool) {
        self.goes_on = goes_on;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telling_goes_on_until_all_are_told_and_begins_again_after_ten_seconds() {
        let mut telling = Telling::default();
        let at = |second: f64| Some(Time::from_seconds(1_000_000_000.0 + second));
        assert_eq!(telling.most(0, at(0.0), true), SOURCES_MAX);
        telling.has_told(true);
        assert_eq!(telling.most(0, at(1.0), false), SOURCES_MAX, "there are more");
        telling.has_told(false);
        assert_eq!(telling.most(0, at(2.0), true), 0);
        assert_eq!(telling.most(0, at(9.9), false), 0);
        assert_eq!(telling.most(0, at(10.0), false), SOURCES_MAX);
        telling.has_told(true);
        assert_eq!(telling.most(0, at(70.0), false), usize::MAX, "it took too long");
        telling.has_told(false);
        assert_eq!(telling.most(0, at(70.5), true), 0);
        assert_eq!(telling.most(0, at(70.5), true), usize::MAX, "nothing more comes: all");
    }
}
