//! Seconds lost: what was estimated against what is true.

use super::facts::{Facts, SeriesFacts};
use super::labels::{Judged, JudgedSeries};
use super::score::Window;
use serde::Serialize;

/// One estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Seconds truly lost.
    pub truth_s: f64,
    /// Estimate in seconds.
    pub estimate_s: f64,
    /// Lower end of its 95% interval, in seconds.
    pub lo_s: f64,
    /// Upper end of its 95% interval, in seconds.
    pub hi_s: f64,
}

/// How good estimates are; null where there is nothing to divide by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LossScore {
    /// Estimates whose truth is known.
    pub count: usize,
    /// Seconds truly lost, in all.
    pub truth_s: f64,
    /// Seconds estimated, in all.
    pub estimate_s: f64,
    /// Sum of |estimate - truth| over the sum of truths: no error makes up for another.
    pub relative_error: Option<f64>,
    /// Median of |estimate - truth| / truth, over those that lost something.
    pub median_relative_error: Option<f64>,
    /// Part of those that lost something whose 95% interval holds the truth; null for a model without intervals.
    pub within_interval: Option<f64>,
}

impl Loss {
    /// Of the jobs that end in a stretch of time, in the order of their numbers. A job without a result lost
    /// nothing.
    pub fn of_jobs<'a>(
        judged: &'a Judged,
        facts: &'a Facts,
        window: Window,
    ) -> impl Iterator<Item = Loss> + 'a {
        // What ends with the rows ends within the last part of them.
        let inside = move |job: &&super::labels::JudgedJob| {
            window.0 <= job.end && (job.end < window.1 || window.1 >= judged.span.1)
        };
        judged.jobs.iter().filter(inside).map(|job| {
            let result = facts.results.get(&job.job_id);
            let (estimate_s, lo_s, hi_s) =
                result.map_or((0.0, 0.0, 0.0), |r| (r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s));
            Loss { truth_s: job.slowdown_s, estimate_s, lo_s, hi_s }
        })
    }

    /// Of a series whose loss the truth contains: all of its episodes together, their errors independent.
    pub fn of_series(series: &JudgedSeries, said: &SeriesFacts) -> Option<Loss> {
        let truth_s = series.slowdown_s?;
        let estimate_s = said.episodes.values().fold(0.0, |sum, e| sum + e.slowdown_s);
        let half_s = said.episodes.values().fold(0.0, |sum, e| sum + e.half_width_s.powi(2)).sqrt();
        Some(Loss { truth_s, estimate_s, lo_s: estimate_s - half_s, hi_s: estimate_s + half_s })
    }

    /// How far the estimate is off, in seconds.
    pub fn error_s(&self) -> f64 {
        (self.estimate_s - self.truth_s).abs()
    }
}

impl LossScore {
    /// Of all estimates, of a model that gives intervals or of one that gives none.
    pub fn of(losses: &[Loss], with_intervals: bool) -> LossScore {
        let sum = |of: fn(&Loss) -> f64| losses.iter().fold(0.0, |sum, loss| sum + of(loss));
        let (truth_s, error_s) = (sum(|loss| loss.truth_s), sum(Loss::error_s));
        let lossy: Vec<&Loss> = losses.iter().filter(|loss| loss.truth_s > 0.0).collect();
        let relative: Vec<f64> = lossy.iter().map(|loss| loss.error_s() / loss.truth_s).collect();
        let held = lossy.iter().filter(|loss| loss.lo_s <= loss.truth_s && loss.truth_s <= loss.hi_s).count();
        LossScore {
            count: losses.len(),
            truth_s,
            estimate_s: sum(|loss| loss.estimate_s),
            relative_error: (truth_s > 0.0).then(|| error_s / truth_s),
            median_relative_error: quantile(&relative, 0.5),
            within_interval: (with_intervals && !lossy.is_empty()).then(|| held as f64 / lossy.len() as f64),
        }
    }
}

/// The value that a part of all lies at or below (nearest rank).
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(truth_s: f64, estimate_s: f64, half_s: f64) -> Loss {
        Loss { truth_s, estimate_s, lo_s: estimate_s - half_s, hi_s: estimate_s + half_s }
    }

    #[test]
    fn errors_do_not_make_up_for_each_other() {
        let score =
            LossScore::of(&[loss(100.0, 110.0, 20.0), loss(50.0, 40.0, 5.0), loss(0.0, 3.0, 0.0)], true);
        assert_eq!((score.count, score.truth_s, score.estimate_s), (3, 150.0, 153.0));
        assert_eq!(score.relative_error, Some(23.0 / 150.0));
        assert_eq!((score.median_relative_error, score.within_interval), (Some(0.1), Some(0.5)));
    }

    #[test]
    fn a_model_without_intervals_holds_no_truth_in_them() {
        assert_eq!(LossScore::of(&[loss(10.0, 10.0, 0.0)], false).within_interval, None);
        assert_eq!(LossScore::of(&[], true).relative_error, None);
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.99)), (Some(100.0), Some(198.0)));
        assert_eq!((quantile(&[7.0], 0.99), quantile(&[], 0.5)), (Some(7.0), None));
    }
}
