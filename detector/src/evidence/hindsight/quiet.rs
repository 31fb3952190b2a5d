//! Jobs that reached their level while nothing slowed them.

use super::{AWAITED, Block, Jobs, LEAST_LOSS, LEVEL_BLOCKS, SURE_ERRORS, Traffic, noise_of};
use std::collections::BTreeSet;

/// Part of the most that a file system served up to which it serves all that is wanted.
const UNSATURATED: f64 = 0.8;
/// Part of the level that a block of the noisiest job must lack whose loss shows at all.
const SHOWN_LOSS: f64 = 1.0;

impl Traffic {
    /// Blocks in which the file system served much less than at another time.
    pub(super) fn unsaturated(&self, until: i64) -> BTreeSet<i64> {
        let totals = || self.blocks(i64::MIN, until).map(|block| (block, self.total(block)));
        let noise = noise_of(totals().map(|(_, total)| total));
        // The most of many noisy sums is more than the file system can serve.
        let most = totals().map(|(_, total)| total).fold(0.0, f64::max) / (1.0 + SURE_ERRORS * noise);
        totals().filter(|(_, total)| *total <= UNSATURATED * most).map(|(block, _)| block).collect()
    }
}

/// Finds the jobs that reached their level while nothing slowed them: in enough blocks that are not `contended`, alone or while the
/// file system was `unsaturated`.
pub(super) fn find(jobs: &mut Jobs, contended: &BTreeSet<i64>, unsaturated: &BTreeSet<i64>, until: i64) {
    for (blocks, seen) in jobs.values_mut().filter(|(_, seen)| !seen.is_of_earlier_run()) {
        let is_quiet = |block: &&Block| {
            let is_settled = block.number < until - AWAITED && !contended.contains(&block.number);
            let is_free = !block.is_beside_others() || unsaturated.contains(&block.number);
            is_settled && block.lacks(seen) <= LEAST_LOSS && is_free
        };
        // By the level of a job whose loss would not show nothing is judged.
        let shows_loss = seen.least < SHOWN_LOSS;
        seen.is_quiet = shows_loss && blocks.iter().filter(is_quiet).count() >= LEVEL_BLOCKS;
    }
}
