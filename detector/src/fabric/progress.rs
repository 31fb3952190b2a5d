//! The progress of jobs: what their own nodes send into the network.
//!
//! A job that waits sends less, whichever of its flows it waits for. `pace.rs` measures by it what stalls cost, without an assumption
//! about the job's coupling.

use super::links::{Links, out_of};
use super::sent::GRID_TICKS;
use super::tick::AGAIN_TICKS;
use schemas::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use topology::Topology;

/// Ticks after which a sample is known exactly: all series that move were reported again.
const SURE_TICKS: i64 = AGAIN_TICKS + GRID_TICKS;
/// Samples of a job; beyond it every other of the older half is dropped.
const SAMPLES_MAX: usize = 720;
/// Ticks around a contended one that are no quiet ones: the mean of a link may cover both.
pub(super) const AROUND_TICKS: i64 = 15;
/// Ticks of a block of quiet time, by whose spread the job's evenness is judged, and how many blocks it takes.
pub(super) const BLOCK_TICKS: i64 = 10;
/// See [`BLOCK_TICKS`].
const BLOCKS_LEAST: usize = 3;
/// Ticks after its start in which a job does not yet send as later.
pub(super) const SETTLES_TICKS: i64 = 10;
/// Relative spread of quiet blocks above which a job sends too unevenly, and what it is at least assumed to be.
pub(super) const SPREAD: std::ops::Range<f64> = 0.005..0.08;
/// What the error of a loss is at least: a part of it, and ticks at the edges of contention.
pub(super) const LEAST_ERROR: f64 = 0.03;
pub(super) const EDGE_TICKS: f64 = 1.0;
/// Part of what a job sends without stalls below which it pauses.
pub(super) const PAUSES: f64 = 0.4;
/// Ticks without a report after which what a node sends is unknown.
const STALE_TICKS: i64 = 45;

/// What the nodes of a job sent so far, sample by sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Tick, and bytes sent up to it; not a number where a row of its nodes was missing.
    samples: Vec<(i64, f64)>,
    phase: Phase,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    Running,
    /// Its end is known, and nothing after it is sampled.
    Ended,
    /// All samples are exact.
    Settled,
}

/// What a job lost by its progress, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// What it lost.
    pub(super) lost_s: f64,
    /// Lower end of the 95% interval, below 0 where it is not sure that it lost anything.
    pub(super) least_s: f64,
    /// Upper end.
    pub(super) most_s: f64,
}

impl Measured {
    /// The same of a loss that is so many times as large.
    pub(super) fn times(self, times: f64) -> Measured {
        Measured { lost_s: self.lost_s * times, least_s: self.least_s * times, most_s: self.most_s * times }
    }
}

/// A stretch between two samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) ticks: f64,
    pub(super) bytes: f64,
}

impl Progress {
    /// Of these samples.
    #[cfg(test)]
    pub(super) fn of(samples: Vec<(i64, f64)>) -> Progress {
        Progress { samples, phase: Phase::Running }
    }

    #[cfg(test)]
    pub(super) fn samples(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        self.samples.iter().copied()
    }

    /// Whether no sample changes any more.
    pub(super) fn is_settled(&self) -> bool {
        self.phase == Phase::Settled
    }

    /// Notes what the nodes of `job`, which runs from and to these ticks, sent up to `now`. The latest samples are taken again:
    /// they were not exact. Returns whether the job ended since the last time, or was settled.
    pub(super) fn sample(
        &mut self,
        job: &Job,
        (start, end): (i64, Option<i64>),
        now: i64,
        links: &Links,
        topology: &Topology,
    ) -> bool {
        let until = end.map_or(now, |end| end.min(now)).div_euclid(GRID_TICKS) * GRID_TICKS;
        // However late an end becomes known, the samples are the same.
        self.samples.retain(|(at, _)| *at <= until.min(now - SURE_TICKS));
        let next = self.samples.last().map_or(i64::MIN, |(latest, _)| latest + GRID_TICKS);
        let kept = until - SURE_TICKS;
        let first = (start + GRID_TICKS - 1).div_euclid(GRID_TICKS) * GRID_TICKS;
        for tick in (next.max(first).max(kept)..=until).step_by(GRID_TICKS as usize) {
            let sent = sent_until(job, tick, links, topology);
            let was_known = self.samples.last().is_some_and(|(_, sent)| !sent.is_nan());
            if sent.is_some() || was_known {
                self.samples.push((tick, sent.unwrap_or(f64::NAN)));
            }
        }
        if self.samples.len() > SAMPLES_MAX {
            self.thin();
        }
        let phase = match end {
            // An end that was presumed may become a later one.
            None => Phase::Running,
            Some(end) if now - end < SURE_TICKS => Phase::Ended,
            Some(_) => Phase::Settled,
        };
        std::mem::replace(&mut self.phase, phase) != phase && phase != Phase::Running
    }

    /// Drops every other sample of the older half; a gap stays one.
    fn thin(&mut self) {
        let newer = self.samples.split_off(SAMPLES_MAX / 2);
        let kept = |pair: &[(i64, f64)]| (pair[1].0, if pair[0].1.is_nan() { f64::NAN } else { pair[1].1 });
        self.samples = self.samples.chunks_exact(2).map(kept).chain(newer).collect();
    }

    /// First tick, last tick and bytes between two samples.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (i64, i64, Piece)> {
        self.samples.windows(2).map(|pair| {
            let [(from, before), (to, after)] = [pair[0], pair[1]];
            (from, to, Piece { ticks: (to - from) as f64, bytes: after - before })
        })
    }

    /// The tick at which the job begins to send, or is kept from it: many read and divide their input first, which is no pace to
    /// compare with.
    pub(super) fn begins(&self, contended: &BTreeMap<i64, f64>) -> i64 {
        let known = || self.pieces().filter(|(.., piece)| !piece.bytes.is_nan());
        let all = known().fold(Piece::NONE, |sum, (.., piece)| sum.plus(piece));
        let least = PAUSES * all.bytes / all.ticks.max(1.0);
        let has_begun = |(from, to, piece): &(i64, i64, Piece)| {
            piece.bytes > least * piece.ticks || is_near(contended, *from, *to, AROUND_TICKS)
        };
        let first = known().find(has_begun);
        first.map_or(i64::MIN, |(from, ..)| from)
    }
}

/// What the nodes of `job` sent up to `tick`; `None` if one of them is not measured or a row of it is missing.
fn sent_until(job: &Job, tick: i64, links: &Links, topology: &Topology) -> Option<f64> {
    let mut sent = 0.0;
    for node in &job.nodes {
        let mut measured = out_of(topology, topology.vertex(node.as_str())?)
            .filter(|link| links.of_link(*link).is_some())
            .peekable();
        if measured.peek().is_none() {
            sent += links.sent_by(node, tick, STALE_TICKS)?;
        }
        for link in measured {
            sent += links.sent_until(link, tick, STALE_TICKS)?;
        }
    }
    Some(sent)
}

/// Whether contention is in these ticks, or so many around them.
pub(super) fn is_near(contended: &BTreeMap<i64, f64>, from: i64, to: i64, ticks: i64) -> bool {
    contended.range(from - ticks..=to + ticks).next().is_some()
}

impl Piece {
    pub(super) const NONE: Piece = Piece { ticks: 0.0, bytes: 0.0 };

    /// Bytes a tick.
    pub(super) fn rate(&self) -> f64 {
        self.bytes / self.ticks
    }

    pub(super) fn plus(self, later: Piece) -> Piece {
        Piece { ticks: self.ticks + later.ticks, bytes: self.bytes + later.bytes }
    }
}

/// Bytes a tick of quiet blocks and their relative spread; `None` if there are too few, or they differ too much.
pub(super) fn even(quiet: &[Piece]) -> Option<(f64, f64)> {
    let all = quiet.iter().fold(Piece::NONE, |sum, piece| sum.plus(*piece));
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
mod tests;
