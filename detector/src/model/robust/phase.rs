//! Changes of level that are no contention: a series that does something else now.

use super::super::baseline::{BLOCK, Baseline};
use super::{RobustBank, Time};
use serde::{Deserialize, Serialize};

/// A level below this share of the baseline is an off-phase, however new: sharing a server with
/// twenty equal writers takes no more (table 4.1 gives 0.23 with sixteen).
pub(super) const OFF_PHASE_RISE: f32 = 3.0;

/// Levels a series had before, the latest first.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Levels {
    known: [Level; 3],
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Level {
    mean: f32,
    sigma: f32,
    /// Readings of the baseline that was there; 0 for a level that was only seen in episodes.
    readings: f32,
    falls: u8,
}

/// Episodes at one level after which it is the usual off-phase of a series that no other series explains.
const USUAL_FALLS: u8 = 2;

impl Levels {
    fn remember(&mut self, baseline: &Baseline) {
        if baseline.readings < BLOCK as f32 {
            return;
        }
        let (mean, sigma, readings) = (baseline.mean, baseline.sigma, baseline.readings);
        self.put(Level { mean, sigma, readings, falls: 0 });
    }

    fn note_fall(&mut self, mean: f32) {
        let known = self.near(mean).unwrap_or(Level { mean, sigma: 0.05, readings: 0.0, falls: 0 });
        self.put(Level { falls: known.falls.saturating_add(1), ..known });
    }

    /// A level that was a baseline.
    fn at(&self, mean: f32) -> Option<Level> {
        self.near(mean).filter(|level| level.readings > 0.0)
    }

    fn is_usual(&self, mean: f32) -> bool {
        self.near(mean).is_some_and(|level| level.readings > 0.0 || level.falls >= USUAL_FALLS)
    }

    fn near(&self, mean: f32) -> Option<Level> {
        let known = |l: &Level| l.readings > 0.0 || l.falls > 0;
        let near = |l: &Level| (l.mean - mean).abs() < (3.0 * l.sigma).clamp(0.1, 0.4);
        self.known.into_iter().find(|l| known(l) && near(l))
    }

    /// The level becomes the latest; it replaces one near it, or the oldest.
    fn put(&mut self, level: Level) {
        let same = |l: &Level| (l.mean - level.mean).abs() < 0.1 && (l.readings > 0.0 || l.falls > 0);
        let slot = self.known.iter().position(same).unwrap_or(self.known.len() - 1);
        self.known[..=slot].rotate_right(1);
        self.known[0] = level;
    }
}

/// Where a series changed its level.
pub(super) struct Change {
    /// Age of the first reading after the change.
    pub age: usize,
    /// End of the reading before it.
    pub start: Time,
}

impl RobustBank {
    /// Whether the latest level is next to nothing compared with the baseline.
    pub(super) fn is_off_phase(&self, i: usize) -> bool {
        self.latest_level(i) - self.watch[i].centre > OFF_PHASE_RISE
    }

    /// Whether the latest level is one that the series had before.
    pub(super) fn is_own_level(&self, i: usize) -> bool {
        self.memory[i].levels.is_usual(self.latest_level(i))
    }

    pub(super) fn latest_level(&self, i: usize) -> f32 {
        self.recent
            .mean(i, self.params.window.min(self.change_point(i, self.watch[i].usable as usize).age + 1))
    }

    /// Remembers the level of an episode that ended: what comes again and again is the series' own.
    pub(super) fn remember_fall(&mut self, i: usize, level: f32) {
        self.memory[i].levels.note_fall(level);
    }

    /// Latest readings with which an episode may begin.
    pub(super) fn free(&self, i: usize) -> usize {
        self.watch[i].usable.min(self.watch[i].free) as usize
    }

    /// The change point between the baseline and the latest level: the split that explains the latest `readings`
    /// best, with single readings counting no more than the step itself.
    pub(super) fn change_point(&self, i: usize, readings: usize) -> Change {
        let watch = &self.watch[i];
        let short = self.recent.mean(i, (self.params.window / 2).max(3)) - watch.centre;
        // A step seen only by the long window is smaller than the short one shows.
        let long = watch.sum_long / (4 * self.params.window) as f32;
        let step = if short.abs() > watch.threshold / 2.0 { short } else { 2.0 * long };
        let middle = watch.centre + step / 2.0;
        let limit = step.abs();
        let (mut best, mut sum, mut age) = (f32::MIN, 0.0, 0);
        for a in 0..readings {
            sum += ((self.recent.ln(i, a) - middle) * step.signum()).clamp(-limit, limit);
            if sum > best {
                (best, age) = (sum, a);
            }
        }
        Change { age, start: self.end_before(i, age) }
    }

    /// End of the reading before that of `age`.
    fn end_before(&self, i: usize, age: usize) -> Time {
        let recent = &self.recent;
        let span_s = f64::from(recent.span_ticks(i, age)) * self.params.tick_s;
        let own = recent.time(i, age).plus_seconds(-span_s);
        if age + 1 < recent.len(i) { recent.time(i, age + 1).max(own) } else { own }
    }

    /// The latest level becomes the baseline; the one before is remembered.
    pub(super) fn change_level(&mut self, i: usize) {
        let since = self.change_point(i, self.watch[i].usable as usize).age + 1;
        let memory = &mut self.memory[i];
        let left = std::mem::take(&mut memory.baseline);
        memory.levels.remember(&left);
        let readings = self.recent.readings(i, 0..since);
        let mean = readings.iter().sum::<f32>() / since as f32;
        if let Some(known) = memory.levels.at(mean) {
            memory.baseline = Baseline::known(known.mean, known.sigma);
        }
        let watch = &mut self.watch[i];
        watch.usable = since as u8;
        watch.quarantined = since as u8;
        if memory.baseline.is_empty() && since >= BLOCK {
            readings.chunks(BLOCK).for_each(|block| memory.baseline.add(block));
            watch.quarantined = 0;
        }
        memory.baseline.inherit(&left);
        watch.suspected_since = Time::MIN;
        watch.warming_since = Time::MIN;
        self.refresh(i);
    }
}
