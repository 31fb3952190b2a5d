//! What a job lost, by what its nodes send beside what they send without contention.
//!
//! Without contention a job sends as in its quiet stretches. One that was never quiet is judged by its fastest stretch: how much it
//! was slowed even there, stalls show, but for the part of the slowest flow's loss that it feels. Pauses are no loss.

use super::progress::{
    AROUND_TICKS, EDGE_TICKS, LEAST_ERROR, Measured, Piece, Progress, SETTLES_TICKS, SPREAD, even, is_near,
};
use std::collections::BTreeMap;

/// Ticks around a contended one in which a job may be slowed too, and in which no stretch is a quiet one if there are not enough
/// farther away.
const SLOWED_TICKS: i64 = AROUND_TICKS;
const QUIET_TICKS: i64 = 5;
/// Ticks without contention after its start from which what is quiet later is so too.
const QUIET_BEFORE_TICKS: i64 = 30;
/// Stretches from which a job's pace shows, and quiet ones.
const STRETCHES_LEAST: usize = 4;
const QUIET_LEAST: usize = 3;
/// Ticks of the fastest stretch.
const FASTEST_TICKS: f64 = 10.0;
/// Quantile of the rates of stretches that stands for a job that does not pause.
const SENDS: f64 = 0.85;
/// Part of that below which a job pauses, and part of its neighbours' below which a short dip is a pause too.
const PAUSES: f64 = 0.1;
const DIPS: f64 = 0.8;
/// How much less a pause must be than stalls explain.
const UNEXPLAINED: f64 = 0.15;
/// Steps in which the part of the loss that a job feels is sought, from 0 to 1.
const FELT_STEPS: u32 = 20;
/// Part of the stretches that a fit takes: what is read around a change is blurred.
const KEPT: f64 = 0.85;
/// Relative error of a fit by what stalls do not show.
const MODEL_ERROR: f64 = 0.1;
/// What the fastest of several stretches is above the mean by chance, in standard deviations per `sqrt(2 ln n)`.
const BY_CHANCE: f64 = 0.6;
/// What a job may lose, as a part, while no contention is seen.
const UNSEEN: f64 = 0.008;
/// Most of a second that the fastest stretch can have lost.
const LOST_MOST: f64 = 0.8;

/// A stretch between two samples.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: i64,
    to: i64,
    piece: Piece,
    /// What its slowest flow lost by stalls, as a part.
    lost: f64,
}

/// Bytes a tick that a job sends without contention: the estimate and the ends of its 95% interval.
#[derive(Clone, Copy, Debug)]
struct Rate {
    value: f64,
    least: f64,
    most: f64,
    /// Relative standard deviation of the rate of a stretch of a tick.
    noise: f64,
}

impl Progress {
    /// What the job, which started at tick `start`, lost in and around the ticks of `contended`, in which its slowest flow lost so many
    /// seconds.
    pub(super) fn lost(&self, start: i64, contended: &BTreeMap<i64, f64>, tick_s: f64) -> Option<Measured> {
        let start = start.max(self.begins(contended));
        let stretches = without_pauses(&self.stretches(start, contended, tick_s));
        if stretches.len() < STRETCHES_LEAST {
            return None;
        }
        let settled: Vec<Stretch> =
            stretches.iter().filter(|of| of.from >= start + SETTLES_TICKS).copied().collect();
        let quiet = |around: i64| -> Vec<Piece> {
            let is_quiet = |of: &&Stretch| !is_near(contended, of.from, of.to, around);
            settled.iter().filter(is_quiet).map(|of| of.piece).collect()
        };
        let quiet =
            [SLOWED_TICKS, QUIET_TICKS].map(quiet).into_iter().find(|quiet| quiet.len() >= QUIET_LEAST);
        let rate = quiet.map_or_else(|| fastest_rate(&settled), |quiet| quiet_rate(&quiet))?;
        let slowed = stretches.iter().filter(|of| is_near(contended, of.from, of.to, SLOWED_TICKS));
        let (slowed, sampled_s) = slowed.fold((Piece::NONE, 0.0), |(sum, lost_s), of| {
            (sum.plus(of.piece), lost_s + of.lost * of.piece.ticks * tick_s)
        });
        // Of less than half nothing is known: the rest may have been otherwise.
        let all_s: f64 = contended.values().sum();
        if 2.0 * sampled_s < all_s || all_s <= 0.0 {
            return None;
        }
        let times = tick_s * all_s / sampled_s;
        let lost_s = |rate: f64| times * (slowed.ticks - slowed.bytes / rate);
        let value_s = lost_s(rate.value);
        // What seemed quiet between stretches of contention may have been slowed too.
        let was_quiet =
            contended.first_key_value().is_none_or(|(first, _)| first - start >= QUIET_BEFORE_TICKS);
        let unseen =
            stretches.iter().filter(|of| !was_quiet && !is_near(contended, of.from, of.to, SLOWED_TICKS));
        let unseen = unseen.fold(Piece::NONE, |sum, of| sum.plus(of.piece));
        let unseen_s = tick_s * (unseen.ticks - unseen.bytes / rate.most).max(0.0);
        let noise_s = 2.0 * times * rate.noise * slowed.ticks.sqrt();
        let error_s = noise_s.hypot(LEAST_ERROR * value_s).hypot(EDGE_TICKS * tick_s);
        Some(Measured {
            lost_s: value_s,
            least_s: lost_s(rate.least) - error_s,
            most_s: lost_s(rate.most) + unseen_s + error_s,
        })
    }

    fn stretches(&self, start: i64, contended: &BTreeMap<i64, f64>, tick_s: f64) -> Vec<Stretch> {
        let lost = |from: i64, to: i64| {
            contended.range(from + 1..=to).map(|(_, lost_s)| lost_s / tick_s).sum::<f64>()
                / (to - from) as f64
        };
        self.pieces()
            .filter(|(from, _, piece)| *from >= start && !piece.bytes.is_nan())
            .map(|(from, to, piece)| Stretch { from, to, piece, lost: lost(from, to) })
            .collect()
    }
}

impl Stretch {
    fn rate(&self) -> f64 {
        self.piece.rate()
    }
}

/// The stretches in which the job does not pause. Those beside a pause are partly one.
fn without_pauses(all: &[Stretch]) -> Vec<Stretch> {
    let mut rates: Vec<f64> = all.iter().map(Stretch::rate).collect();
    rates.sort_by(f64::total_cmp);
    let Some(sends) = rates.get((SENDS * rates.len() as f64) as usize).copied() else { return Vec::new() };
    let most = |of: &[Stretch], by: fn(&Stretch) -> f64| of.iter().map(by).fold(0.0, f64::max);
    let is_pause = |at: usize| {
        let (of, around) = (&all[at], &all[at.saturating_sub(2)..all.len().min(at + 3)]);
        let (before, after) = (&all[at.saturating_sub(2)..at], &all[at + 1..all.len().min(at + 3)]);
        let is_unexplained = |lost: f64| 1.0 - of.rate() / sends > lost + UNEXPLAINED;
        let is_dip = of.rate() < DIPS * most(before, Stretch::rate).min(most(after, Stretch::rate));
        of.rate() < PAUSES * sends && is_unexplained(most(around, |of| of.lost))
            || is_dip && is_unexplained(of.lost)
    };
    let pauses: Vec<bool> = (0..all.len()).map(is_pause).collect();
    let is_clear = |at: &usize| !pauses[at.saturating_sub(1)..all.len().min(at + 2)].contains(&true);
    (0..all.len()).filter(is_clear).map(|at| all[at]).collect()
}

/// Of a job that was quiet. One of its quiet stretches may have been slowed, unseen.
fn quiet_rate(quiet: &[Piece]) -> Option<Rate> {
    let (value, spread) = even(quiet)?;
    let mut rates: Vec<f64> = quiet.iter().map(Piece::rate).collect();
    rates.sort_by(f64::total_cmp);
    let error = 2.0 * spread / (quiet.len() as f64).sqrt();
    let high = rates[(rates.len() * 9 / 10).min(rates.len() - 1)];
    let ticks = quiet.iter().map(|piece| piece.ticks).sum::<f64>() / quiet.len() as f64;
    Some(Rate {
        value,
        least: value * (1.0 - error),
        most: high.max(value * (1.0 + error)) / (1.0 - UNSEEN),
        noise: spread * ticks.sqrt(),
    })
}

/// Of a job that was never quiet.
fn fastest_rate(settled: &[Stretch]) -> Option<Rate> {
    let [felt, error] = felt(settled)?;
    let noise = noise_of(settled);
    let windows = windows(settled);
    let fastest = windows.iter().max_by(|a, b| a.rate().total_cmp(&b.rate()))?;
    let sd = noise / fastest.piece.ticks.sqrt();
    let chance = BY_CHANCE * sd * (2.0 * (windows.len() as f64).max(1.5).ln()).sqrt();
    let sent = fastest.rate() / (1.0 + chance);
    let rate = |felt: f64| sent / (1.0 - (fastest.lost * felt.clamp(0.0, 1.0)).min(LOST_MOST));
    Some(Rate {
        value: rate(felt),
        least: rate(felt - error) * (1.0 - 2.0 * sd),
        most: rate(felt + error) * (1.0 + 2.0 * sd),
        noise,
    })
}

/// Consecutive stretches, together as long as the fastest one is to be.
fn windows(settled: &[Stretch]) -> Vec<Stretch> {
    let from = |at: usize| {
        let mut sum = settled[at];
        for next in &settled[at + 1..] {
            if sum.piece.ticks >= FASTEST_TICKS || next.from != sum.to {
                break;
            }
            let (own, other) = (sum.piece.ticks, next.piece.ticks);
            let lost = (sum.lost * own + next.lost * other) / (own + other);
            sum = Stretch { from: sum.from, to: next.to, piece: sum.piece.plus(next.piece), lost };
        }
        sum
    };
    (0..settled.len()).map(from).filter(|of| of.piece.ticks >= FASTEST_TICKS).collect()
}

/// Relative standard deviation of what a job sends in a tick, by the median difference of neighbouring stretches.
fn noise_of(settled: &[Stretch]) -> f64 {
    let off = |pair: &[Stretch]| {
        let [a, b] = [pair[0], pair[1]];
        let ticks = a.piece.ticks.min(b.piece.ticks);
        (a.rate() - b.rate()).abs() / a.rate().max(b.rate()).max(1e-9) * ticks.sqrt()
    };
    let mut differences: Vec<f64> = settled.windows(2).map(off).collect();
    differences.sort_by(f64::total_cmp);
    // The median of differences of two normal values is 0.954 standard deviations of one.
    let median = differences.get(differences.len() / 2).copied().unwrap_or(0.0) / 0.954;
    median.max(SPREAD.start)
}

/// Which part of the loss of its slowest flow a job feels, and the half width of its 95% interval; `None` if it sends too unevenly.
fn felt(settled: &[Stretch]) -> Option<[f64; 2]> {
    let steps = (0..=FELT_STEPS).map(|step| f64::from(step) / f64::from(FELT_STEPS));
    let fits: Vec<(f64, f64)> = steps.map(|felt| (felt, variance(settled, felt))).collect();
    let best = fits.iter().map(|(_, variance)| *variance).reduce(f64::min)?;
    if best.sqrt() >= SPREAD.end {
        return None;
    }
    let unsure = 8.0 * best / settled.len() as f64 + MODEL_ERROR.powi(2);
    let weight = |variance: f64| (-2.0 * (variance - best) / unsure).exp();
    let sums = fits.iter().fold([0.0; 3], |[all, first, second], (felt, variance)| {
        let weight = weight(*variance);
        [all + weight, first + weight * felt, second + weight * felt * felt]
    });
    let mean = sums[1] / sums[0];
    Some([mean, 2.0 * (sums[2] / sums[0] - mean * mean).max(0.0).sqrt()])
}

/// Mean square by which stretches are off the line of a job that feels a part of the loss, without those that are off most.
fn variance(settled: &[Stretch], felt: f64) -> f64 {
    let (mut above, mut below) = (0.0, 0.0);
    for of in settled {
        let speed = 1.0 - felt * of.lost;
        above += of.piece.bytes * speed;
        below += of.piece.ticks * speed * speed;
    }
    let rate = (above / below).max(1e-9);
    let off = |of: &Stretch| (of.rate() / rate - (1.0 - felt * of.lost)).powi(2);
    let mut squares: Vec<f64> = settled.iter().map(off).collect();
    squares.sort_by(f64::total_cmp);
    squares.truncate(((settled.len() as f64 * KEPT).ceil() as usize).max(1));
    squares.iter().sum::<f64>() / squares.len() as f64
}

#[cfg(test)]
mod tests;
