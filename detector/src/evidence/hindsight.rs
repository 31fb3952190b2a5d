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
/// Blocks from which the noise of blocks is known.
const LEAST_BLOCKS: usize = 5;
/// Distances of blocks by which their noise is measured: it may be correlated.
const LAGS: [usize; 1] = [1];
/// Errors by which what others took must be above their noise.
const SURE_ERRORS: f64 = 3.0;
/// Least relative error of a level: of a job alone, and of one beside others, which may have slowed it then, too.
const LEVEL_ERROR: [f64; 2] = [0.03, 0.08];
/// Part of a job's rate up to which the others count as absent.
const ABSENT_SHARE: f64 = 0.05;

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
    /// Bytes a second of all its clients, and of all jobs.
    own: f64,
    total: f64,
}

impl Traffic {
    /// What `own` lost since block `since`, as far as blocks are kept; `None` while too little is known of it.
    pub fn hindsight(&self, own: &Taker, since: i64) -> Option<Hindsight> {
        let blocks = self.active_blocks(own, since);
        if blocks.len() < LEAST_BLOCKS {
            return None;
        }
        let noise = noise_of(blocks.iter().map(|block| block.rate));
        let by_others = |block: &Block| block.total - block.own;
        let noise_of_others = noise_of(blocks.iter().map(by_others)) * mean(blocks.iter().map(by_others));
        let best = blocks.windows(LEVEL_BLOCKS).max_by(|a, b| level_of(a).total_cmp(&level_of(b)))?;
        let level = level_of(best) / (1.0 + noise / (LEVEL_BLOCKS as f64).sqrt());
        let others_at_best = mean(best.iter().map(by_others));
        let least = LEAST_LOSS.max(LOSS_NOISES * noise);
        let lacks = |block: &Block| level - block.rate > least * level;
        let most_ticks = blocks.iter().map(|block| block.ticks).fold(0.0, f64::max);
        let mut lost = Vec::new();
        for run in blocks.chunk_by(|a, b| lacks(a) == lacks(b)).filter(|run| lacks(&run[0])) {
            let taken = |block: &Block| by_others(block) - others_at_best;
            let error = noise_of_others * (1.0 / run.len() as f64 + 1.0 / LEVEL_BLOCKS as f64).sqrt();
            if mean(run.iter().map(taken)) < SURE_ERRORS * error {
                continue;
            }
            let of_clients = |block: &Block| (level - block.rate) * block.ticks / SPAN_TICKS;
            let lost_in_it = run.iter().filter(|block| taken(block) >= GAINED_SHARE * of_clients(block));
            lost.extend(
                lost_in_it.map(|block| (block.number, block.ticks / most_ticks, 1.0 - block.rate / level)),
            );
        }
        let is_alone = others_at_best <= ABSENT_SHARE * mean(best.iter().map(|block| block.own));
        let least_error = LEVEL_ERROR[usize::from(!is_alone)];
        let error = least_error.max(noise / (LEVEL_BLOCKS as f64).sqrt());
        Some(Hindsight { level, error, reference: best.iter().map(|block| block.number).collect(), lost })
    }

    fn active_blocks(&self, own: &Taker, since: i64) -> Vec<Block> {
        let block = |number| {
            let (moved, ticks) = (self.rate(own, number), self.active_ticks(own, number));
            let rate = moved * SPAN_TICKS / ticks.max(1.0);
            Block { number, ticks, rate, own: moved, total: self.total(number) }
        };
        let is_active = |block: &Block| block.ticks >= LEAST_TICKS && block.rate > 0.0;
        self.kept_since(since).map(block).filter(is_active).collect()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn level_of(blocks: &[Block]) -> f64 {
    mean(blocks.iter().map(|block| block.rate))
}

/// Relative spread of a block about those soon after it: medians, so that changes of level do not count.
fn noise_of(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let at = |lag: usize| {
        let mut steps: Vec<f64> = (lag..values.len())
            .map(|at| (values[at - lag], values[at]))
            .map(|(before, after)| 2.0 * (after - before).abs() / (after + before).max(1.0))
            .collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().unwrap_or_default()
    };
    // The median of the difference of two normal values is 0.95 standard deviations of one.
    LAGS.iter().map(|lag| at(*lag)).fold(0.0, f64::max) / 0.95
}
