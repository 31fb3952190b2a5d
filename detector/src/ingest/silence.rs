//! When a source was silent. What is told at once, by the time to which the whole stream was read, may turn out to be
//! wrong: a row was merely late. What is told in the end depends on the rows' own times alone.

use schemas::{SilenceEnd, Time};
use serde::{Deserialize, Serialize};

/// Intervals without a row after which a source counts as silent.
pub const SILENT_INTERVALS: f64 = 2.5;

/// What is known of one source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SilenceWatch {
    /// Time of its latest row that came, in whatever order.
    heard: Option<Time>,
    /// Latest row before the silence that was told and has no end yet.
    open: Option<Time>,
    news: Vec<(Time, SilenceEnd)>,
}

impl SilenceWatch {
    /// A row came.
    pub fn hear(&mut self, time: Time) {
        self.heard = self.heard.max(Some(time));
    }

    /// The clock of its rows stepped back: what was read off later times does not hold.
    pub fn restart(&mut self) {
        self.heard = None;
        self.news.extend(self.open.take().map(|since| (since, SilenceEnd::Revoked)));
    }

    /// Time of its latest row that came.
    pub fn heard(&self) -> Option<Time> {
        self.heard
    }

    /// The stream was read up to `now` without the source's next row; silence is told after `after_s`.
    pub fn look(&mut self, now: Time, after_s: f64) {
        let silent = self.heard.filter(|heard| now.seconds_since(*heard) > after_s);
        if let (None, Some(since)) = (self.open, silent) {
            self.open = Some(since);
            self.news.push((since, SilenceEnd::Open));
        }
    }

    /// The next row in order: `last` came before it, and rows come `usual_s` apart.
    pub fn follow(&mut self, last: Time, time: Time, usual_s: f64) {
        let silent = time.seconds_since(last) > SILENT_INTERVALS * usual_s;
        if let Some(since) = self.open.filter(|since| *since < time) {
            self.open = None;
            if !(silent && since == last) {
                self.news.push((since, SilenceEnd::Revoked));
            }
        }
        if silent {
            self.news.push((last, SilenceEnd::At(time)));
        }
    }

    /// Whether it is silent now.
    pub fn is_silent(&self) -> bool {
        self.open.is_some()
    }

    /// What became known since the last call: latest row before the silence, and how it ended.
    pub fn take(&mut self) -> Vec<(Time, SilenceEnd)> {
        std::mem::take(&mut self.news)
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
    fn a_source_that_stops_is_told_within_three_seconds_and_once() {
        let mut watch = SilenceWatch::default();
        watch.hear(at(10.0));
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
        watch.hear(at(10.0));
        watch.look(at(13.0), 2.5);
        watch.follow(at(10.0), at(40.0), 1.0);
        assert_eq!(watch.take(), [(at(10.0), Open), (at(10.0), At(at(40.0)))]);
        assert!(!watch.is_silent());
    }

    #[test]
    fn a_row_that_was_merely_late_takes_it_back() {
        let mut watch = SilenceWatch::default();
        watch.hear(at(10.0));
        watch.look(at(13.0), 2.5);
        watch.follow(at(10.0), at(11.0), 1.0);
        assert_eq!(watch.take(), [(at(10.0), Open), (at(10.0), Revoked)]);
    }

    #[test]
    fn what_is_told_in_the_end_does_not_depend_on_when_was_looked() {
        let mut never = SilenceWatch::default();
        never.follow(at(10.0), at(14.0), 1.0);
        assert_eq!(never.take(), [(at(10.0), At(at(14.0)))]);
        // Told after 12, since 14 came before 12 and 13; the silence begins with 10 all the same.
        let mut early = SilenceWatch::default();
        early.hear(at(12.0));
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
