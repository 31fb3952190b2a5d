//! The bound that is reported beside the mean of a series.

use super::{RobustBank, Stage, State, Time};

impl RobustBank {
    /// The bound that decides about the mean of series `i`, as a signed logarithm: the mean is on its clear side while the state
    /// is `clear`, and beyond it while it is `contended`. NaN where this mean decides nothing: the window is not full, a fall is
    /// suspected and judged later, the longer window decides.
    pub(super) fn bound(&self, i: usize) -> f32 {
        let (watch, window) = (&self.watch[i], self.params.window);
        let usable = watch.usable as usize;
        let mean = self.recent.mean(i, window.min(usable).max(1));
        match (watch.stage, watch.state) {
            (Stage::Contended, _) if watch.quarantined == 0 => {
                let began = watch.centre + watch.threshold;
                if mean > began { began } else { f32::NAN }
            }
            (Stage::Contended, _) => mean - self.margin(i),
            (Stage::Watching, State::Contended) => f32::NAN,
            (Stage::Watching, _) if usable < window => f32::NAN,
            (Stage::Watching, state) => {
                // Clipped readings are compared with the threshold; the mean that is reported is of all.
                let left = watch.threshold - watch.sum / window as f32;
                let is_decided = watch.suspected_since == Time::MIN && left >= 0.0;
                if state == State::Clear && !is_decided { f32::NAN } else { mean + left }
            }
            (Stage::Warming, _) => f32::NAN,
        }
    }
}
