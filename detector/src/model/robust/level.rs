//! The rate of a series that has just begun.

use super::RobustBank;
use schemas::Time;

impl RobustBank {
    /// Mean of series `i` from its first reading between two times until the later one, in the metric's unit; idle ticks
    /// after that reading count as 0. The first ticks of a job are missing: they were active in part, or belong to the
    /// time before it.
    pub fn level_between(&self, i: usize, from: Time, to: Time) -> f64 {
        let recent = &self.recent;
        let Some(first) = recent.between(i, from, to).last() else { return 0.0 };
        let later = (to.seconds_since(recent.time(i, first)) / self.params.tick_s).floor();
        let of = |age: usize| self.params.value(recent.ln(i, age)) * f64::from(recent.span_ticks(i, age));
        let sum: f64 = recent.between(i, from, to).map(of).sum();
        sum / (later + f64::from(recent.span_ticks(i, first))).max(1.0)
    }
}
