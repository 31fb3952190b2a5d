//! The equations of both models. Pure: no clock, no input, no output, no state.
//!
//! `published` is SAND2016-9525, section 4.2.1 and appendix A; each function names its equation.
//! `robust` keeps the same idea (a windowed mean against a non-contended one) with bounds that hold for
//! a *mean*, explained in `model/robust.rs`.

use schemas::Direction;
use serde::{Deserialize, Serialize};

/// How contention becomes seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowdownForm {
    /// The lost fraction of the tick: `1 - mu_NC/mu_A` (rising), `1 - mu_A/mu_NC` (falling).
    Corrected,
    /// Equation 4.2.8a as printed, `mu_NC/mu_A` for a rising metric; 4.2.8b for a falling one.
    Published,
    /// For a ratio of stalls to flits: a flit takes one cycle and waits `ratio` more, so the lost
    /// fraction is `1 - (1 + mu_NC)/(1 + mu_A)`. For a falling metric the same as `Corrected`.
    ServiceTime,
    /// Nothing: the metric shows that something waits, not how long.
    None,
}

/// Geometric mean of values given by their logarithms (A.0.1); NaN for none.
pub fn geometric_mean(ln: &[f64]) -> f64 {
    (ln.iter().sum::<f64>() / ln.len() as f64).exp()
}

/// Geometric standard deviation, population form (A.0.2): 1 for equal values, NaN for none.
pub fn geometric_sd(ln: &[f64]) -> f64 {
    let mean = ln.iter().sum::<f64>() / ln.len() as f64;
    let square = ln.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / ln.len() as f64;
    square.sqrt().exp()
}

/// Confidence bound above (A.0.3a) or below (A.0.3b) the mean, on the side where `direction` leads.
pub fn bound(mean: f64, sd: f64, eta: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Rising => mean * sd.powf(eta),
        Direction::Falling => mean / sd.powf(eta),
    }
}

/// Whether the windowed mean passes the bound of the tick before: 4.2.6a, and 4.2.6b with `<`
/// (the printed `>` is an erratum: a falling metric is contended below its bound).
pub fn passes(mean: f64, bound: f64, direction: Direction) -> bool {
    match direction {
        Direction::Rising => mean > bound,
        Direction::Falling => mean < bound,
    }
}

/// Seconds lost per second of contention: 4.2.8a and 4.2.8b in one of their forms.
pub fn lost_fraction(mean: f64, baseline: f64, direction: Direction, form: SlowdownForm) -> f64 {
    match (direction, form) {
        (_, SlowdownForm::None) => 0.0,
        (Direction::Falling, _) => 1.0 - mean / baseline,
        (Direction::Rising, SlowdownForm::Corrected) => 1.0 - baseline / mean,
        (Direction::Rising, SlowdownForm::Published) => baseline / mean,
        (Direction::Rising, SlowdownForm::ServiceTime) => 1.0 - (1.0 + baseline) / (1.0 + mean),
    }
}

/// Backward difference of a counter over the sampler's own interval, per second (4.2.9).
pub fn rate_per_s(difference: u64, seconds: f64) -> f64 {
    difference as f64 / seconds
}

/// Standard error of the mean of `readings` samples whose logarithms have the standard deviation `sigma` and are
/// correlated with the next one by `correlation`, 0 to below 1.
pub fn error_of_mean(sigma: f64, readings: f64, correlation: f64) -> f64 {
    sigma * (variance_inflation(readings, correlation) / readings).sqrt()
}

/// What correlation multiplies the variance of the mean of `readings` samples by: 1 without, and up to
/// `(1 + correlation) / (1 - correlation)` for many samples of a first-order autoregressive process (Bayley and Hammersley 1946).
pub fn variance_inflation(readings: f64, correlation: f64) -> f64 {
    if correlation <= 0.0 {
        return 1.0;
    }
    let left = 1.0 - correlation;
    let edges = 2.0 * correlation * (1.0 - correlation.powi(readings as i32)) / (readings * left * left);
    ((1.0 + correlation) / left - edges).max(1.0)
}

/// Standard error of the difference between a mean of `window` and one of `base` such samples.
pub fn standard_error(sigma: f64, window: f64, base: f64, correlation: f64) -> f64 {
    error_of_mean(sigma, window, correlation).hypot(error_of_mean(sigma, base, correlation))
}

/// Arithmetic mean of a log-normal variable, by its geometric mean and log-domain deviation. Bytes add
/// up arithmetically, so a rate is compared with this and not with the geometric mean, which lies lower
/// by half the variance.
pub fn lognormal_mean(geometric_mean: f64, sigma: f64) -> f64 {
    geometric_mean * (sigma * sigma / 2.0).exp()
}

/// What an episode accumulates for its interval, all in ticks of the sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossSums {
    /// Seconds lost.
    pub lost_s: f64,
    /// Sum over ticks of the derivative of the loss by the logarithm of the baseline.
    pub by_baseline: f64,
    /// Sum over ticks of its squared derivative by the logarithm of the reading.
    pub by_reading_squared: f64,
}

impl LossSums {
    /// Adds the loss of `seconds` at `reading` against `baseline`.
    pub fn add(
        &mut self,
        reading: f64,
        baseline: f64,
        seconds: f64,
        direction: Direction,
        form: SlowdownForm,
    ) {
        let lost = lost_fraction(reading, baseline, direction, form);
        let slope = loss_slope(reading, baseline, direction, form);
        self.lost_s += lost * seconds;
        self.by_baseline += slope * seconds;
        self.by_reading_squared += (slope * seconds).powi(2);
    }

    /// Both sums together.
    pub fn plus(&self, other: &LossSums) -> LossSums {
        LossSums {
            lost_s: self.lost_s + other.lost_s,
            by_baseline: self.by_baseline + other.by_baseline,
            by_reading_squared: self.by_reading_squared + other.by_reading_squared,
        }
    }

    /// What is left without `other`, which was added before.
    pub fn minus(&self, other: &LossSums) -> LossSums {
        LossSums {
            lost_s: self.lost_s - other.lost_s,
            by_baseline: self.by_baseline - other.by_baseline,
            by_reading_squared: (self.by_reading_squared - other.by_reading_squared).max(0.0),
        }
    }

    /// The same loss for `factor` times as long.
    pub fn times(&self, factor: f64) -> LossSums {
        LossSums {
            lost_s: self.lost_s * factor,
            by_baseline: self.by_baseline * factor,
            by_reading_squared: self.by_reading_squared * factor,
        }
    }

    /// The sums against a baseline that lies `shift` higher in the logarithm, to first order.
    pub fn with_baseline_shifted(&self, shift: f64, direction: Direction) -> LossSums {
        let gain = match direction {
            Direction::Falling => self.by_baseline * shift,
            Direction::Rising => -self.by_baseline * shift,
        };
        LossSums { lost_s: self.lost_s + gain, ..*self }
    }

    /// Standard deviation of `lost_s`: the baseline is uncertain by `baseline_sd` (log domain, common to
    /// all ticks), each reading by `noise_sd` (own), and each end of the episode by `edge_s` seconds.
    pub fn sd_s(&self, baseline_sd: f64, noise_sd: f64, edge_s: f64, duration_s: f64) -> f64 {
        let per_second = if duration_s > 0.0 { self.lost_s / duration_s } else { 0.0 };
        let edges = 2.0 * (edge_s * per_second).powi(2);
        let baseline = (self.by_baseline * baseline_sd).powi(2);
        (baseline + self.by_reading_squared * noise_sd * noise_sd + edges).sqrt()
    }
}

/// Size of the derivative of [`lost_fraction`] by the logarithm of the baseline.
fn loss_slope(reading: f64, baseline: f64, direction: Direction, form: SlowdownForm) -> f64 {
    match (direction, form) {
        (_, SlowdownForm::None) => 0.0,
        (Direction::Falling, _) => reading / baseline,
        (Direction::Rising, SlowdownForm::ServiceTime) => baseline / (1.0 + reading),
        (Direction::Rising, _) => baseline / reading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ln(values: &[f64]) -> Vec<f64> {
        values.iter().map(|v| v.ln()).collect()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} is not {b}");
    }

    #[test]
    fn a_0_1_the_geometric_mean_of_2_and_8_is_4() {
        near(geometric_mean(&ln(&[2.0, 8.0])), 4.0);
    }

    #[test]
    fn a_0_2_the_geometric_deviation_of_2_and_8_is_2() {
        // ln(2/4) = -ln 2 and ln(8/4) = ln 2: the root of the mean square is ln 2.
        near(geometric_sd(&ln(&[2.0, 8.0])), 2.0);
        near(geometric_sd(&ln(&[3.0, 3.0, 3.0])), 1.0);
    }

    #[test]
    fn a_0_3_the_bounds_of_2_and_8_at_eta_1_are_8_and_2() {
        near(bound(4.0, 2.0, 1.0, Direction::Rising), 8.0);
        near(bound(4.0, 2.0, 1.0, Direction::Falling), 2.0);
        near(bound(4.0, 2.0, 2.0, Direction::Rising), 16.0);
    }

    #[test]
    fn eq_4_2_6_contention_is_beyond_the_bound_and_not_on_it() {
        assert!(passes(8.1, 8.0, Direction::Rising) && !passes(8.0, 8.0, Direction::Rising));
        assert!(passes(1.9, 2.0, Direction::Falling) && !passes(2.0, 2.0, Direction::Falling));
    }

    #[test]
    fn eq_4_2_8_half_the_rate_loses_half_a_second_each_second() {
        near(lost_fraction(0.5e9, 1e9, Direction::Falling, SlowdownForm::Corrected), 0.5);
        near(lost_fraction(0.5e9, 1e9, Direction::Falling, SlowdownForm::Published), 0.5);
    }

    #[test]
    fn eq_4_2_8a_printed_and_corrected_forms_add_up_to_one() {
        near(lost_fraction(0.4, 0.1, Direction::Rising, SlowdownForm::Published), 0.25);
        near(lost_fraction(0.4, 0.1, Direction::Rising, SlowdownForm::Corrected), 0.75);
    }

    #[test]
    fn service_time_doubles_with_one_more_cycle_of_waiting() {
        near(lost_fraction(1.0, 0.0, Direction::Rising, SlowdownForm::ServiceTime), 0.5);
        near(lost_fraction(0.4, 0.05, Direction::Rising, SlowdownForm::ServiceTime), 0.25);
    }

    #[test]
    fn eq_4_2_9_the_rate_divides_by_the_samplers_interval() {
        near(rate_per_s(3_000, 1.5), 2_000.0);
    }

    #[test]
    fn standard_error_of_16_against_infinite_base_is_a_quarter() {
        near(standard_error(0.2, 16.0, f64::INFINITY, 0.0), 0.05);
    }

    #[test]
    fn correlated_readings_count_for_fewer() {
        near(variance_inflation(1.0, 0.8), 1.0);
        // Two: (1 + 1 + 2 * 0.8) / 2.
        near(variance_inflation(2.0, 0.8), 1.8);
        assert!((variance_inflation(1e5, 0.8) - 9.0).abs() < 1e-3);
    }

    #[test]
    fn the_arithmetic_mean_lies_half_the_variance_above() {
        near(lognormal_mean(1.0, 0.2), 0.02_f64.exp());
    }

    #[test]
    fn a_baseline_1_percent_higher_loses_1_percent_more() {
        let mut sums = LossSums::default();
        sums.add(0.6, 1.0, 100.0, Direction::Falling, SlowdownForm::Corrected);
        near(sums.with_baseline_shifted(0.01, Direction::Falling).lost_s, 40.6);
    }

    #[test]
    fn with_exact_readings_the_interval_is_that_of_the_baseline() {
        let mut sums = LossSums::default();
        for _ in 0..100 {
            sums.add(0.6, 1.0, 1.0, Direction::Falling, SlowdownForm::Corrected);
        }
        near(sums.lost_s, 40.0);
        // 60 s of writing against a baseline known to 1%: 0.6 s.
        near(sums.sd_s(0.01, 0.0, 0.0, 100.0), 0.6);
    }
}
