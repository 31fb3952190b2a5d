//! The rate of a series that has just begun.

use super::RobustBank;
use schemas::Time;

impl RobustBank {
    /// Mean of series `i` from its first reading between two times until the later one, in the metric's unit; idle ticks
    /// after that reading count as 0. The first ticks of a job are missing: they were active in part, or belong to the
    /// time before it.
    pub fn level_between(&self, i: usize, from: Time, to: Time) -> f64 {
        let recent = &self.recent;
        let inside = |age: &usize| (from < recent.time(i, *age)) && (recent.time(i, *age) <= to);
        let Some(first) = (0..recent.len(i)).rev().find(inside) else { return 0.0 };
        let later = (to.seconds_since(recent.time(i, first)) / self.params.tick_s).floor();
        let of = |age: usize| self.params.value(recent.ln(i, age)) * f64::from(recent.span_ticks(i, age));
        let sum: f64 = (0..=first).filter(inside).map(of).sum();
        sum / (later + f64::from(recent.span_ticks(i, first))).max(1.0)
    }
}
