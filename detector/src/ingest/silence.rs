//! When a source was silent. The first report uses the time to which the whole stream was read; it may be wrong, since a
//! row may merely be late. The final report depends on the rows' own times alone.

use schemas::{SilenceEnd, Time};
use serde::{Deserialize, Serialize};

/// Intervals without a row after which a source counts as silent.
pub const SILENT_INTERVALS: f64 = 2.5;

/// What is known of one source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SilenceWatch {
    /// Time of its latest row that came, in whatever order.
    newest_row: Option<Time>,
    /// Latest row before the silence that was reported and has no end yet.
    open: Option<Time>,
    changes: Vec<(Time, SilenceEnd)>,
}

impl SilenceWatch {
    /// A row came.
    pub fn note_row(&mut self, time: Time) {
        self.newest_row = self.newest_row.max(Some(time));
    }

    /// The clock of its rows stepped back: what was read off later times does not hold.
    pub fn restart(&mut self) {
        self.newest_row = None;
        self.changes.extend(self.open.take().map(|since| (since, SilenceEnd::Revoked)));
    }

    /// Time of its latest row that came.
    pub fn newest_row(&self) -> Option<Time> {
        self.newest_row
    }

    /// Whether its latest row is so long ago that it counts as silent.
    pub fn is_overdue(&self, now: Time, after_s: f64) -> bool {
        self.newest_row.is_some_and(|newest_row| now.seconds_since(newest_row) > after_s)
    }

    /// The stream was read up to `now` without the source's next row; silence is reported after `after_s`.
    pub fn look(&mut self, now: Time, after_s: f64) {
        let silent = self.newest_row.filter(|_| self.is_overdue(now, after_s));
        if let (None, Some(since)) = (self.open, silent) {
            self.open = Some(since);
            self.changes.push((since, SilenceEnd::Open));
        }
    }

    /// The next row in order: `last` came before it, and rows come `usual_s` apart.
    pub fn follow(&mut self, last: Time, time: Time, usual_s: f64) {
        let silent = time.seconds_since(last) > SILENT_INTERVALS * usual_s;
        if let Some(since) = self.open.filter(|since| *since < time) {
            self.open = None;
            if !(silent && since == last) {
                self.changes.push((since, SilenceEnd::Revoked));
            }
        }
        if silent {
            self.changes.push((last, SilenceEnd::At(time)));
        }
    }

    /// Whether it is silent now.
    pub fn is_silent(&self) -> bool {
        self.open.is_some()
    }

    /// Its source is forgotten at `time`: nothing is waited for any more. Returns what [`SilenceWatch::take`] would.
    pub fn end(&mut self, time: Time) -> Vec<(Time, SilenceEnd)> {
        self.changes.extend(self.open.take().map(|since| (since, SilenceEnd::At(time))));
        self.take()
    }

    /// Reports an open silence again.
    pub fn report_again(&mut self) {
        self.changes.extend(self.open.map(|since| (since, SilenceEnd::Open)));
    }

    /// What became known since the last call: latest row before the silence, and how it ended.
    pub fn take(&mut self) -> Vec<(Time, SilenceEnd)> {
        std::mem::take(&mut self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SilenceEnd::{At, Open, Revoked};

    fn at(second: f64) -> Time {
        Time::from_seconds(second)
    }

    #[test]
    fn a_stopped_source_is_reported_once_within_three_seconds() {
        let mut watch = SilenceWatch::default();
        watch.note_row(at(10.0));
        watch.look(at(12.4), 2.5);
        assert_eq!(watch.take(), []);
        watch.look(at(12.6), 2.5);
        watch.look(at(20.0), 2.5);
        assert_eq!(watch.take(), [(at(10.0), Open)]);
        assert!(watch.is_silent());
    }

    #[test]
    fn the_next_row_ends_it() {
        let mut watch = SilenceWatch::default();
        watch.note_row(at(10.0));
        watch.look(at(13.0), 2.5);
        watch.follow(at(10.0), at(40.0), 1.0);
        assert_eq!(watch.take(), [(at(10.0), Open), (at(10.0), At(at(40.0)))]);
        assert!(!watch.is_silent());
    }

    #[test]
    fn a_row_that_was_merely_late_takes_it_back() {
        let mut watch = SilenceWatch::default();
        watch.note_row(at(10.0));
        watch.look(at(13.0), 2.5);
        watch.follow(at(10.0), at(11.0), 1.0);
        assert_eq!(watch.take(), [(at(10.0), Open), (at(10.0), Revoked)]);
    }

    #[test]
    fn the_final_report_does_not_depend_on_when_was_looked() {
        let mut never = SilenceWatch::default();
        never.follow(at(10.0), at(14.0), 1.0);
        assert_eq!(never.take(), [(at(10.0), At(at(14.0)))]);
        // Reported after 12, since 14 came before 12 and 13; the silence begins with 10 all the same.
        let mut early = SilenceWatch::default();
        early.note_row(at(12.0));
        early.look(at(15.0), 2.5);
        early.follow(at(10.0), at(14.0), 1.0);
        assert_eq!(early.take(), [(at(12.0), Open), (at(12.0), Revoked), (at(10.0), At(at(14.0)))]);
    }

    #[test]
    fn a_source_that_samples_every_ten_seconds_is_not_silent_in_between() {
        let mut watch = SilenceWatch::default();
        (1..20).for_each(|k| watch.follow(at(10.0 * f64::from(k)), at(10.0 * f64::from(k + 1)), 10.0));
        assert_eq!(watch.take(), []);
    }
}
