//! What readings after an episode add to its estimate.
//!
//! The largest uncertainty of a loss under noise is that of its baseline. The clear readings after the
//! episode show the same level, so up to [`SETTLING_READINGS`] of them are taken into account.

use super::{Closing, ModelEvent, RobustBank};
use schemas::Time;
use serde::{Deserialize, Serialize};

/// Clear readings after which an estimate is final.
const SETTLING_READINGS: u32 = 64;
/// Fewer than these are not worth a correction.
const LEAST_READINGS: u32 = 16;

/// An episode that ended and the clear readings since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settling {
    closing: Closing,
    /// Baseline of the episode: mean (signed log domain) and readings.
    mean: f64,
    readings: f64,
    sum_after: f64,
    after: u32,
}

impl RobustBank {
    /// Starts to settle the episode that just ended.
    pub(super) fn begin_settling(&mut self, i: usize, ended: &ModelEvent) {
        let ModelEvent::Ended(closing) = ended else { return };
        let base = &self.memory[i].baseline;
        let (mean, readings) = (f64::from(base.mean), f64::from(base.readings));
        let settling = Settling { closing: *closing, mean, readings, sum_after: 0.0, after: 0 };
        self.memory[i].settling = Some(Box::new(settling));
        self.watch[i].settles = true;
    }

    /// End of the episode that settles.
    pub(super) fn settling_end(&self, i: usize) -> Time {
        self.memory[i].settling.as_deref().map_or(Time::MIN, |settling| settling.closing.end)
    }

    /// Gives up settling: the next episode begins.
    pub(super) fn forget_settling(&mut self, i: usize) {
        self.memory[i].settling = None;
        self.watch[i].settles = false;
    }

    /// Takes a block that left quarantine into account.
    pub(super) fn settle_with(&mut self, i: usize, block: &[f32]) {
        if let Some(settling) = self.memory[i].settling.as_deref_mut() {
            settling.sum_after += block.iter().map(|ln| f64::from(*ln)).sum::<f64>();
            settling.after += block.len() as u32;
        }
    }

    /// Whether enough readings came.
    pub(super) fn is_settled(&self, i: usize) -> bool {
        self.memory[i].settling.as_deref().is_some_and(|s| s.after >= SETTLING_READINGS)
    }

    /// The better estimate, if the episode before was still settling.
    pub(super) fn settle(&mut self, i: usize) -> ModelEvent {
        self.watch[i].settles = false;
        let Some(settling) = self.memory[i].settling.take() else {
            return ModelEvent::Nothing;
        };
        if settling.after < LEAST_READINGS {
            return ModelEvent::Nothing;
        }
        let after = f64::from(settling.after);
        let shift = (settling.sum_after / after - settling.mean) * after / (settling.readings + after);
        let shift = match self.params.direction {
            schemas::Direction::Rising => shift,
            schemas::Direction::Falling => -shift,
        };
        let old = settling.closing;
        let loss = old.loss.with_baseline_shifted(shift, self.params.direction);
        self.watch[i].slowdown_s += loss.lost_s - old.loss.lost_s;
        let narrower = self.narrowing(i, &old, settling.readings, after);
        let (baseline, half_width_s) = (old.baseline * shift.exp(), old.half_width_s * narrower);
        ModelEvent::Settled(self.with_doubt(i, Closing { loss, baseline, half_width_s, ..old }))
    }

    /// Factor of the interval's width now that the baseline is of more readings.
    fn narrowing(&self, i: usize, old: &Closing, before: f64, after: f64) -> f64 {
        let baseline = &self.memory[i].baseline;
        let half = |readings: f64| (1.96 * old.loss.by_baseline * baseline.error_of_mean(readings)).powi(2);
        let square = old.half_width_s.powi(2) - half(before) + half(before + after);
        (square.max(0.25 * old.half_width_s.powi(2)) / old.half_width_s.powi(2).max(1e-12)).sqrt().min(1.0)
    }
}
