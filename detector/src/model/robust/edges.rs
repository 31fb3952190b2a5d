//! Begin and end of an episode to a part of a tick: the tick in which contention begins is contended in
//! part, and its reading shows which part, as long as the step is well above the noise.

use super::{RobustBank, Time};

/// Standard deviations that the step must have for its edges to be read within the tick.
const CLEAR_STEP: f64 = 6.0;
/// Readings from which the level beside an edge is estimated.
const LEVEL_READINGS: usize = 4;

impl RobustBank {
    /// Moves the start of the open episode, whose first whole reading has `age`, into its tick. The reading
    /// before it is used for the edge only if it was among the `free` ones: not of an episode before, which ended at `ended`.
    pub(super) fn refine_start(&mut self, i: usize, age: usize, free: usize, ended: Time) {
        if age + 1 >= free {
            return;
        }
        let level = self.level(i, age.saturating_sub(LEVEL_READINGS)..age);
        let Some((first, before)) = self.shares(i, level, age, age + 1) else {
            return;
        };
        let start = self
            .recent
            .time(i, age)
            .plus_seconds(-first * self.seconds(i, age) - before * self.seconds(i, age + 1));
        if before > 0.0 {
            self.charge_edge(i, age + 1);
        }
        if let Some(open) = self.memory[i].open.as_deref_mut() {
            open.start = start.max(ended);
        }
    }

    /// End of the open episode whose readings are clear from age `clear - 1` on.
    pub(super) fn refined_end(&mut self, i: usize, clear: usize) -> Time {
        let held = self.recent.len(i);
        let last = clear.min(held - 1);
        let whole = self.recent.time(i, last);
        if clear == 0 || clear >= held {
            return whole;
        }
        let level = self.level(i, last + 1..(last + 1 + LEVEL_READINGS).min(held));
        let Some((share, after)) = self.shares(i, level, last, clear - 1) else {
            return whole;
        };
        if after > 0.0 {
            self.charge_edge(i, clear - 1);
        }
        whole.plus_seconds((share - 1.0) * self.seconds(i, last) + after * self.seconds(i, clear - 1))
    }

    /// Contended shares of the ticks inside and outside of an edge, where they can be read.
    fn shares(&self, i: usize, level: f64, inside: usize, outside: usize) -> Option<(f64, f64)> {
        let memory = &self.memory[i];
        let open = memory.open.as_deref()?;
        let sigma = f64::from(memory.baseline.sigma).max(open.noise());
        if f64::from(open.depth) < CLEAR_STEP * sigma || outside >= self.recent.len(i) {
            return None;
        }
        let baseline = self.params.value(memory.baseline.mean);
        let share = |age: usize| {
            let reading = self.params.value(self.recent.ln(i, age));
            ((baseline - reading) / (baseline - level)).clamp(0.0, 1.0)
        };
        // What noise alone would show as a share is none.
        let surely = |share: f64| if share < 3.0 * sigma { 0.0 } else { share };
        Some((share(inside), surely(share(outside))))
    }

    fn level(&self, i: usize, ages: std::ops::Range<usize>) -> f64 {
        let n = ages.len().max(1) as f64;
        if ages.is_empty() {
            return self.params.value(self.recent.ln(i, ages.start));
        }
        ages.map(|age| self.params.value(self.recent.ln(i, age))).sum::<f64>() / n
    }

    fn seconds(&self, i: usize, age: usize) -> f64 {
        f64::from(self.recent.span_ticks(i, age)) * self.params.tick_s
    }

    /// Charges the loss of a tick that is contended in part, without counting the tick.
    fn charge_edge(&mut self, i: usize, age: usize) {
        let (loss, _) = self.loss_of(i, age);
        self.watch[i].slowdown_s += loss.lost_s;
        if let Some(open) = self.memory[i].open.as_deref_mut() {
            open.loss = open.loss.plus(&loss);
        }
    }
}
