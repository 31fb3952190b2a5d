//! Bytes that nodes have sent, at ticks of a grid.
//!
//! A series is reported when it moves by more than noise, and every half a minute. What it passed in between is known exactly only then.
//! So the ticks of the grid between two reports are filled when the second one arrives.

use serde::{Deserialize, Serialize};

/// Ticks between two of the grid.
pub(super) const GRID_TICKS: i64 = 5;
/// Ticks of the grid that are remembered: those since the latest report but one of an unchanged series.
const KEPT: usize = 8;

/// What one series passed at the latest ticks of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sent {
    at: [f64; KEPT],
}

impl Default for Sent {
    fn default() -> Sent {
        Sent { at: [f64::NAN; KEPT] }
    }
}

impl Sent {
    /// Fills the ticks of the grid after `from` up to `to`, both with the bytes passed up to then; `latest` passed in the last tick,
    /// which may be the first of a step.
    pub(super) fn fill(&mut self, from: (i64, f64), to: (i64, f64), latest: f64) {
        let step = (to.0 - 1, to.1 - latest);
        if step.0 > from.0 {
            self.fill_evenly(from, step);
        }
        self.fill_evenly(if step.0 > from.0 { step } else { from }, to);
    }

    fn fill_evenly(&mut self, from: (i64, f64), to: (i64, f64)) {
        let latest = to.0.div_euclid(GRID_TICKS);
        let oldest = from.0.div_euclid(GRID_TICKS) + 1;
        for number in oldest.max(latest + 1 - KEPT as i64)..=latest {
            let part = (number * GRID_TICKS - from.0) as f64 / (to.0 - from.0) as f64;
            self.at[slot(number)] = from.1 + part * (to.1 - from.1);
        }
    }

    /// Bytes passed up to `tick`, which is on the grid and not after the latest report, which was at `latest`.
    pub(super) fn at(&self, tick: i64, latest: i64) -> Option<f64> {
        let number = tick.div_euclid(GRID_TICKS);
        let is_kept = latest.div_euclid(GRID_TICKS) - number < KEPT as i64;
        Some(self.at[slot(number)]).filter(|passed| is_kept && !passed.is_nan())
    }
}

fn slot(number: i64) -> usize {
    number.rem_euclid(KEPT as i64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_between_reports_are_filled_evenly_and_old_ones_forgotten() {
        let mut sent = Sent::default();
        sent.fill((0, 0.0), (30, 300.0), 10.0);
        assert_eq!([5, 20, 30].map(|tick| sent.at(tick, 30)), [Some(50.0), Some(200.0), Some(300.0)]);
        sent.fill((30, 300.0), (37, 300.0), 0.0);
        assert_eq!([0, 5, 35].map(|tick| sent.at(tick, 37)), [None, Some(50.0), Some(300.0)]);
        sent.fill((37, 300.0), (200, 463.0), 1.0);
        assert_eq!(
            [35, 160, 165, 200].map(|tick| sent.at(tick, 200)),
            [None, None, Some(428.0), Some(463.0)]
        );
    }

    #[test]
    fn a_step_is_one_of_the_last_tick() {
        let mut sent = Sent::default();
        sent.fill((0, 0.0), (30, 290.0), 0.0);
        let [before, after] = [25, 30].map(|tick| sent.at(tick, 30).unwrap());
        assert!((before - 250.0).abs() < 1e-9 && (after - 290.0).abs() < 1e-9, "{before} {after}");
    }
}
