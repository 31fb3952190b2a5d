//! The progress of jobs: what their own nodes send into the network.
//!
//! A job that waits sends less, whichever of its flows it waits for. So what its nodes send, beside what they send while none of
//! its links is contended, measures what stalls cost it without an assumption about its coupling. A job that was never quiet
//! shows it by what it sends at several levels of stalls ([`Fit`]). Of one that pauses or sends unevenly stalls alone count.

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
pub(super) const BLOCK_TICKS: i64 = 10;
/// See [`BLOCK_TICKS`].
const BLOCKS_LEAST: usize = 3;
/// Ticks after its start in which a job does not yet send as later.
pub(super) const SETTLES_TICKS: i64 = 10;
/// Relative spread of quiet blocks above which a job sends too unevenly, and what it is at least assumed to be.
const SPREAD: std::ops::Range<f64> = 0.005..0.08;
/// What the error of a loss is at least: a part of it, and ticks at the edges of contention.
pub(super) const LEAST_ERROR: f64 = 0.03;
const EDGE_TICKS: f64 = 1.0;
/// Change of the loss of the slowest flow in and around a piece up to which that is steady; pieces, and difference of their levels,
/// from which they show what the job would send without stalls.
const STEADY: f64 = 0.08;
const STEADY_LEAST: usize = 8;
const LEVELS_LEAST: f64 = 0.03;
/// Steps in which the part of the loss that a job feels is sought, from 0 to 1.
const FELT_STEPS: u32 = 20;
/// Part of what a job sends without stalls below which it pauses.
pub(super) const PAUSES: f64 = 0.4;
/// Part of the pieces that a fit takes.
const KEPT: f64 = 0.85;
/// Relative error of a fit by what stalls do not show.
const MODEL_ERROR: f64 = 0.02;
/// Ticks without a report after which what a node sends is unknown.
const STALE_TICKS: i64 = 45;

/// What the nodes of a job sent so far, sample by sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Tick, and bytes sent up to it; not a number where a row of its nodes was missing.
    samples: Vec<(i64, f64)>,
    /// Whether the job's end is known, and nothing after it is sampled.
    has_ended: bool,
}

/// What a job lost by its progress, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// What it lost.
    pub(super) lost_s: f64,
    /// Half width of the 95% interval.
    pub(super) error_s: f64,
}

impl Measured {
    /// The same of a loss that is so many times as large.
    pub(super) fn times(self, times: f64) -> Measured {
        Measured { lost_s: self.lost_s * times, error_s: self.error_s * times }
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
        Progress { samples, has_ended: false }
    }

    /// The job ended at `tick`: what its nodes sent later is not of it. Whether that was not known before. However late it becomes
    /// known, the samples are the same.
    pub(super) fn end(&mut self, tick: i64) -> bool {
        self.samples.retain(|(at, _)| *at <= tick);
        !std::mem::replace(&mut self.has_ended, true)
    }

    /// Whether the job's end is known.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended
    }

    /// Notes what the nodes of `job` sent up to `tick`, or that it is unknown.
    pub(super) fn sample(&mut self, job: &Job, tick: i64, links: &Links, topology: &Topology) {
        // An end that was presumed may become a later one.
        self.has_ended = false;
        if self.samples.last().is_some_and(|(latest, _)| *latest >= tick) {
            return;
        }
        let sent = sent_until(job, tick, links, topology);
        let was_known = self.samples.last().is_some_and(|(_, sent)| !sent.is_nan());
        if sent.is_some() || was_known {
            self.samples.push((tick, sent.unwrap_or(f64::NAN)));
        }
        if self.samples.len() > SAMPLES_MAX {
            self.thin();
        }
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
    fn begins(&self, contended: &BTreeMap<i64, f64>) -> i64 {
        let known = || self.pieces().filter(|(.., piece)| !piece.bytes.is_nan());
        let all = known().fold(Piece::NONE, |sum, (.., piece)| sum.plus(piece));
        let least = PAUSES * all.bytes / all.ticks.max(1.0);
        let has_begun = |(from, to, piece): &(i64, i64, Piece)| {
            piece.bytes > least * piece.ticks || is_near(contended, *from, *to)
        };
        let first = known().find(has_begun);
        first.map_or(i64::MIN, |(from, ..)| from)
    }

    /// What the job, which started at tick `start`, lost in and around the ticks of `contended`.
    pub(super) fn lost(&self, start: i64, contended: &BTreeMap<i64, f64>, tick_s: f64) -> Option<Measured> {
        let start = start.max(self.begins(contended));
        let (mut quiet, mut block, mut slowed) = (Vec::new(), Piece::NONE, Piece::NONE);
        for (from, to, piece) in self.pieces().filter(|(from, ..)| *from >= start) {
            if is_near(contended, from, to) {
                slowed = slowed.plus(piece);
                block = Piece::NONE;
            } else if piece.bytes.is_nan() {
                block = Piece::NONE;
            } else if from >= start + SETTLES_TICKS {
                block = block.plus(piece);
                if block.ticks >= BLOCK_TICKS as f64 {
                    quiet.push(std::mem::replace(&mut block, Piece::NONE));
                }
            }
        }
        // Of seconds without rows nothing is known.
        if slowed.bytes.is_nan() {
            return None;
        }
        let Some((rate, spread)) = even(&quiet) else { return self.by_levels(start, contended, tick_s) };
        let lost_ticks = slowed.ticks - slowed.bytes / rate;
        let own = spread * (BLOCK_TICKS as f64 * slowed.ticks).sqrt();
        let of_rate = spread * slowed.ticks / (quiet.len() as f64).sqrt();
        let least = (LEAST_ERROR * lost_ticks).hypot(EDGE_TICKS);
        let found = Measured {
            lost_s: lost_ticks * tick_s,
            error_s: (2.0 * own.hypot(of_rate)).hypot(least) * tick_s,
        };
        Some(found.times(self.all_over_sampled(start, contended)?))
    }

    /// The same for a job that hardly ran without contention: what it sends at several levels of stalls shows how much of the loss
    /// of its slowest flow it feels, and so what it would send without.
    fn by_levels(&self, start: i64, contended: &BTreeMap<i64, f64>, tick_s: f64) -> Option<Measured> {
        let (mut steady, mut slowed) = (Vec::new(), Piece::NONE);
        for (from, to, piece) in self.pieces().filter(|(from, ..)| *from >= start) {
            if is_near(contended, from, to) {
                slowed = slowed.plus(piece);
            }
            let level = |ticks: std::ops::RangeInclusive<i64>| {
                let count = ticks.clone().count().max(1) as f64;
                contended.range(ticks).map(|(_, lost_s)| lost_s / tick_s).sum::<f64>() / count
            };
            let lost = level(from + 1..=to);
            let around = [level(from - AROUND_TICKS..=from), level(to..=to + AROUND_TICKS)];
            let is_steady = around.iter().all(|near| (near - lost).abs() <= STEADY);
            if is_steady && !piece.bytes.is_nan() && from >= start + SETTLES_TICKS {
                steady.push((piece, lost));
            }
        }
        let times = self.all_over_sampled(start, contended)?;
        by_fits(&steady, slowed, tick_s).map(|found| found.times(times))
    }

    /// What stalls cost in all over what they cost while the job was sampled, which is not up to its last seconds. `None` where less
    /// than half was sampled: the rest may have been otherwise.
    fn all_over_sampled(&self, start: i64, contended: &BTreeMap<i64, f64>) -> Option<f64> {
        let ((first, _), (last, _)) = (self.samples.first()?, self.samples.last()?);
        let sampled = contended.range(start.max(*first) + 1..=(*last).max(start.max(*first) + 1));
        let sampled_s: f64 = sampled.map(|(_, lost_s)| lost_s).sum();
        let all_s: f64 = contended.values().sum();
        (2.0 * sampled_s >= all_s && all_s > 0.0).then(|| all_s / sampled_s)
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

/// Whether contention is in or around these ticks.
pub(super) fn is_near(contended: &BTreeMap<i64, f64>, from: i64, to: i64) -> bool {
    contended.range(from - AROUND_TICKS..=to + AROUND_TICKS).next().is_some()
}

/// What a job lost in `slowed`, by its steady pieces and the loss of its slowest flow in them.
fn by_fits(steady: &[(Piece, f64)], slowed: Piece, tick_s: f64) -> Option<Measured> {
    let levels = steady.iter().map(|(_, lost)| *lost);
    let [least, most] = levels.fold([f64::MAX, 0.0_f64], |[a, b], lost| [a.min(lost), b.max(lost)]);
    if steady.len() < STEADY_LEAST || most - least < LEVELS_LEAST {
        return None;
    }
    let fits = (0..=FELT_STEPS).map(|step| Fit::of(steady, f64::from(step) / f64::from(FELT_STEPS)));
    let fits: Vec<Fit> = fits.collect();
    let best = fits.iter().min_by(|a, b| a.variance.total_cmp(&b.variance))?;
    // Of a job that pauses a pause would count as a loss.
    let pauses = |(piece, _): &(Piece, f64)| piece.bytes < PAUSES * best.rate * piece.ticks;
    if best.variance.sqrt() >= SPREAD.end || steady.iter().any(pauses) {
        return None;
    }
    let pieces = steady.len() as f64 / 2.0;
    let unsure = 4.0 * best.variance / pieces + MODEL_ERROR.powi(2);
    let lost = |fit: &Fit| slowed.ticks - slowed.bytes / fit.rate;
    let accepted = || fits.iter().filter(|fit| fit.variance <= best.variance + unsure);
    let weight = |fit: &Fit| (-2.0 * (fit.variance - best.variance) / unsure).exp();
    let weights: f64 = accepted().map(weight).sum();
    let mean = accepted().map(|fit| weight(fit) * lost(fit)).sum::<f64>() / weights;
    let off = accepted().map(|fit| (lost(fit) - mean).abs()).fold(0.0, f64::max);
    let error = off.hypot(EDGE_TICKS).hypot(LEAST_ERROR * mean);
    Some(Measured { lost_s: mean * tick_s, error_s: error * tick_s })
}

/// What a job would send without stalls, if it feels a part of what its slowest flow loses.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Bytes a tick.
    rate: f64,
    /// Mean square of what it sends off what it should, relative to `rate`.
    variance: f64,
}

impl Fit {
    /// By least squares over pieces and the loss of the slowest flow in them, without those that are off most: what is read
    /// around a change is blurred.
    fn of(pieces: &[(Piece, f64)], felt: f64) -> Fit {
        let all = Fit::over(pieces, felt);
        let mut kept = pieces.to_vec();
        kept.sort_by(|a, b| all.off(a, felt).total_cmp(&all.off(b, felt)));
        kept.truncate((pieces.len() as f64 * KEPT).ceil() as usize);
        Fit::over(&kept, felt)
    }

    fn over(pieces: &[(Piece, f64)], felt: f64) -> Fit {
        let (mut above, mut below, mut ticks) = (0.0, 0.0, 0.0);
        for (piece, lost) in pieces {
            let speed = 1.0 - felt * lost;
            above += piece.bytes * speed;
            below += piece.ticks * speed * speed;
            ticks += piece.ticks;
        }
        let fit = Fit { rate: above / below.max(1e-9), variance: 0.0 };
        let squares = pieces.iter().map(|piece| piece.0.ticks * fit.off(piece, felt).powi(2));
        Fit { variance: squares.sum::<f64>() / ticks.max(1.0), ..fit }
    }

    /// By how much a piece is off, relative to `rate`.
    fn off(&self, (piece, lost): &(Piece, f64), felt: f64) -> f64 {
        (piece.bytes / piece.ticks / self.rate.max(1e-9) - (1.0 - felt * lost)).abs()
    }
}

impl Piece {
    pub(super) const NONE: Piece = Piece { ticks: 0.0, bytes: 0.0 };

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
