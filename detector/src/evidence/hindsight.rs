//! What a job lost as hindsight shows: it moved more once the others moved less.
//!
//! A job that starts in contention has no quiet baseline. The best level that it holds for half a minute is the least that
//! it moves alone. A block below that level is a loss as far as others moved more in it by as much: a phase of its own changes
//! nothing for the others.

use super::traffic::{ABSENT_SHARE, SPAN_TICKS, Traffic};
use super::{GAINED_SHARE, taken::Taker};
use schemas::Name;
use std::collections::{BTreeMap, BTreeSet};

/// Consecutive blocks that make a level.
const LEVEL_BLOCKS: usize = 3;
/// Ticks of activity of a client that make a block count.
const LEAST_TICKS: f64 = 3.0;
/// Part of the level that a block must lack, and how many times the noise of blocks.
const LEAST_LOSS: f64 = 0.12;
const LOSS_NOISES: f64 = 4.0;
/// Blocks from which the noise of blocks is known.
const LEAST_BLOCKS: usize = 5;
/// Errors by which what others took must be above their noise.
const SURE_ERRORS: f64 = 3.0;
/// Least relative error of a level: of a job alone, and of one beside others, which may have slowed it then, too.
const LEVEL_ERROR: [f64; 2] = [0.03, 0.08];
/// Part of the most that a file system served up to which it serves all that is wanted.
const UNSATURATED: f64 = 0.8;
/// The latest blocks, of which no loss is reported yet: the model may be about to find it.
const AWAITED: i64 = 3;

/// A job's losses, seen afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Hindsight {
    /// The best level, in bytes a second of an active client.
    pub level: f64,
    /// Its relative error.
    pub error: f64,
    /// Whether the level was reached in blocks in which no other job lost anything.
    pub is_quiet: bool,
    /// Whether other jobs, or it, lost something in enough blocks in which it was active.
    pub is_contended: bool,
    /// Part of the level from which a block lacks something.
    pub least: f64,
    /// The blocks that show the level.
    pub reference: Vec<i64>,
    /// Blocks with a loss.
    pub lost: Vec<LostBlock>,
    /// Whole blocks that the others may have cost beyond that: each lacks too little to be sure.
    pub unsure: f64,
}

/// A block with a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct LostBlock {
    /// Its number.
    pub number: i64,
    /// Part of its time that the job was active.
    pub active: f64,
    /// Part of that time that was lost.
    pub lost: f64,
    /// Shares of the loss, by who took it.
    pub takers: Vec<(Taker, f64)>,
}

/// All jobs of a file system, seen from one block.
#[derive(Clone, Debug)]
pub struct Review {
    /// The block; those before it are looked at.
    pub until: i64,
    /// By job.
    pub jobs: BTreeMap<Taker, Hindsight>,
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
    /// What the blocks before `until` show of all jobs; `start_of` is the first whole block of a job.
    pub fn review(&self, until: i64, start_of: impl Fn(&Name) -> i64) -> Review {
        let of_jobs = self.jobs().filter_map(|(taker, job)| {
            let blocks = self.active_blocks(taker, start_of(job), until);
            let seen = self.hindsight(taker, &blocks, until)?;
            Some((taker.clone(), (blocks, seen)))
        });
        let mut jobs: BTreeMap<Taker, (Vec<Block>, Hindsight)> = of_jobs.collect();
        let lost = jobs.values().flat_map(|(_, seen)| seen.lost.iter().map(|block| block.number));
        let contended: BTreeSet<i64> = lost.collect();
        let most = self.blocks(i64::MIN, until).map(|block| self.total(block)).fold(0.0, f64::max);
        for (blocks, seen) in jobs.values_mut() {
            let is_quiet = |block: &&Block| {
                block.number < until - AWAITED
                    && !contended.contains(&block.number)
                    && block.rate >= (1.0 - LEAST_LOSS) * seen.level
                    && (block.total - block.own <= ABSENT_SHARE * block.own
                        || block.total <= UNSATURATED * most)
            };
            let in_contention = blocks.iter().filter(|block| contended.contains(&block.number)).count();
            seen.is_contended = in_contention >= LEVEL_BLOCKS;
            seen.is_quiet = blocks.iter().filter(is_quiet).count() >= LEVEL_BLOCKS;
        }
        Review { until, jobs: jobs.into_iter().map(|(taker, (_, seen))| (taker, seen)).collect() }
    }

    /// What `own` lost in its `blocks`; `None` while these are too few.
    fn hindsight(&self, own: &Taker, blocks: &[Block], until: i64) -> Option<Hindsight> {
        if blocks.len() < LEAST_BLOCKS {
            return None;
        }
        let noise = noise_of(blocks.iter().map(|block| block.rate));
        let by_others = |block: &Block| block.total - block.own;
        let noise_of_others = noise_of(blocks.iter().map(by_others)) * mean(blocks.iter().map(by_others));
        let best = blocks.windows(LEVEL_BLOCKS).max_by(|a, b| level_of(a).total_cmp(&level_of(b)))?;
        let reference: Vec<i64> = best.iter().map(|block| block.number).collect();
        let level = level_of(best) / (1.0 + noise / (LEVEL_BLOCKS as f64).sqrt());
        let least = LEAST_LOSS.max(LOSS_NOISES * noise);
        let least_error = LEVEL_ERROR[usize::from(!self.is_alone(own, &reference))];
        let error = least_error.max(noise / (LEVEL_BLOCKS as f64).sqrt());
        let mut seen = Hindsight {
            level,
            error,
            is_quiet: false,
            is_contended: false,
            least,
            reference,
            lost: Vec::new(),
            unsure: 0.0,
        };
        let lacks = |block: &Block| level - block.rate > least * level;
        let others_at_best = mean(best.iter().map(by_others));
        let taken = |block: &Block| by_others(block) - others_at_best;
        for run in blocks.chunk_by(|a, b| lacks(a) == lacks(b)).filter(|run| lacks(&run[0])) {
            let error = noise_of_others * (1.0 / run.len() as f64 + 1.0 / LEVEL_BLOCKS as f64).sqrt();
            if mean(run.iter().map(taken)) < SURE_ERRORS * error {
                continue;
            }
            let of_clients = |block: &Block| (level - block.rate) * block.ticks / SPAN_TICKS;
            let is_lost = |block: &&Block| {
                block.number < until - AWAITED && taken(block) >= GAINED_SHARE * of_clients(block)
            };
            let lost: Vec<_> = run.iter().filter(is_lost).map(|block| self.lost(own, &seen, block)).collect();
            seen.lost.extend(lost);
        }
        let most_ticks = blocks.iter().map(|block| block.ticks).fold(0.0, f64::max);
        let known: BTreeSet<i64> = seen.lost.iter().map(|block| block.number).collect();
        let is_beside =
            |block: &&Block| !known.contains(&block.number) && by_others(block) > ABSENT_SHARE * block.own;
        let unsure = |block: &Block| (1.0 - block.rate / level).max(0.0) * block.ticks / most_ticks;
        seen.unsure = blocks.iter().filter(is_beside).map(unsure).sum();
        seen.lost.iter_mut().for_each(|block| block.active /= most_ticks);
        Some(seen)
    }

    fn lost(&self, own: &Taker, seen: &Hindsight, block: &Block) -> LostBlock {
        let lost = 1.0 - block.rate / seen.level;
        let moment = self.moment(own, &seen.reference, block.number);
        let shares = moment.iter().flat_map(|moment| moment.shares(lost));
        let takers = shares.map(|(taker, share)| (taker.clone(), share)).collect();
        LostBlock { number: block.number, active: block.ticks, lost, takers }
    }

    fn active_blocks(&self, own: &Taker, since: i64, until: i64) -> Vec<Block> {
        let block = |number| {
            let (moved, ticks) = (self.rate(own, number), self.active_ticks(own, number));
            let rate = moved * SPAN_TICKS / ticks.max(1.0);
            Block { number, ticks, rate, own: moved, total: self.total(number) }
        };
        let is_active = |block: &Block| block.ticks >= LEAST_TICKS && block.rate > 0.0;
        self.blocks(since, until).map(block).filter(is_active).collect()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn level_of(blocks: &[Block]) -> f64 {
    mean(blocks.iter().map(|block| block.rate))
}

/// Relative spread of a block about those after it: the median, so that changes of level do not count.
fn noise_of(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let step = |pair: &[f64]| 2.0 * (pair[1] - pair[0]).abs() / (pair[1] + pair[0]).max(1.0);
    let mut steps: Vec<f64> = values.windows(2).map(step).collect();
    steps.sort_by(f64::total_cmp);
    // The median of the difference of two normal values is 0.95 standard deviations of one.
    steps.get(steps.len() / 2).copied().unwrap_or_default() / 0.95
}
