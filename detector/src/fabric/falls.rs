//! Falls of what a job's own nodes send.
//!
//! Where the link that a job waits for is not measured, as that into an Aries host, its own traffic alone shows that it waits. A job
//! may as well send less because it does something else, so a fall is a loss that is possible, not one that is sure.

use super::progress::{
    AROUND_TICKS, BLOCK_TICKS, LEAST_ERROR, PAUSES, Piece, Progress, SETTLES_TICKS, even, is_near,
};
use std::collections::BTreeMap;

/// What a job that falls sends less at least, as a part, and in standard deviations of what it sent before.
const FALL_LEAST: f64 = 0.05;
const CHANCE: f64 = 4.0;
/// Blocks that are alike before one that is less counts as a fall.
const ALIKE_LEAST: usize = 3;
/// Ticks that a fall lasts at least and at most: one that lasts longer is another phase of the job.
const FALL_TICKS: std::ops::RangeInclusive<f64> = 20.0..=600.0;

impl Progress {
    /// By which part the job, which started at tick `start` and sent evenly up to `onset`, sends less since then; `None` if it does
    /// not, or pauses.
    pub(super) fn fallen(&self, start: i64, onset: i64) -> Option<f64> {
        let (mut quiet, mut block, mut since) = (Vec::new(), Piece::NONE, Piece::NONE);
        let mut slowest = f64::INFINITY;
        for (from, to, piece) in self.pieces() {
            if from >= onset {
                since = since.plus(piece);
                slowest = slowest.min(piece.rate());
            } else if piece.bytes.is_nan() || from < start + SETTLES_TICKS || to > onset {
                block = Piece::NONE;
            } else {
                block = block.plus(piece);
                if block.ticks >= BLOCK_TICKS as f64 {
                    quiet.push(std::mem::replace(&mut block, Piece::NONE));
                }
            }
        }
        let (rate, spread) = even(&quiet)?;
        let chance = CHANCE * spread * (BLOCK_TICKS as f64 / since.ticks).sqrt();
        let fallen = 1.0 - since.bytes / (since.ticks * rate);
        (fallen > chance.max(FALL_LEAST) && slowest >= PAUSES * rate).then_some(fallen)
    }

    /// Seconds by which the job, which started at tick `start`, fell behind what it sent before and after, outside the ticks of
    /// `contended`: it may have lost them.
    pub(super) fn unexplained_s(&self, start: i64, contended: &BTreeMap<i64, f64>, tick_s: f64) -> f64 {
        let (mut block, mut falls) = (Piece::NONE, Falls::default());
        for (from, to, piece) in self.pieces() {
            let is_judged = !piece.bytes.is_nan() && from >= start + SETTLES_TICKS;
            block = if is_judged && !is_near(contended, from, to, AROUND_TICKS) {
                block.plus(piece)
            } else {
                Piece::NONE
            };
            if block.ticks >= BLOCK_TICKS as f64 {
                falls.take(std::mem::replace(&mut block, Piece::NONE));
            }
        }
        falls.end();
        falls.lost_ticks * tick_s
    }
}

/// Falls so far: a run of blocks that are alike, then perhaps less, then as before again.
#[derive(Debug)]
struct Falls {
    run: Piece,
    blocks: usize,
    fall: Piece,
    lost_ticks: f64,
}

impl Default for Falls {
    fn default() -> Falls {
        Falls { run: Piece::NONE, blocks: 0, fall: Piece::NONE, lost_ticks: 0.0 }
    }
}

impl Falls {
    fn take(&mut self, block: Piece) {
        let part = block.bytes / block.ticks / (self.run.bytes / self.run.ticks);
        let is_alike = (part - 1.0).abs() <= FALL_LEAST;
        let falls = self.blocks >= ALIKE_LEAST && (PAUSES..1.0 - FALL_LEAST).contains(&part);
        let fall = self.fall.plus(block);
        if is_alike {
            self.end();
            (self.run, self.blocks) = (self.run.plus(block), self.blocks + 1);
        } else if falls && fall.ticks <= *FALL_TICKS.end() {
            self.fall = fall;
        } else {
            // Another phase.
            *self = Falls { run: block, blocks: 1, lost_ticks: self.lost_ticks, ..Falls::default() };
        }
    }

    /// Ends a fall.
    fn end(&mut self) {
        let fall = std::mem::replace(&mut self.fall, Piece::NONE);
        if FALL_TICKS.contains(&fall.ticks) {
            let lost_ticks = fall.ticks - fall.bytes / (self.run.bytes / self.run.ticks);
            // A block at an edge that is less by as much as blocks may differ counts as before it.
            self.lost_ticks += lost_ticks * (1.0 + LEAST_ERROR) + 2.0 * FALL_LEAST * BLOCK_TICKS as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of a job that sends so many bytes a tick from these ticks on, up to tick 1,000.
    fn unexplained_s(rates: &[(i64, f64)], contended: &BTreeMap<i64, f64>) -> f64 {
        let of =
            |tick: i64| rates.iter().rev().find(|(from, _)| tick >= *from).map_or(0.0, |(_, rate)| *rate);
        progress(of).unexplained_s(0, contended, 1.0)
    }

    fn progress(rate: impl Fn(i64) -> f64) -> Progress {
        let mut sent = 0.0;
        let add = |tick: i64| {
            let before = sent;
            sent += rate(tick);
            (tick, before)
        };
        Progress::of((0..1_000).map(add).filter(|(tick, _)| tick % 5 == 0).collect())
    }

    #[test]
    fn a_fall_that_ends_may_be_a_loss() {
        let found_s = unexplained_s(&[(0, 100.0), (200, 80.0), (300, 100.0)], &BTreeMap::new());
        assert!((20.0..23.0).contains(&found_s), "{found_s}");
    }

    #[test]
    fn what_contention_explains_is_not_unexplained() {
        let contended = (200..300).map(|tick| (tick, 0.2)).collect();
        assert_eq!(unexplained_s(&[(0, 100.0), (200, 80.0), (300, 100.0)], &contended), 0.0);
    }

    #[test]
    fn pauses_other_phases_and_short_dips_are_no_falls() {
        for rates in [
            &[(0, 100.0), (200, 0.0), (260, 100.0)][..],
            &[(0, 100.0), (300, 60.0)],
            &[(0, 60.0), (300, 100.0)],
            &[(0, 100.0), (203, 50.0), (210, 100.0)],
        ] {
            assert_eq!(unexplained_s(rates, &BTreeMap::new()), 0.0, "{rates:?}");
        }
    }

    #[test]
    fn a_job_falls_where_it_sent_evenly_before() {
        let fell = |rate: fn(i64) -> f64| progress(rate).fallen(0, 500).is_some();
        assert!(fell(|tick| if tick < 500 { 100.0 } else { 85.0 }));
        assert!(!fell(|_| 100.0));
        assert!(!fell(|tick| if (500..530).contains(&tick) { 0.0 } else { 100.0 }));
        assert!(!fell(|tick| if tick / 40 % 2 == 0 { 100.0 } else { 20.0 }));
    }
}
