//! Least squares of what a job counts in blocks of time, with the error by the jackknife: one block left out at a time. Pure.

use super::measured::Block;
use schemas::{Interval, MeasuredLoss};

/// Part of the squares of a term that the others must not explain.
const OWN_LEAST: f64 = 0.05;
/// How many times as fast, or as slow, a count may be while a file system is used, and still be one of the whole job.
const FILES_MOST: f64 = 2.0;
/// Part of the contended time in which a file system must be used, for a count that stops meanwhile not to be compared.
const INSIDE_LEAST: f64 = 0.1;
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

    /// The paces by the first `terms` terms.
    fn paces(&self, terms: usize, inside: f64) -> Option<Paces> {
        let [pace, contended, files] = solve(&self.of_terms, &self.with_counts, terms)?;
        Some(Paces { pace, with_files: pace + files, contended, inside })
    }

    /// With the 95% interval of the jackknife over `blocks`, whose error has `freedom` degrees of freedom. The errors of blocks that are
    /// up to `lag` apart depend on each other. `inside`: the part of the contended time in which a file system is used, 0 to 1.
    ///
    /// # Errors
    /// Why it cannot be found.
    pub(super) fn interval(
        &self,
        blocks: &[Block],
        freedom: f64,
        lag: usize,
        inside: f64,
    ) -> Result<Interval, MeasuredLoss> {
        let terms = if self.has_activity() { TERMS } else { TERMS - 1 };
        let others: &[usize] = if terms == TERMS { &[0, 2] } else { &[0] };
        if own_part(&self.of_terms, 1, others) < OWN_LEAST {
            return Err(MeasuredLoss::NeverClear);
        }
        let paces = |sums: &Sums| sums.paces(terms, inside).ok_or(MeasuredLoss::TooFew);
        let found = paces(self)?;
        found.check()?;
        let value = found.share()?;
        let mut moved = Vec::with_capacity(blocks.len());
        for block in blocks {
            let mut without = *self;
            without.add(block, -1.0);
            moved.push(paces(&without)?.share()? - value);
        }
        let count = blocks.len() as f64;
        let half = student_t(freedom) * ((count - 1.0) / count * squares(&moved, lag)).sqrt();
        let bounded = |share: f64| share.clamp(0.0, 1.0);
        // A contended second may be one of the faster ones, of which as many counts are a smaller part, or one of the slower.
        let [slowest, fastest] = found.range();
        let lo = bounded((value - half) * found.compared() / fastest);
        let hi = bounded((value + half) * found.compared() / slowest);
        Ok(Interval { value: bounded(value), lo, hi })
    }
}

/// Sum of squares, and of products of those up to `lag` apart with weights that fall to 0 (Newey and West 1987, equation 5).
fn squares(moved: &[f64], lag: usize) -> f64 {
    let product =
        |apart: usize| moved.iter().zip(&moved[apart.min(moved.len())..]).map(|(a, b)| a * b).sum::<f64>();
    let weight = |apart: usize| 1.0 - apart as f64 / (lag as f64 + 1.0);
    let alone = product(0);
    (alone + 2.0 * (1..=lag).map(|apart| weight(apart) * product(apart)).sum::<f64>()).max(alone)
}

/// Counts a second.
struct Paces {
    /// Without contention, while no file system is used.
    pace: f64,
    /// Without contention, while a file system is used.
    with_files: f64,
    /// What a contended second adds: below 0 where it costs something.
    contended: f64,
    /// The part of the contended time in which a file system is used, 0 to 1.
    inside: f64,
}

impl Paces {
    /// That of contended seconds, were they not contended.
    fn compared(&self) -> f64 {
        self.pace + self.inside * (self.with_files - self.pace)
    }

    /// The least and the most of contended seconds, were they not contended. Where nearly all of them are without files, no slower ones are
    /// expected.
    fn range(&self) -> [f64; 2] {
        let with_files = if self.inside > INSIDE_LEAST { self.with_files } else { self.compared() };
        [self.pace.min(with_files), self.pace.max(self.with_files)]
    }

    /// The lost part of a contended second.
    fn share(&self) -> Result<f64, MeasuredLoss> {
        match self.pace.min(self.compared()) > 0.0 {
            true => Ok((-self.contended / self.compared()).min(1.0)),
            false => Err(MeasuredLoss::TooFew),
        }
    }

    /// # Errors
    /// The count is of the use of files, or stops for it: it does not show how much longer that takes.
    fn check(&self) -> Result<(), MeasuredLoss> {
        if self.with_files > FILES_MOST * self.pace.max(0.0) {
            Err(MeasuredLoss::CountsFiles)
        } else if self.inside > INSIDE_LEAST && FILES_MOST * self.with_files < self.pace {
            Err(MeasuredLoss::StopsForFiles)
        } else {
            Ok(())
        }
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
