//! Least squares of what a job counts in blocks of time, with the error by the jackknife: one block left out at a time. Pure.

use super::measured::Block;
use schemas::{Interval, MeasuredLoss};

/// Part of the squares of a term that the others must not explain.
const OWN_LEAST: f64 = 0.05;
/// How many times as fast a count may be while a file system is used, and still be one of the whole job.
const FILES_MOST: f64 = 2.0;
/// Terms of a block: covered time, contended time, time in which a file system was used.
const TERMS: usize = 3;
/// Sums of products of the terms, and of the terms and the counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    of_terms: [[f64; TERMS]; TERMS],
    with_counts: [f64; TERMS],
}

impl Sums {
    pub(super) fn of(blocks: &[Block]) -> Sums {
        let mut sums = Sums::default();
        blocks.iter().for_each(|block| sums.add(block, 1.0));
        sums
    }

    fn add(&mut self, block: &Block, times: f64) {
        let terms = [block.covered_s, block.contended_s, block.active_s];
        for (row, a) in terms.iter().enumerate() {
            self.with_counts[row] += times * a * block.count;
            terms.iter().enumerate().for_each(|(column, b)| self.of_terms[row][column] += times * a * b);
        }
    }

    /// Whether the time in which a file system was used is a term of its own: it varies, but not with the covered time alone.
    fn has_activity(&self) -> bool {
        self.of_terms[2][2] > 0.0 && own_part(&self.of_terms, 2, &[0]) > OWN_LEAST
    }

    /// The lost part of a contended second by the first `terms` terms.
    fn share(&self, terms: usize) -> Option<f64> {
        let found = solve(&self.of_terms, &self.with_counts, terms)?;
        (found[0] > 0.0).then(|| (-found[1] / found[0]).min(1.0))
    }

    /// How many times as fast the count is while a file system is used: 1 where it is not faster.
    ///
    /// # Errors
    /// The count is of that use: it says nothing of the rest of the time.
    fn with_files(&self, terms: usize) -> Result<f64, MeasuredLoss> {
        let found = solve(&self.of_terms, &self.with_counts, terms).ok_or(MeasuredLoss::TooFew)?;
        let [pace, with_files] = [found[0], found[0] + found[2].max(0.0)];
        let is_of_files = with_files > 0.0 && with_files > FILES_MOST * pace;
        if is_of_files { Err(MeasuredLoss::CountsFiles) } else { Ok(with_files / pace) }
    }

    /// With the 95% interval of the jackknife over `blocks`, whose error has `freedom` degrees of freedom.
    ///
    /// # Errors
    /// Why it cannot be found.
    pub(super) fn interval(&self, blocks: &[Block], freedom: usize) -> Result<Interval, MeasuredLoss> {
        let terms = if self.has_activity() { TERMS } else { TERMS - 1 };
        let others: &[usize] = if terms == TERMS { &[0, 2] } else { &[0] };
        if own_part(&self.of_terms, 1, others) < OWN_LEAST {
            return Err(MeasuredLoss::NeverClear);
        }
        let with_files = self.with_files(terms)?;
        let value = self.share(terms).ok_or(MeasuredLoss::TooFew)?;
        let mut squares = 0.0;
        for block in blocks {
            let mut without = *self;
            without.add(block, -1.0);
            squares += (without.share(terms).ok_or(MeasuredLoss::TooFew)? - value).powi(2);
        }
        let count = blocks.len() as f64;
        let half = student_t(freedom as f64) * ((count - 1.0) / count * squares).sqrt();
        let bounded = |share: f64| share.clamp(0.0, 1.0);
        // A contended second may be one of the faster ones, of which as many counts are a smaller part.
        let lo = bounded((value - half) / with_files);
        Ok(Interval { value: bounded(value), lo, hi: bounded(value + half) })
    }
}

/// The part of the squares of term `at` that the terms `others` do not explain, 0 to 1.
fn own_part(of_terms: &[[f64; TERMS]; TERMS], at: usize, others: &[usize]) -> f64 {
    let mut order = others.to_vec();
    order.push(at);
    let mut picked = [[0.0; TERMS]; TERMS];
    for (row, from) in order.iter().enumerate() {
        order.iter().enumerate().for_each(|(column, to)| picked[row][column] = of_terms[*from][*to]);
    }
    let last = others.len();
    let all = picked[last][last];
    for pivot in 0..last {
        if picked[pivot][pivot] <= 0.0 {
            continue;
        }
        for row in pivot + 1..=last {
            let factor = picked[row][pivot] / picked[pivot][pivot];
            subtract(&mut picked, row, pivot, factor);
        }
    }
    if all > 0.0 { (picked[last][last] / all).max(0.0) } else { 0.0 }
}

/// Subtracts so many times another row from a row.
fn subtract(matrix: &mut [[f64; TERMS]; TERMS], row: usize, other: usize, times: f64) {
    let others = matrix[other];
    matrix[row].iter_mut().zip(others).for_each(|(value, other)| *value -= times * other);
}

/// The solution of the first `terms` equations; `None` where they depend on each other.
fn solve(matrix: &[[f64; TERMS]; TERMS], wanted: &[f64; TERMS], terms: usize) -> Option<[f64; TERMS]> {
    let (mut matrix, mut wanted) = (*matrix, *wanted);
    for pivot in 0..terms {
        let scale = matrix[pivot][pivot];
        if !scale.is_finite() || scale <= 0.0 {
            return None;
        }
        for row in pivot + 1..terms {
            let factor = matrix[row][pivot] / scale;
            subtract(&mut matrix, row, pivot, factor);
            wanted[row] -= factor * wanted[pivot];
        }
    }
    let mut found = [0.0; TERMS];
    for row in (0..terms).rev() {
        let known: f64 = (row + 1..terms).map(|column| matrix[row][column] * found[column]).sum();
        found[row] = (wanted[row] - known) / matrix[row][row];
    }
    Some(found)
}

/// The 97.5% quantile of Student's t (Abramowitz and Stegun 26.7.5); for 4 degrees of freedom and more within 1%.
pub fn student_t(freedom: f64) -> f64 {
    let z: f64 = 1.959_964;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}
