//! What the first process of an IOR schedule of SAND2016-9525 writes, second by second, and what it loses: for tests of models.

use crate::machine::{Component, Machine};
use crate::scenario::{FIRST_NODE, ScenarioError, ior};
use std::ops::Range;

/// Expected values of the first process of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct IorTruth {
    /// Seconds from its start to its end.
    pub run_s: f64,
    /// Seconds lost to the processes that came later.
    pub slowdown_s: f64,
    /// Seconds in which they wrote beside it.
    pub contended_s: f64,
}

/// The write rate of the first process, second by second.
#[derive(Clone, Debug, PartialEq)]
pub struct RatesWithTruth {
    /// Bytes in each second; the last one may be a part of a second.
    pub rates_bytes_per_s: Vec<f64>,
    /// Ticks that hold contended time; the first and the last may do so in part.
    pub contended: Range<usize>,
    /// Seconds lost to other jobs in this run.
    pub slowdown_s: f64,
    /// Contended seconds in this run.
    pub contended_s: f64,
    /// Seconds from start to end of the process.
    pub run_s: f64,
    /// Rate without noise and without other jobs.
    pub baseline_bytes_per_s: f64,
}

/// Expected values of the first process of a case without noise.
///
/// # Errors
/// [`ScenarioError::Case`] if there is no such case.
pub fn ior_truth(case: u32) -> Result<IorTruth, ScenarioError> {
    let rates = ior_rates(case, 0.0, 0)?;
    Ok(IorTruth { run_s: rates.run_s, slowdown_s: rates.slowdown_s, contended_s: rates.contended_s })
}

/// The bare rates of the first process of a case, for tests of models.
///
/// # Errors
/// [`ScenarioError::Case`] if there is no such case.
pub fn ior_rates(case: u32, noise: f64, seed: u64) -> Result<RatesWithTruth, ScenarioError> {
    let mut machine = Machine::new(ior(case, noise)?, seed);
    let mut rates = Vec::new();
    let mut before = 0.0;
    let mut baseline = 0.0;
    loop {
        machine.begin_tick();
        machine.advance((rates.len() + 1) as f64);
        let written = machine.files.written_now(FIRST_NODE);
        rates.push(written - before);
        before = written;
        match machine.files.writers.iter().find(|w| w.node == FIRST_NODE) {
            Some(writer) => baseline = writer.alone,
            None => break,
        }
    }
    let loss = machine.series.remove(&Component::Client(FIRST_NODE)).unwrap_or_default();
    let (from, to) = loss.span().unwrap_or_default();
    Ok(RatesWithTruth {
        rates_bytes_per_s: rates,
        contended: from.floor() as usize..to.ceil() as usize,
        slowdown_s: loss.seconds,
        contended_s: loss.contended_s(),
        run_s: machine.files.done_at(FIRST_NODE),
        baseline_bytes_per_s: baseline,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case, and its medians of run time and slowdown in table 4.1.
    const TABLE: [(u32, f64, f64); 8] = [
        (19, 290.0, 34.0),
        (22, 345.0, 89.0),
        (25, 473.0, 217.0),
        (28, 384.0, 76.0),
        (31, 511.0, 203.0),
        (34, 439.0, 59.0),
        (37, 570.0, 190.0),
        (40, 865.0, 353.0),
    ];

    #[test]
    fn run_times_are_those_of_the_table() {
        for (case, run_s, slowdown_s) in TABLE {
            let truth = ior_truth(case).unwrap();
            eprintln!("case {case}: {truth:?}, table {run_s} and {slowdown_s}");
            assert!((truth.run_s / run_s - 1.0).abs() < 0.03, "case {case}: {truth:?}");
        }
    }

    #[test]
    fn losses_are_those_worked_out_by_hand() {
        for (case, slowdown_s, contended_s) in
            [(19, 32.0, 96.0), (22, 87.0, 151.0), (25, 213.0, 277.0), (40, 363.5, 620.0)]
        {
            let truth = ior_truth(case).unwrap();
            assert!((truth.slowdown_s - slowdown_s).abs() < 1.0, "{case}: {truth:?}");
            assert!((truth.contended_s - contended_s).abs() < 1.0, "{case}: {truth:?}");
        }
    }

    #[test]
    fn noise_moves_the_rates_and_hardly_the_truth() {
        let noisy = ior_rates(25, 0.1, 3).unwrap();
        assert!((noisy.slowdown_s / 213.0 - 1.0).abs() < 0.03, "{}", noisy.slowdown_s);
        let quiet = &noisy.rates_bytes_per_s[..120];
        let mean = quiet.iter().sum::<f64>() / 120.0;
        assert!((mean / noisy.baseline_bytes_per_s - 1.0).abs() < 0.03);
        assert!(quiet.windows(2).any(|w| (w[0] / w[1] - 1.0).abs() > 0.05));
        let all: f64 = noisy.rates_bytes_per_s.iter().sum();
        assert!((all - 256e9).abs() < 1.0);
        assert_eq!(noisy, ior_rates(25, 0.1, 3).unwrap());
        assert_ne!(noisy, ior_rates(25, 0.1, 4).unwrap());
    }
}
