//! What a job lost as hindsight shows: it moved more once the others moved less.
//!
//! A job that starts in contention has no quiet baseline. The best level that it holds for half a minute is the least that
//! it moves alone. A block below that level is a loss as far as others moved more in it by as much: a phase of its own changes
//! nothing for the others.

use super::traffic::{SPAN_TICKS, Traffic};
use super::{GAINED_SHARE, taken::Taker};

/// Consecutive blocks that make a level.
const LEVEL_BLOCKS: usize = 3;
/// Ticks of activity of a client that make a block count.
const LEAST_TICKS: f64 = 3.0;
/// Part of the level that a block must lack, and how many times the noise of blocks.
const LEAST_LOSS: f64 = 0.12;
const LOSS_NOISES: f64 = 4.0;
/// Least relative error of a level.
const LEVEL_ERROR: f64 = 0.03;

/// A job's losses, seen afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Hindsight {
    /// The best level, in bytes a second of an active client.
    pub level: f64,
    /// Its relative error.
    pub error: f64,
    /// The blocks that show the level.
    pub reference: Vec<i64>,
    /// Blocks with a loss: number, part of the time that was active, part of that that was lost.
    pub lost: Vec<(i64, f64, f64)>,
}

struct Block {
    number: i64,
    /// Ticks of activity, all clients together.
    ticks: f64,
    /// Bytes a second of an active client.
    rate: f64,
}

impl Traffic {
    /// What `own` lost since block `since`, as far as blocks are kept.
    pub fn hindsight(&self, own: &Taker, since: i64) -> Option<Hindsight> {
        let blocks = self.active_blocks(own, since);
        let most_ticks = blocks.iter().map(|block| block.ticks).fold(0.0, f64::max);
        let noise = noise_of(&blocks);
        let level_of =
            |blocks: &[Block]| blocks.iter().map(|block| block.rate).sum::<f64>() / LEVEL_BLOCKS as f64;
        let best = blocks.windows(LEVEL_BLOCKS).max_by(|a, b| level_of(a).total_cmp(&level_of(b)))?;
        let level = level_of(best) / (1.0 + noise / (LEVEL_BLOCKS as f64).sqrt());
        let reference: Vec<i64> = best.iter().map(|block| block.number).collect();
        let by_others = |block: i64| self.total(block) - self.rate(own, block);
        let others_at_best =
            reference.iter().map(|block| by_others(*block)).sum::<f64>() / LEVEL_BLOCKS as f64;
        let least = LEAST_LOSS.max(LOSS_NOISES * noise);
        let lost = |block: &Block| {
            let lacked = (level - block.rate) / level;
            let taken = by_others(block.number) - others_at_best;
            let is_lost =
                lacked > least && taken >= GAINED_SHARE * (level - block.rate) * block.ticks / SPAN_TICKS;
            is_lost.then(|| (block.number, block.ticks / most_ticks, lacked))
        };
        let error = LEVEL_ERROR.max(noise / (LEVEL_BLOCKS as f64).sqrt());
        Some(Hindsight { level, error, reference, lost: blocks.iter().filter_map(lost).collect() })
    }

    fn active_blocks(&self, own: &Taker, since: i64) -> Vec<Block> {
        let kept = self.kept_since(since);
        let blocks = kept.map(|number| (number, self.rate(own, number), self.active_ticks(own, number)));
        let active = blocks.filter(|(_, rate, ticks)| *ticks >= LEAST_TICKS && *rate > 0.0);
        active.map(|(number, rate, ticks)| Block { number, ticks, rate: rate * SPAN_TICKS / ticks }).collect()
    }
}

/// Relative spread of a block about the next one: the median, so that changes of level do not count.
fn noise_of(blocks: &[Block]) -> f64 {
    let mut steps: Vec<f64> = blocks
        .windows(2)
        .map(|pair| 2.0 * (pair[1].rate - pair[0].rate).abs() / (pair[1].rate + pair[0].rate))
        .collect();
    steps.sort_by(f64::total_cmp);
    // The median of the difference of two normal values is 0.95 standard deviations of one.
    steps.get(steps.len() / 2).copied().unwrap_or_default() / 0.95
}
