//! Which configuration is best, and whether it is better than the default or only luckier.
//!
//! The objective, in this order: false seconds per series and hour within a limit; F1 of the seconds; error of the
//! slowdown. Both of the latter in steps of 0.001, so that differences below the resolution decide nothing. Of equals the first counts,
//! and the default is the first of all.

use super::facts::Facts;
use super::labels::Judged;
use super::losses::Loss;
use super::score::{Rules, Score, Scores, Window, wrong_s};
use schemas::Time;
use serde::Serialize;

/// Fewest true stretches, and jobs, for a comparison.
pub const TRUTHS_MIN: usize = 5;
/// Parts of the time in which two configurations are compared.
const SLICES: i64 = 20;
/// Standard errors from which a mean difference is no chance.
const CLEAR: f64 = 2.0;

/// Whether to take the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// None is better than the default.
    DefaultIsBest,
    /// There are too few true stretches to decide.
    TooFewTruths,
    /// One half of the time has no true stretch, so no choice can be tried on data that it was not made on.
    OneHalfWithoutTruth,
    /// What is best in one half is not better than the default in the other.
    NotConfirmed,
    /// The difference is within what chance does.
    WithinNoise,
    /// Better, in both halves and beyond chance.
    Better,
}

/// A choice on one half of the time, and what it is worth on the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// The candidate that is best in the half on which it was chosen.
    pub chosen: usize,
    /// Its scores there.
    pub there: Scores,
    /// Its scores in the other half.
    pub elsewhere: Scores,
    /// Those of the default in the other half.
    pub default_elsewhere: Scores,
}

/// What is proposed.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Candidates from the best to the worst.
    pub order: Vec<usize>,
    /// Scores of all candidates over all of the time, in their order.
    pub scores: Vec<Scores>,
    /// Chosen on the first half and tried on the second, and the other way round.
    pub folds: [Fold; 2],
    /// Whether to take the best.
    pub verdict: Verdict,
}

/// How good a score is; the least is the best.
type Rank = (u64, u64, u64);

impl Choice {
    /// Of all candidates' answers, that of the default first, at least one.
    pub fn of(judged: &Judged, facts: &[Facts], rules: Rules, false_max: f64) -> Choice {
        let over = |window| facts.iter().map(|facts| Scores::of(judged, facts, window, rules)).collect();
        let scores: Vec<Scores> = over(judged.span);
        let middle = Time(judged.span.0.0.midpoint(judged.span.1.0));
        let halves: [Vec<Scores>; 2] = [over((judged.span.0, middle)), over((middle, judged.span.1))];
        let folds = [fold(&halves[0], &halves[1], false_max), fold(&halves[1], &halves[0], false_max)];
        let order = ordered(&scores, false_max);
        let best = order.first().copied().unwrap_or(0);
        let verdict = match facts.get(best) {
            Some(of_best) if best > 0 => {
                let truths = halves.each_ref().map(|half| half[0].all.episodes_true);
                verdict(truths, &folds, false_max, || clearly_better(judged, &facts[0], of_best, rules))
            }
            _ => Verdict::DefaultIsBest,
        };
        Choice { order, scores, folds, verdict }
    }

    /// The best candidate.
    pub fn best(&self) -> usize {
        self.order.first().copied().unwrap_or(0)
    }
}

/// From the best to the worst.
fn ordered(scores: &[Scores], false_max: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // Stable: of equals the first stays first.
    order.sort_by_key(|at| rank(&scores[*at].all, false_max));
    order
}

fn rank(score: &Score, false_max: f64) -> Rank {
    let steps = |value: f64| (value * 1000.0).round() as u64;
    let beyond = if score.false_s_per_series_hour <= false_max { 0.0 } else { score.false_s_per_series_hour };
    // Nothing true and nothing found is a right answer.
    let missed = 1.0 - score.f1.unwrap_or(1.0);
    (steps(beyond), steps(missed), steps(score.slowdown.relative_error.unwrap_or(0.0)))
}

fn fold(there: &[Scores], elsewhere: &[Scores], false_max: f64) -> Fold {
    let chosen = ordered(there, false_max).first().copied().unwrap_or(0);
    Fold {
        chosen,
        there: there[chosen].clone(),
        elsewhere: elsewhere[chosen].clone(),
        default_elsewhere: elsewhere[0].clone(),
    }
}

fn verdict(truths: [usize; 2], folds: &[Fold; 2], false_max: f64, clear: impl FnOnce() -> bool) -> Verdict {
    let better =
        |fold: &Fold| rank(&fold.elsewhere.all, false_max) < rank(&fold.default_elsewhere.all, false_max);
    match () {
        () if truths[0] + truths[1] < TRUTHS_MIN => Verdict::TooFewTruths,
        () if truths.contains(&0) => Verdict::OneHalfWithoutTruth,
        () if !folds.iter().all(better) => Verdict::NotConfirmed,
        () if !clear() => Verdict::WithinNoise,
        () => Verdict::Better,
    }
}

/// Whether `other` is wrong for fewer seconds, slice by slice of the time, or wrong by fewer seconds about the loss of jobs,
/// beyond chance, and neither is clearly worse.
fn clearly_better(judged: &Judged, default: &Facts, other: &Facts, rules: Rules) -> bool {
    let by_slice =
        |window: &Window| wrong_s(judged, default, *window, rules) - wrong_s(judged, other, *window, rules);
    let seconds: Vec<f64> = slices(judged.span).iter().map(by_slice).collect();
    let errors = |facts| Loss::of_jobs(judged, facts, judged.span).map(|loss| loss.error_s());
    let jobs: Vec<f64> = errors(default).zip(errors(other)).map(|(before, after)| before - after).collect();
    let (seconds, jobs) = (standard_errors(&seconds), standard_errors(&jobs));
    seconds.max(jobs) > CLEAR && seconds.min(jobs) >= -CLEAR
}

/// Equal parts of a stretch of time.
fn slices((from, to): Window) -> Vec<Window> {
    let at = |n: i64| from + ((to - from) as i128 * i128::from(n) / i128::from(SLICES)) as i64;
    (0..SLICES).map(|n| (at(n), at(n + 1))).collect()
}

/// How many standard errors the mean of differences lies above 0; 0 where they are too few.
fn standard_errors(differences: &[f64]) -> f64 {
    let n = differences.len() as f64;
    if differences.len() < TRUTHS_MIN {
        return 0.0;
    }
    let mean = differences.iter().fold(0.0, |sum, x| sum + x) / n;
    let variance = differences.iter().fold(0.0, |sum, x| sum + (x - mean).powi(2)) / (n - 1.0);
    // Equal differences everywhere are beyond chance, but no difference at all is none.
    if mean.abs() < 1e-9 { 0.0 } else { mean / (variance / n).sqrt().max(1e-9) }
}

#[cfg(test)]
mod tests {
    use super::super::losses::LossScore;
    use super::super::score::tests::case;
    use super::*;

    const RULES: Rules = Rules { edge_s: 2.0 };

    fn scores(f1: f64, false_s_per_series_hour: f64, error: f64) -> Scores {
        let slowdown = LossScore {
            count: 1,
            truth_s: 1.0,
            estimate_s: 1.0,
            relative_error: Some(error),
            median_relative_error: None,
            within_interval: None,
        };
        let all = Score {
            precision: None,
            recall: None,
            f1: Some(f1),
            true_s: 1.0,
            found_s: 1.0,
            seen_s: 1.0,
            episodes_true: 1,
            episodes_found: 1,
            episodes_false: 0,
            latency_p50_s: None,
            latency_p99_s: None,
            start_off_p50_s: None,
            start_off_p99_s: None,
            false_s: 0.0,
            false_s_per_series_hour,
            false_s_per_hour: 0.0,
            slowdown,
        };
        Scores { all, metrics: Default::default() }
    }

    #[test]
    fn false_alarms_come_first_then_f1_then_the_loss() {
        let all = [
            scores(0.99, 1.5, 0.0),
            scores(0.90, 0.9, 0.0),
            scores(0.95, 0.0, 0.3),
            scores(0.95, 0.9, 0.2),
            scores(0.9502, 1.0, 0.2),
        ];
        assert_eq!(ordered(&all, 1.0), [3, 4, 2, 1, 0]);
        assert_eq!(ordered(&all, 2.0)[0], 0);
        assert_eq!(ordered(&[scores(0.9, 9.0, 0.0), scores(0.1, 8.0, 0.0)], 1.0), [1, 0]);
    }

    #[test]
    fn a_verdict_needs_truths_both_halves_and_more_than_chance() {
        let halves =
            |first: &[Scores], second: &[Scores]| [fold(first, second, 1.0), fold(second, first, 1.0)];
        let (worse, good) = (scores(0.8, 0.0, 0.1), scores(0.9, 0.0, 0.1));
        let both = halves(&[worse.clone(), good.clone()], &[worse.clone(), good.clone()]);
        let one = halves(&[worse.clone(), good.clone()], &[good, worse]);
        for (truths, folds, clear, want) in [
            ([2, 2], &both, true, Verdict::TooFewTruths),
            ([0, 9], &both, true, Verdict::OneHalfWithoutTruth),
            ([4, 4], &one, true, Verdict::NotConfirmed),
            ([4, 4], &both, false, Verdict::WithinNoise),
            ([4, 4], &both, true, Verdict::Better),
        ] {
            assert_eq!(verdict(truths, folds, 1.0, || clear), want);
        }
    }

    #[test]
    fn candidate_is_better_only_if_it_finds_clearly_more() {
        let truth: Vec<(i64, i64)> = (0..12).map(|n| (n * 300 + 100, n * 300 + 200)).collect();
        let (judged, perfect) = case(&truth, &[], &truth, &truth);
        let choice = |found: &[(i64, i64)]| {
            let (_, default) = case(&truth, &[], found, found);
            Choice::of(&judged, &[default, perfect.clone()], RULES, 1.0)
        };
        let missed = choice(&[]);
        assert_eq!((missed.best(), missed.verdict), (1, Verdict::Better));
        let little = choice(&[&[(110, 200)], &truth[1..11], &[(3410, 3500)]].concat());
        assert_eq!((little.best(), little.verdict), (1, Verdict::WithinNoise));
        let once = choice(&truth[1..]);
        assert_eq!((once.best(), once.verdict), (1, Verdict::NotConfirmed));
        assert_eq!(choice(&truth).verdict, Verdict::DefaultIsBest);
    }

    #[test]
    fn a_difference_that_one_slice_makes_is_chance() {
        let mut one = vec![0.0; 20];
        one[3] = 10.0;
        assert!(standard_errors(&one) < CLEAR);
        assert!(standard_errors(&[1.0, 1.2, 0.8, 1.0, 1.1]) > CLEAR);
        assert_eq!((standard_errors(&[0.0; 20]), standard_errors(&[5.0; 4])), (0.0, 0.0));
    }

    #[test]
    fn slices_cover_the_time_without_a_gap() {
        let parts = slices((Time(3), Time(1_000)));
        assert_eq!((parts[0].0, parts[19].1), (Time(3), Time(1_000)));
        assert!(parts.windows(2).all(|pair| pair[0].1 == pair[1].0));
    }
}
