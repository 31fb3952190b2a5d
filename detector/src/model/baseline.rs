//! The robust model's non-contended window: the latest 128 readings in blocks of 8.
//!
//! Blocks keep a mean and a spread each, so that old readings leave together and nothing has to be
//! subtracted. The spread between blocks shows slow noise that single readings do not show.

use serde::{Deserialize, Serialize};

/// Readings of a full block.
pub const BLOCK: usize = 8;
const BLOCKS: usize = 16;

/// Spread assumed before there are readings (5%), and how many readings that assumption is worth.
const PRIOR_SIGMA: f32 = 0.05;
const PRIOR_READINGS: f32 = 3.0;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Block {
    mean: f32,
    squares: f32,
    readings: f32,
}

/// Sums over blocks, in double precision: blocks come and go for months, and nothing may drift.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Totals {
    readings: f64,
    sum: f64,
    sum_of_squared_means: f64,
    within: f64,
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
    next: u8,
    used: u8,
    blocks: [Block; BLOCKS],
}

impl Baseline {
    /// Adds a block of up to [`BLOCK`] readings; the oldest block leaves when all are used.
    pub fn add(&mut self, readings: &[f32]) {
        let n = readings.len() as f32;
        if n == 0.0 {
            return;
        }
        let mean = readings.iter().sum::<f32>() / n;
        let squares = readings.iter().map(|x| (x - mean) * (x - mean)).sum();
        self.put(Block { mean, squares, readings: n });
    }

    /// A baseline of `readings` readings with that mean and spread: a level known from before.
    pub fn known(mean: f32, sigma: f32) -> Baseline {
        let mut baseline = Baseline::default();
        let readings = BLOCK as f32;
        for _ in 0..2 {
            baseline.put(Block { mean, squares: sigma * sigma * readings, readings });
        }
        baseline
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    fn put(&mut self, block: Block) {
        let slot = &mut self.blocks[self.next as usize % BLOCKS];
        let left = std::mem::replace(slot, block);
        self.totals.add(&block, 1.0);
        self.totals.add(&left, -1.0);
        self.next = (self.next + 1) % BLOCKS as u8;
        self.used = (self.used + 1).min(BLOCKS as u8);
        self.take_stock();
    }

    fn take_stock(&mut self) {
        let Totals { readings, sum, sum_of_squared_means, within } = self.totals;
        let mean = sum / readings;
        let between = (sum_of_squared_means - mean * sum).max(0.0) as f32;
        let (readings, within) = (readings as f32, within.max(0.0) as f32);
        let prior = PRIOR_READINGS * PRIOR_SIGMA * PRIOR_SIGMA;
        self.mean = mean as f32;
        self.readings = readings;
        self.sigma = ((within + between + prior) / (readings - 1.0 + PRIOR_READINGS)).sqrt();
        let blocks = f32::from(self.used);
        let size = readings / blocks;
        self.sigma_blocks = if blocks < 4.0 { 0.0 } else { (between / size / (blocks - 1.0)).sqrt() };
    }
}

impl Totals {
    fn add(&mut self, block: &Block, sign: f64) {
        let readings = sign * f64::from(block.readings);
        let mean = f64::from(block.mean);
        self.readings += readings;
        self.sum += readings * mean;
        self.sum_of_squared_means += readings * mean * mean;
        self.within += sign * f64::from(block.squares);
    }
}
