//! The progress of jobs: what their own nodes send into the network.
//!
//! A job that waits sends less, whichever of its flows it waits for. So what its nodes send, beside what they send while none of
//! its links is contended, measures what stalls cost it without an assumption about its coupling. Where that cannot be seen, since
//! the job was never quiet or sends unevenly, stalls alone count.

use super::links::{Links, out_of};
use schemas::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use topology::Topology;

/// Ticks between two samples.
pub(super) const SAMPLE_TICKS: i64 = 5;
/// Samples of a job; beyond it every other of the older half is dropped.
const SAMPLES_MAX: usize = 720;
/// Ticks around a contended one that are no quiet ones: the mean of a link may cover both.
const AROUND_TICKS: i64 = 15;
/// Ticks of a block of quiet time, by whose spread the job's evenness is judged, and how many blocks it takes.
const BLOCK_TICKS: i64 = 10;
/// See [`BLOCK_TICKS`].
const BLOCKS_LEAST: usize = 3;
/// Ticks after its start in which a job does not yet send as later.
const SETTLES_TICKS: i64 = 10;
/// Relative spread of quiet blocks above which a job sends too unevenly, and what it is at least assumed to be.
const SPREAD: std::ops::Range<f64> = 0.005..0.08;
/// What the error of a loss is at least: a part of it, and ticks at the edges of contention.
const LEAST_ERROR: f64 = 0.03;
const EDGE_TICKS: f64 = 1.0;
/// Ticks without a report after which what a node sends is unknown.
const STALE_TICKS: i64 = 45;

/// What the nodes of a job sent so far, sample by sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Tick, and bytes sent up to it.
    samples: Vec<(i64, f64)>,
}

/// What a job lost by its progress, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// What it lost.
    pub(super) lost_s: f64,
    /// Half width of the 95% interval.
    pub(super) error_s: f64,
}

/// A stretch between two samples.
#[derive(Clone, Copy, Debug)]
struct Piece {
    ticks: f64,
    bytes: f64,
}

impl Progress {
    /// Notes what the nodes of `job` sent up to `tick`, if all of them are measured.
    pub(super) fn sample(&mut self, job: &Job, tick: i64, links: &Links, topology: &Topology) {
        let mut sent = 0.0;
        for node in &job.nodes {
            let Some(vertex) = topology.vertex(node.as_str()) else { return };
            let mut measured = false;
            for link in out_of(topology, vertex) {
                if let Some(bytes) = links.sent_until(link, tick, STALE_TICKS) {
                    (sent, measured) = (sent + bytes, true);
                }
            }
            if !measured {
                return;
            }
        }
        self.samples.push((tick, sent));
        if self.samples.len() > SAMPLES_MAX {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 1 || at > SAMPLES_MAX / 2
            });
        }
    }

    /// What the job, which started at tick `start`, lost in and around the ticks of `contended`.
    pub(super) fn lost(&self, start: i64, contended: &BTreeMap<i64, f64>, tick_s: f64) -> Option<Measured> {
        let (mut quiet, mut block) = (Vec::new(), Piece { ticks: 0.0, bytes: 0.0 });
        let mut slowed = Piece { ticks: 0.0, bytes: 0.0 };
        for pair in self.samples.windows(2) {
            let (from, to) = (pair[0].0, pair[1].0);
            let piece = Piece { ticks: (to - from) as f64, bytes: pair[1].1 - pair[0].1 };
            let near = from - AROUND_TICKS..=to + AROUND_TICKS;
            if contended.range(near).next().is_some() {
                slowed = slowed.plus(piece);
                block = Piece { ticks: 0.0, bytes: 0.0 };
            } else if from >= start + SETTLES_TICKS {
                block = block.plus(piece);
                if block.ticks >= BLOCK_TICKS as f64 {
                    quiet.push(std::mem::replace(&mut block, Piece { ticks: 0.0, bytes: 0.0 }));
                }
            }
        }
        let (rate, spread) = even(&quiet)?;
        let lost_ticks = slowed.ticks - slowed.bytes / rate;
        let own = spread * (BLOCK_TICKS as f64 * slowed.ticks).sqrt();
        let of_rate = spread * slowed.ticks / (quiet.len() as f64).sqrt();
        let least = (LEAST_ERROR * lost_ticks).hypot(EDGE_TICKS);
        Some(Measured {
            lost_s: lost_ticks * tick_s,
            error_s: (2.0 * own.hypot(of_rate)).hypot(least) * tick_s,
        })
    }
}

impl Piece {
    fn plus(self, later: Piece) -> Piece {
        Piece { ticks: self.ticks + later.ticks, bytes: self.bytes + later.bytes }
    }
}

/// Bytes a tick of quiet blocks and their relative spread; `None` if there are too few, or they differ too much.
fn even(quiet: &[Piece]) -> Option<(f64, f64)> {
    let all = quiet.iter().fold(Piece { ticks: 0.0, bytes: 0.0 }, |sum, piece| sum.plus(*piece));
    let rate = all.bytes / all.ticks;
    if quiet.len() < BLOCKS_LEAST || rate <= 0.0 {
        return None;
    }
    let off = |piece: &Piece| (piece.bytes / piece.ticks / rate - 1.0).powi(2);
    let variance = quiet.iter().map(off).sum::<f64>() / (quiet.len() - 1) as f64;
    let spread = variance.sqrt().max(SPREAD.start);
    (spread < SPREAD.end).then_some((rate, spread))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a job that sends `rate(tick)` bytes in each tick up to 600.
    fn progress(rate: impl Fn(i64) -> f64) -> Progress {
        let mut sent = 0.0;
        let mut samples = Vec::new();
        for tick in 0..600 {
            if tick % SAMPLE_TICKS == 0 {
                samples.push((tick, sent));
            }
            sent += rate(tick);
        }
        Progress { samples }
    }

    fn contended() -> BTreeMap<i64, f64> {
        (200..300).map(|tick| (tick, 0.5)).collect()
    }

    #[test]
    fn what_a_job_sends_less_is_what_it_lost() {
        let fell = |tick: i64| if (200..300).contains(&tick) { 80.0 } else { 100.0 };
        let found = progress(fell).lost(0, &contended(), 1.0).unwrap();
        assert!((found.lost_s - 20.0).abs() < 0.1 && found.error_s < 2.0, "{found:?}");
    }

    #[test]
    fn a_job_that_sends_as_before_lost_nothing() {
        let found = progress(|_| 100.0).lost(0, &contended(), 1.0).unwrap();
        assert!(found.lost_s.abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_job_that_sends_in_bursts_or_was_never_quiet_shows_nothing() {
        let bursts = |tick: i64| if tick / 40 % 2 == 0 { 100.0 } else { 0.0 };
        assert_eq!(progress(bursts).lost(0, &contended(), 1.0), None);
        let always = (0..600).map(|tick| (tick, 0.5)).collect();
        assert_eq!(progress(|_| 100.0).lost(0, &always, 1.0), None);
    }
}
