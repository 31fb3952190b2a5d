//! What a job lacks while the servers of its file system are slow: the clients of other jobs that fell together show since when and
//! until when, so the mean over these blocks shows a loss that no single one does.

use super::{Block, ERRORS, Hindsight, LEVEL_BLOCKS, LostBlock, SMALL_BLOCKS, SURE_ERRORS, mean};
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Blocks around those with slow servers that these are compared with.
const NEAR_BLOCKS: i64 = 12;
/// How many times what one block must lack to be seen alone it may lack: more is no part of a small loss.
const SMALL: f64 = 2.0;

/// What may be lost in some blocks without showing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unseen {
    /// The first of the blocks, and the one after the last.
    pub blocks: [i64; 2],
    /// Whole blocks that may be lost in them.
    pub lost: f64,
}

/// The blocks of a job during and around those in which servers were slow, and what it lacks in them.
struct Comparison<'b> {
    during: Vec<&'b Block>,
    lack: f64,
    error: f64,
}

impl Hindsight {
    /// Adds what it lacks while the servers are slow, where it lacks that in all these blocks and in none of those around them: it
    /// may have started there, and reached its level as soon as they were well.
    pub(super) fn add_slow_stretches(&mut self, blocks: &[Block], slow: &BTreeSet<i64>) {
        let most_ticks = most_ticks(blocks);
        for stretch in stretches(slow) {
            // The blocks at both ends may be slow in part.
            let is_lack = |at: usize| blocks.get(at).is_some_and(|block| block.lacks(self) > self.least);
            let mut begin = blocks.partition_point(|block| block.number < *stretch.start());
            let mut end = blocks.partition_point(|block| block.number <= *stretch.end());
            begin -= usize::from(begin > 0 && is_lack(begin - 1));
            end += usize::from(is_lack(end));
            if !self.lacks_throughout(blocks, begin..end) {
                continue;
            }
            for block in blocks[begin..end].iter().filter(|block| self.unknown.contains(&block.number)) {
                let (active, lost) = (block.ticks / most_ticks, block.lacks(self));
                self.unsure = (self.unsure - active * lost).max(0.0);
                let takers = Arc::new([]);
                self.lost.push(LostBlock {
                    number: block.number,
                    active,
                    lost,
                    is_small: false,
                    by_server: true,
                    takers,
                });
            }
            let lost = &self.lost;
            self.unknown.retain(|number| !lost.iter().any(|block| block.number == *number));
        }
        self.lost.sort_by_key(|block| block.number);
    }

    /// Stretches of blocks in which slow servers surely cost it something.
    pub fn lost_to_servers(&self) -> Vec<RangeInclusive<i64>> {
        let of_servers = self.lost.iter().filter(|block| block.by_server && !block.is_small);
        stretches(&of_servers.map(|block| block.number).collect())
    }

    /// Whether it lacks much in all blocks of `during` but perhaps the first and the last, and in none of the nearest blocks around
    /// them.
    fn lacks_throughout(&self, blocks: &[Block], during: Range<usize>) -> bool {
        let is_lack = |block: &Block| block.lacks(self) > self.least;
        let after = &blocks[during.end..blocks.len().min(during.end + LEVEL_BLOCKS)];
        let before = &blocks[during.start.saturating_sub(LEVEL_BLOCKS)..during.start];
        let inside = &blocks[during];
        let is_long = inside.len() > LEVEL_BLOCKS && after.len() == LEVEL_BLOCKS;
        is_long && inside[1..inside.len() - 1].iter().all(is_lack) && !before.iter().chain(after).any(is_lack)
    }

    /// Adds the losses in those of its `blocks` in which the servers were slow, where these together show at least `least_effect`.
    pub(super) fn add_small_losses(&mut self, blocks: &[Block], slow: &BTreeSet<i64>, least_effect: f64) {
        let Some(found) = self.compare(blocks, slow) else { return };
        let is_shown = found.lack >= least_effect.max(SURE_ERRORS * found.error);
        if !is_shown || found.during.len() < SMALL_BLOCKS {
            return;
        }
        let most_ticks = most_ticks(blocks);
        let lost = found.during.iter().map(|block| LostBlock {
            number: block.number,
            active: block.ticks / most_ticks,
            lost: found.lack,
            is_small: true,
            by_server: true,
            takers: Arc::new([]),
        });
        self.lost.extend(lost);
        self.lost.sort_by_key(|block| block.number);
        self.unsure += ERRORS * found.error * found.during.len() as f64;
        self.unknown.retain(|number| !found.during.iter().any(|block| block.number == *number));
    }

    /// Notes what may be lost in those of its `blocks` in which the servers may be slow: it lacks too little to show.
    pub(super) fn bound_unseen(&mut self, blocks: &[Block], slow: &BTreeSet<i64>) {
        let Some(found) = self.compare(blocks, slow) else { return };
        let [Some(first), Some(last)] = [found.during.first(), found.during.last()] else { return };
        let most = (found.lack.max(0.0) + ERRORS * found.error).min(1.0);
        let active = found.during.iter().map(|block| block.ticks).sum::<f64>() / most_ticks(blocks);
        self.unseen = Some(Unseen { blocks: [first.number, last.number + 1], lost: most * active });
    }

    /// Compares the blocks of `slow` that are not lost otherwise with those around them; `None` without either.
    fn compare<'b>(&self, blocks: &'b [Block], slow: &BTreeSet<i64>) -> Option<Comparison<'b>> {
        let lost: BTreeSet<i64> = self.lost.iter().map(|block| block.number).collect();
        let is_near = |block: &&Block| {
            let near = block.number - NEAR_BLOCKS..=block.number + NEAR_BLOCKS;
            !lost.contains(&block.number) && slow.range(near).next().is_some()
        };
        let (mut during, mut around): (Vec<&Block>, Vec<&Block>) =
            blocks.iter().filter(is_near).partition(|block| slow.contains(&block.number));
        during.retain(|block| block.lacks(self) <= SMALL * self.least);
        around.retain(|block| block.lacks(self) <= self.least);
        if during.is_empty() || around.len() < LEVEL_BLOCKS {
            return None;
        }
        let lack = 1.0 - rate_of(&during) / rate_of(&around);
        let error = self.noise * (1.0 / during.len() as f64 + 1.0 / around.len() as f64).sqrt();
        Some(Comparison { during, lack, error })
    }
}

/// Blocks that follow each other.
fn stretches(slow: &BTreeSet<i64>) -> Vec<RangeInclusive<i64>> {
    let numbers: Vec<i64> = slow.iter().copied().collect();
    numbers.chunk_by(|a, b| b - a == 1).map(|stretch| stretch[0]..=stretch[stretch.len() - 1]).collect()
}

fn rate_of(blocks: &[&Block]) -> f64 {
    mean(blocks.iter().map(|block| block.rate))
}

fn most_ticks(blocks: &[Block]) -> f64 {
    blocks.iter().map(|block| block.ticks).fold(0.0, f64::max)
}
