//! The robust model's non-contended window: the latest 128 readings in blocks of 8.
//!
//! Blocks keep a mean and a spread each, so that old readings leave together and nothing has to be
//! subtracted. The spread between blocks shows slow noise that single readings do not show.

use crate::equations::error_of_mean;
use serde::{Deserialize, Serialize};

/// Readings of a full block.
pub const BLOCK: usize = 8;
const BLOCKS: usize = 16;

/// Spread assumed before there are readings (5%), and how many readings that assumption is worth.
const PRIOR_SIGMA: f32 = 0.05;
const PRIOR_READINGS: f32 = 3.0;
/// Standard errors from which a correlation counts, and the most that is assumed.
const SURE_CORRELATION: f64 = 2.0;
const MOST_CORRELATION: f64 = 0.95;
/// What is more likely than white noise shows of a correlated series.
const LIKELY_WALK: f64 = 0.3;
/// Steps from one reading to the next that are remembered, about.
const STEPS_KEPT: f64 = 128.0;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Block {
    mean: f32,
    squares: f32,
}

/// Sums over blocks, in double precision: blocks come and go for months, and nothing may drift.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Totals {
    readings: f64,
    sum: f64,
    sum_of_squared_means: f64,
    within: f64,
    /// Squared steps from one reading to the next and their number; older ones fade.
    squared_steps: f64,
    steps: f64,
}

/// Mean and spread of the non-contended readings of one series, in the signed log domain.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Baseline {
    totals: Totals,
    /// Mean.
    pub mean: f32,
    /// Standard deviation of single readings.
    pub sigma: f32,
    /// Standard deviation of the means of blocks.
    pub sigma_blocks: f32,
    /// Readings that the mean is of.
    pub readings: f32,
    /// Correlation of a reading with the next one, where it is beyond doubt; else 0.
    pub correlation: f32,
    /// The largest correlation that the readings leave possible while they are few; then as above.
    pub likely_correlation: f32,
    /// Correlation that the series had at the level before: it counts until this level has shown its own.
    inherited: f32,
    next: u8,
    used: u8,
    blocks: [Block; BLOCKS],
    /// Readings of each block.
    sizes: [u8; BLOCKS],
}

impl Baseline {
    /// Adds a block of up to [`BLOCK`] readings; the oldest block leaves when all are used.
    pub fn add(&mut self, readings: &[f32]) {
        let n = readings.len() as f32;
        if readings.is_empty() {
            return;
        }
        let mean = readings.iter().sum::<f32>() / n;
        let squares = readings.iter().map(|x| (x - mean) * (x - mean)).sum();
        self.totals.note_steps(readings);
        self.put(Block { mean, squares }, readings.len() as u8);
    }

    /// Standard error of the mean of so many readings of this series.
    pub fn error_of_mean(&self, readings: f64) -> f64 {
        error_of_mean(self.sigma.into(), readings, self.correlation.into())
    }

    /// A baseline of `readings` readings with that mean and spread: a level known from before.
    pub fn known(mean: f32, sigma: f32) -> Baseline {
        let mut baseline = Baseline::default();
        let squares = sigma * sigma * BLOCK as f32;
        for _ in 0..2 {
            baseline.put(Block { mean, squares }, BLOCK as u8);
        }
        baseline
    }

    /// Takes over how the readings of the level before were correlated.
    pub fn inherit(&mut self, before: &Baseline) {
        self.inherited = before.correlation;
        self.correlation = self.correlation.max(self.inherited);
        self.likely_correlation = self.likely_correlation.max(self.inherited);
    }

    /// The largest correlation that the readings leave possible, however many they are.
    pub fn possible_correlation(&self) -> f32 {
        let (_, possible) = self.totals.correlation(self.used.into());
        self.correlation.max(possible)
    }

    /// Whether readings are more likely correlated than not, however few there are.
    pub fn seems_correlated(&self) -> bool {
        self.totals.walk(f64::from(self.used)) > LIKELY_WALK
    }

    /// Mean of the older half of the blocks.
    pub fn older_mean(&self) -> f32 {
        let half = self.used as usize / 2;
        let first = self.next as usize + BLOCKS - self.used as usize;
        let older = (first..first + half).map(|at| at % BLOCKS);
        let older = older.map(|at| (self.blocks[at].mean, f32::from(self.sizes[at])));
        let (sum, readings) =
            older.fold((0.0, 0.0), |(sum, all), (mean, readings)| (sum + mean * readings, all + readings));
        if readings > 0.0 { sum / readings } else { self.mean }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    fn put(&mut self, block: Block, size: u8) {
        let at = self.next as usize % BLOCKS;
        let left = std::mem::replace(&mut self.blocks[at], block);
        let left_size = std::mem::replace(&mut self.sizes[at], size);
        self.totals.add(&block, f64::from(size), 1.0);
        self.totals.add(&left, f64::from(left_size), -1.0);
        self.next = (self.next + 1) % BLOCKS as u8;
        self.used = (self.used + 1).min(BLOCKS as u8);
        self.take_stock();
    }

    fn take_stock(&mut self) {
        let Totals { readings, sum, sum_of_squared_means, within, .. } = self.totals;
        let mean = sum / readings;
        let between = (sum_of_squared_means - mean * sum).max(0.0) as f32;
        let (readings, within) = (readings as f32, within.max(0.0) as f32);
        let prior = PRIOR_READINGS * PRIOR_SIGMA * PRIOR_SIGMA;
        self.mean = mean as f32;
        self.readings = readings;
        self.sigma = ((within + between + prior) / (readings - 1.0 + PRIOR_READINGS)).sqrt();
        let blocks = f32::from(self.used);
        let (own, likely) = self.totals.correlation(blocks.into());
        let young = self.totals.steps < STEPS_KEPT / 2.0;
        self.correlation = if young { own.max(self.inherited) } else { own };
        self.likely_correlation = if young { likely.max(self.inherited) } else { own };
        let size = readings / blocks;
        self.sigma_blocks = if blocks < 4.0 { 0.0 } else { (between / size / (blocks - 1.0)).sqrt() };
    }
}

impl Totals {
    fn add(&mut self, block: &Block, readings: f64, sign: f64) {
        let readings = sign * readings;
        let mean = f64::from(block.mean);
        self.readings += readings;
        self.sum += readings * mean;
        self.sum_of_squared_means += readings * mean * mean;
        self.within += sign * f64::from(block.squares);
    }

    fn note_steps(&mut self, readings: &[f32]) {
        let more = readings.len().saturating_sub(1) as f64;
        let kept = ((STEPS_KEPT - more) / self.steps.max(1.0)).clamp(0.0, 1.0);
        let square: f32 = readings.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        self.squared_steps = kept * self.squared_steps + f64::from(square);
        self.steps = kept * self.steps + more;
    }

    /// How far the readings are from white noise, 0, towards a random walk, 1.
    fn walk(&self, blocks: f64) -> f64 {
        let free = self.readings - blocks;
        if self.steps < 4.0 || free < 4.0 || self.within <= 0.0 {
            return 0.0;
        }
        let ratio = self.squared_steps / self.steps / (2.0 * self.within / free);
        (1.0 - ratio) / (1.0 - 1.0 / 3.0)
    }

    /// From the mean square successive difference over the variance within blocks (von Neumann 1941): 1 for white noise, 1/3
    /// for a random walk in blocks of eight, and little changed by a slow drift. The first is 0 where white noise could show as
    /// much; the second is the most that a process could have which shows this.
    fn correlation(&self, blocks: f64) -> (f32, f32) {
        let walk = self.walk(blocks);
        let error = 1.5 / self.steps.max(1.0).sqrt();
        // What the ratio of a first-order autoregressive process is in blocks of eight, inverted to 0.02.
        let of = |walk: f64| (walk * (0.9 + 0.1 * walk)).clamp(0.0, MOST_CORRELATION) as f32;
        (if walk > SURE_CORRELATION * error { of(walk) } else { 0.0 }, of(walk + error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use samplers::rng::Rng;

    /// A baseline of `readings` readings of a first-order autoregressive process.
    fn of(correlation: f64, readings: usize, seed: u64) -> Baseline {
        let mut rng = Rng::new(seed, 1);
        let mut state = rng.normal();
        let series: Vec<f32> = (0..readings)
            .map(|_| {
                state = correlation * state + (1.0 - correlation * correlation).sqrt() * rng.normal();
                0.3 * state as f32
            })
            .collect();
        let mut baseline = Baseline::default();
        series.chunks(BLOCK).for_each(|block| baseline.add(block));
        baseline
    }

    #[test]
    fn correlation_is_found_within_a_fifth_and_not_in_white_noise() {
        let mean = |correlation: f64| {
            (1..=20).map(|seed| f64::from(of(correlation, 128, seed).correlation)).sum::<f64>() / 20.0
        };
        assert!(mean(0.0) < 0.1, "{}", mean(0.0));
        assert!((mean(0.8) - 0.8).abs() < 0.2, "{}", mean(0.8));
    }

    #[test]
    fn few_readings_leave_a_correlation_possible() {
        let young = of(0.0, 16, 3);
        assert!(young.correlation == 0.0 && young.likely_correlation > 0.2, "{young:?}");
        assert_eq!(of(0.0, 128, 3).likely_correlation, of(0.0, 128, 3).correlation);
    }

    #[test]
    fn a_ramp_lies_above_its_older_half() {
        let mut ramp = Baseline::default();
        (0..16).for_each(|block| ramp.add(&[block as f32; BLOCK]));
        assert_eq!((ramp.older_mean(), ramp.mean), (3.5, 7.5));
    }
}
