//! What a job lost as hindsight shows: it moved more once the others moved less.
//!
//! A job that starts in contention has no quiet baseline. The best level that it holds for half a minute is the least that
//! it moves alone. A block below that level is a loss as far as others moved more in it by as much: a phase of its own changes
//! nothing for the others.

mod quiet;
mod slow;

pub use slow::Unseen;

use super::GAINED_SHARE;
use super::taken::{NAMED_MAX, Taker};
use super::traffic::{ABSENT_SHARE, LEVEL_BLOCKS, Mover, SPAN_TICKS, Traffic};
use schemas::{Metric, Name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
/// Blocks beside others from which a small loss shows in their mean.
const SMALL_BLOCKS: usize = 9;
/// Standard errors of a 95% interval.
const ERRORS: f64 = 1.96;
/// The latest blocks, of which no loss is reported yet: the model may be about to find it.
pub const AWAITED: i64 = 3;

/// What a job moves when nothing slows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Bytes a second of an active client.
    pub rate: f64,
    /// Its relative error.
    pub error: f64,
    /// The blocks that show it; none where it is of an earlier run.
    pub reference: Vec<i64>,
    /// What the others moved in these, in bytes a second.
    pub others: f64,
}

/// A job's losses, seen afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Hindsight {
    /// What it is compared with: its best level, or that of an earlier run of its application.
    pub level: Level,
    /// Whether the level was reached in blocks in which nothing slowed the job.
    pub is_quiet: bool,
    /// Blocks in which it was active and in which it or another job lost something.
    pub contended: Vec<i64>,
    /// Part of the level from which a block lacks something.
    pub least: f64,
    /// Blocks with a loss.
    pub lost: Vec<LostBlock>,
    /// Blocks that lack something, of which it does not show whether the others took it.
    pub unknown: Vec<i64>,
    /// Whole blocks that the others may have cost beyond that: each lacks too little to be sure.
    pub unsure: f64,
    /// What slow servers may have cost without showing.
    pub unseen: Option<Unseen>,
    /// Relative noise of blocks.
    noise: f64,
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
    /// Whether it lacks too little to be seen in this block alone.
    pub is_small: bool,
    /// Whether slow servers cost it.
    pub by_server: bool,
    /// Shares of the loss, by who took it: the largest ones. All clients of the job look at the same.
    pub takers: Arc<[(Taker, f64)]>,
}

/// What is known of a job beside its traffic.
pub struct Known {
    /// Its first whole block.
    pub start: i64,
    /// The level of an earlier run of its application.
    pub earlier: Option<Level>,
    /// Part of its level from which a loss is worth a report.
    pub least_effect: f64,
}

/// Blocks in which clients lost something that others explain, as the model found it.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// To whatever, with one of the jobs.
    pub all: BTreeMap<i64, Option<Name>>,
    /// Of several jobs.
    pub of_several: BTreeSet<i64>,
    /// Most of it to slow servers.
    pub to_servers: BTreeSet<i64>,
}

/// All jobs of a file system, seen from one block.
#[derive(Clone, Debug)]
pub struct Review {
    /// The block; those before it are looked at.
    pub until: i64,
    /// By job and metric.
    pub jobs: BTreeMap<Mover, Hindsight>,
    /// Blocks in which a job moved next to nothing of its level although no other job moved anything: they are not judged.
    pub trickles: BTreeMap<Mover, Vec<i64>>,
}

/// Jobs with their blocks.
type Jobs = BTreeMap<Mover, (Vec<Block>, Hindsight)>;

struct Block {
    number: i64,
    /// Ticks of activity, all clients together.
    ticks: f64,
    /// Bytes a second of an active client.
    rate: f64,
    /// Bytes a second of all its clients by the metric, and of all other jobs by whatever metric.
    own: f64,
    others: f64,
}

impl Block {
    /// Whether the others moved enough to slow the job.
    fn is_beside_others(&self) -> bool {
        self.others > ABSENT_SHARE * self.own
    }

    fn lacks(&self, seen: &Hindsight) -> f64 {
        1.0 - self.rate / seen.level.rate
    }
}

impl Hindsight {
    /// Whether the level is of an earlier run.
    pub fn is_of_earlier_run(&self) -> bool {
        self.level.reference.is_empty()
    }
}

impl Traffic {
    /// What the blocks before `until` show of all jobs, beside the `losses` that the model found.
    pub fn review(&self, until: i64, losses: &Losses, known: impl Fn(&Name, Metric) -> Known) -> Review {
        let mut trickles = BTreeMap::new();
        let slow: BTreeSet<i64> = losses.to_servers.range(..until - AWAITED).copied().collect();
        let unsaturated = self.unsaturated(until);
        // Several jobs that lose while the file system serves less than it can wait for slow servers.
        let several = losses.of_several.range(..until - AWAITED).filter(|block| unsaturated.contains(block));
        let slower: BTreeSet<i64> = several.chain(&slow).copied().collect();
        let of_jobs = self.jobs().filter_map(|(mover, job)| {
            let known = known(job, mover.1);
            trickles.insert(mover.clone(), self.trickles(&mover, known.start, until - AWAITED));
            let blocks = self.active_blocks(&mover, known.start, until);
            let mut seen = self.hindsight(&mover, &blocks, (until, &slow), known.earlier)?;
            seen.add_slow_stretches(&blocks, &slower);
            seen.add_small_losses(&blocks, &slow, known.least_effect);
            seen.lost.retain(|block| block.lost >= known.least_effect);
            Some((mover, (blocks, seen)))
        });
        let mut jobs: Jobs = of_jobs.collect();
        bound_unseen(&mut jobs, &slow);
        // A slow server takes nothing from those that do not wait for it.
        let lost = jobs.values().flat_map(|(_, seen)| seen.lost.iter().filter(|block| !block.by_server));
        let mut contended: BTreeSet<i64> = lost.map(|block| block.number).collect();
        for (blocks, seen) in jobs.values_mut() {
            let active = blocks.iter().map(|block| block.number);
            seen.contended = active.filter(|number| contended.contains(number)).collect();
        }
        // But no level is known to be quiet that was reached beside it, or while others lost something.
        contended.extend(losses.all.keys());
        quiet::find(&mut jobs, &contended, &unsaturated, until);
        let jobs = jobs.into_iter().map(|(mover, (_, seen))| (mover, seen)).collect();
        Review { until, jobs, trickles }
    }

    /// What `own` lost in its `blocks`; `None` while these are too few.
    fn hindsight(
        &self,
        own: &Mover,
        blocks: &[Block],
        (until, slow): (i64, &BTreeSet<i64>),
        earlier: Option<Level>,
    ) -> Option<Hindsight> {
        if blocks.len() < LEAST_BLOCKS {
            return None;
        }
        let noise = noise_of(blocks.iter().map(|block| block.rate));
        let best = self.best_level(own, blocks, noise)?;
        let earlier = earlier.filter(|earlier| earlier.rate > (1.0 + LEAST_LOSS) * best.rate);
        let mut seen = Hindsight {
            level: earlier.unwrap_or(best),
            is_quiet: false,
            contended: Vec::new(),
            least: LEAST_LOSS.max(LOSS_NOISES * noise),
            lost: Vec::new(),
            unknown: Vec::new(),
            unsure: 0.0,
            unseen: None,
            noise,
        };
        let most_ticks = blocks.iter().map(|block| block.ticks).fold(0.0, f64::max);
        let (lost, rest): (Vec<&Block>, Vec<&Block>) = {
            let lost = lost_blocks(blocks, &seen, own.1.cost_range());
            let is_lost = |block: &&Block| block.number < until - AWAITED && lost.contains(&block.number);
            blocks.iter().partition(is_lost)
        };
        seen.lost = lost.into_iter().map(|block| self.lost(own, &seen, block, most_ticks)).collect();
        let beside_others = || rest.iter().filter(|block| block.is_beside_others());
        let lacking = beside_others().filter(|block| block.lacks(&seen) > seen.least);
        let unsure = beside_others().map(|block| block.lacks(&seen).max(0.0) * block.ticks / most_ticks);
        (seen.unknown, seen.unsure) = (lacking.map(|block| block.number).collect(), unsure.sum());
        let small = self.small_losses(own, blocks, (&seen, slow), noise, most_ticks);
        if !small.is_empty() {
            seen.unsure = ERRORS * noise / (LEVEL_BLOCKS as f64).sqrt() * small.len() as f64;
            seen.lost.extend(small);
            seen.lost.sort_by_key(|block| block.number);
        }
        Some(seen)
    }

    /// What a job lacks beside others of what it moved alone, where each block lacks too little to be sure, but not all of them
    /// together.
    fn small_losses(
        &self,
        own: &Mover,
        blocks: &[Block],
        (seen, slow): (&Hindsight, &BTreeSet<i64>),
        noise: f64,
        most_ticks: f64,
    ) -> Vec<LostBlock> {
        let (beside, alone): (Vec<&Block>, Vec<&Block>) =
            blocks.iter().partition(|block| block.is_beside_others());
        let is_small = |block: &&Block| block.lacks(seen) <= seen.least && !slow.contains(&block.number);
        let small: Vec<&Block> = beside.into_iter().filter(is_small).collect();
        if alone.len() < LEVEL_BLOCKS || small.len() < SMALL_BLOCKS || seen.is_of_earlier_run() {
            return Vec::new();
        }
        let level = mean(alone.iter().map(|block| block.rate));
        let lack = 1.0 - mean(small.iter().map(|block| block.rate)) / level;
        let error = noise * (1.0 / alone.len() as f64 + 1.0 / small.len() as f64).sqrt();
        if lack < SURE_ERRORS * error {
            return Vec::new();
        }
        let reference: Vec<i64> = alone.iter().map(|block| block.number).collect();
        let lost = |block: &&Block| {
            let takers = self.takers(own, &reference, block.number, lack);
            LostBlock {
                number: block.number,
                active: block.ticks / most_ticks,
                lost: lack,
                is_small: true,
                by_server: false,
                takers,
            }
        };
        small.iter().map(lost).collect()
    }

    /// The best level that a job holds.
    fn best_level(&self, own: &Mover, blocks: &[Block], noise: f64) -> Option<Level> {
        let best = blocks.windows(LEVEL_BLOCKS).max_by(|a, b| rate_of(a).total_cmp(&rate_of(b)))?;
        let reference: Vec<i64> = best.iter().map(|block| block.number).collect();
        let noise = noise / (LEVEL_BLOCKS as f64).sqrt();
        let least_error = LEVEL_ERROR[usize::from(!self.is_alone(own, &reference))];
        // The best of many noisy levels is better than their mean.
        let rate = rate_of(best) / (1.0 + noise);
        let others = mean(best.iter().map(|block| block.others));
        Some(Level { rate, error: least_error.max(noise), reference, others })
    }

    fn lost(&self, own: &Mover, seen: &Hindsight, block: &Block, most_ticks: f64) -> LostBlock {
        let lost = block.lacks(seen);
        let takers = self.takers(own, &seen.level.reference, block.number, lost);
        LostBlock {
            number: block.number,
            active: block.ticks / most_ticks,
            lost,
            is_small: false,
            by_server: false,
            takers,
        }
    }

    fn takers(&self, own: &Mover, reference: &[i64], block: i64, lost: f64) -> Arc<[(Taker, f64)]> {
        let moment = self.moment(own, reference, block);
        let shares = moment.iter().flat_map(|moment| moment.shares(lost));
        let mut takers: Vec<(Taker, f64)> = shares.map(|(taker, share)| (taker.clone(), share)).collect();
        takers.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        takers.truncate(NAMED_MAX);
        takers.into()
    }

    fn active_blocks(&self, own: &Mover, since: i64, until: i64) -> Vec<Block> {
        let others = self.others(&own.0);
        let block = |number| {
            let (moved, ticks) = (self.rate(own, number), self.active_ticks(own, number));
            let rate = moved * SPAN_TICKS / ticks.max(1.0);
            Block { number, ticks, rate, own: moved, others: others(number) }
        };
        let is_active = |block: &Block| block.ticks >= LEAST_TICKS && block.rate > 0.0;
        self.blocks(since, until).map(block).filter(is_active).collect()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// Notes what jobs may have lost without showing it. The servers may have cost what another job lacks and the others did not take: `slow` are the blocks
/// in which they surely were slow.
fn bound_unseen(jobs: &mut Jobs, slow: &BTreeSet<i64>) {
    let mut lacking: BTreeMap<i64, usize> = BTreeMap::new();
    let unknown = jobs.values().flat_map(|(_, seen)| &seen.unknown);
    unknown.for_each(|block| *lacking.entry(*block).or_default() += 1);
    for (blocks, seen) in jobs.values_mut() {
        let of_others = |(block, jobs): (&i64, &usize)| {
            (*jobs > usize::from(seen.unknown.contains(block))).then_some(*block)
        };
        let mut slow = slow.clone();
        slow.extend(lacking.iter().filter_map(of_others));
        seen.bound_unseen(blocks, &slow);
    }
}

/// Blocks that lack what the others took, each count of whom may cost so many times as much: in stretches in which these surely moved
/// more, those in which they did.
fn lost_blocks(blocks: &[Block], seen: &Hindsight, cost: f64) -> BTreeSet<i64> {
    let noise =
        noise_of(blocks.iter().map(|block| block.others)) * mean(blocks.iter().map(|block| block.others));
    let taken = |block: &Block| block.others - seen.level.others;
    let lacks = |block: &Block| block.lacks(seen) > seen.least;
    let is_sure = |stretch: &&[Block]| {
        let error = noise * (1.0 / stretch.len() as f64 + 1.0 / LEVEL_BLOCKS as f64).sqrt();
        lacks(&stretch[0]) && mean(stretch.iter().map(taken)) >= SURE_ERRORS * error
    };
    let is_taken = |block: &&Block| {
        let lacked = (seen.level.rate - block.rate) * block.ticks / SPAN_TICKS;
        taken(block) * cost >= GAINED_SHARE * lacked
    };
    let stretches = blocks.chunk_by(|a, b| lacks(a) == lacks(b)).filter(is_sure);
    stretches.flatten().filter(is_taken).map(|block| block.number).collect()
}

fn rate_of(blocks: &[Block]) -> f64 {
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

#[cfg(test)]
mod tests;
