//! What contention cost a job by its own count: what it got done in contended time, compared with the rest of the same run.
//!
//! In a block of time `i` the job counts `W_i = a T_i - b K_i - g A_i`: `a` a second, less `b` in each contended second (`K_i`) and less
//! `g` in each second in which it uses its file system (`A_i`), where it may count nothing for reasons of its own. The loss of a
//! contended second is `b` over what the job would count in it. Least squares give it, and the jackknife over blocks its error,
//! whatever the distribution of the noise. A job is only seen to be contended while it moves something, and may count while it does
//! not: so `K_i` also has its short pauses in contention, as `A_i` has them. A report spreads its count over the time since the one
//! before: so `K_i` and `A_i` are spread likewise.
//! Phases of the job that last longer than a block look like noise that is correlated: so this is done with blocks of several
//! lengths, and the interval covers what all of them give.

use super::pace::Pace;
use super::part::{JobPart, apart, joined};
use super::regression::Sums;
use crate::coverage::ACTIVE_AGAIN_S;
use schemas::{Interval, JobProgress, JobResult, MeasuredLoss, Name, Time};
use std::ops::Range;

/// Contended blocks, and others, from which on the two are compared.
const BLOCKS_LEAST: f64 = 6.0;
/// As many reports in contention, and others.
const REPORTS_LEAST: f64 = 3.0;
/// Doublings of a block's length that are tried.
const LENGTHS: u32 = 5;
/// Part of a block from which it counts as contended, and part of its length for which reports must cover it.
const MOSTLY: f64 = 0.5;
/// How a report spreads a second over those around it, on average: by how much later, over the time between two reports, and which part.
const SPREAD: [(f64, f64); 5] = [
    (-2.0 / 3.0, 1.0 / 9.0),
    (-1.0 / 3.0, 2.0 / 9.0),
    (0.0, 3.0 / 9.0),
    (1.0 / 3.0, 2.0 / 9.0),
    (2.0 / 3.0, 1.0 / 9.0),
];
/// Part of the covered time that must be free of contention.
const CLEAR_LEAST: f64 = 0.1;

/// How a job was contended, in cells of `2^grain` seconds by their numbers since the epoch.
#[derive(Debug, Default)]
pub(super) struct Contention {
    pub(super) grain: u32,
    /// Cells with contention: their numbers, and the contended seconds of each.
    pub(super) contended: Vec<(Range<i64>, f64)>,
    /// Cells of which it is not known.
    pub(super) unjudged: Vec<Range<i64>>,
    /// Stretches in which the job used a file system, apart from each other and in order.
    pub(super) active: Vec<(Time, Time)>,
    /// Seconds in contention, and lost by the counters of links and file systems, in all.
    pub(super) contended_s: f64,
    pub(super) lost_s: f64,
}

impl Contention {
    /// Of a job that is nowhere contended.
    pub(super) fn of(parts: &[&JobPart]) -> Contention {
        let stretches = parts.iter().flat_map(|part| &part.active).copied().collect();
        let grain = parts.iter().map(|part| part.grain).max().unwrap_or(0);
        Contention { grain, active: apart(stretches), ..Contention::default() }
    }

    /// Contended stretches with the short pauses between them. Where cells are wider than a pause these are in them.
    fn periods(&self) -> Vec<(Time, Time)> {
        let width_s = super::cells::width_s(self.grain);
        let near = |a: &(Range<i64>, f64), b: &(Range<i64>, f64)| {
            (b.0.start - a.0.end + 1) as f64 * width_s <= ACTIVE_AGAIN_S
        };
        let mut stretches = Vec::new();
        let mut add = |from_s: f64, to_s: f64| {
            stretches.push((Time::from_seconds(from_s), Time::from_seconds(to_s)));
        };
        for run in self.contended.chunk_by(near) {
            match run {
                [(first, first_s), .., (last, last_s)] => {
                    add(
                        (first.start + 1) as f64 * width_s - first_s,
                        (last.end - 1) as f64 * width_s + last_s,
                    );
                }
                // Anywhere in each cell.
                [(cells, each_s)] => {
                    let rest_s = (width_s - each_s) / 2.0;
                    cells.clone().for_each(|cell| {
                        add(cell as f64 * width_s + rest_s, (cell + 1) as f64 * width_s - rest_s);
                    });
                }
                [] => {}
            }
        }
        joined(stretches)
    }

    /// Adds equal cells, which lie behind those added before.
    pub(super) fn add(&mut self, cells: Range<i64>, contended_s: f64, is_unjudged: bool) {
        if contended_s > 0.0 {
            self.contended.push((cells, contended_s));
        } else if is_unjudged {
            self.unjudged.push(cells);
        }
    }
}

/// A block of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Block {
    number: i64,
    width_s: f64,
    pub(super) count: f64,
    pub(super) covered_s: f64,
    pub(super) contended_s: f64,
    pub(super) active_s: f64,
}

/// What `pace` shows of the cost of `contention`.
pub(super) fn measure(name: &Name, pace: &Pace, contention: &Contention) -> JobProgress {
    let periods = contention.periods();
    let blocks = blocks(pace, contention, &periods);
    // The sum of nothing is -0.
    let sum = |of: fn(&Block) -> f64| 0.0 + blocks.iter().map(of).sum::<f64>();
    let (covered_s, contended_s) = (sum(|block| block.covered_s), sum(|block| block.contended_s));
    let clear: Vec<&Block> = blocks.iter().filter(|block| block.contended_s == 0.0).collect();
    let clear_s: f64 = clear.iter().map(|block| block.covered_s).sum();
    let counted: f64 = clear.iter().map(|block| block.count).sum();
    JobProgress {
        name: name.clone(),
        covered_s,
        contended_s,
        per_s: (clear_s > 0.0).then(|| counted / clear_s),
        counters_s: contention.lost_s,
        loss: loss(&blocks, [covered_s, contended_s, clear_s], &periods, contention, pace.span_s()),
    }
}

/// The loss of a job by its own reports takes the place of that by counters where it is narrower, or does not hold it: a job waits for
/// its files and messages in a part of its time only. What `run_s` has besides the reports may be lost as the counters have it.
pub(super) fn replace(result: &mut JobResult, run_s: f64) {
    let measured = result.progress.iter().filter_map(|p| Some((p.covered_s, p.loss.lost_s()?)));
    let Some((covered_s, lost_s)) = measured.fold(None, best) else { return };
    let (value, width_s) = (result.slowdown_s, result.slowdown_hi_s - result.slowdown_lo_s);
    if (lost_s.lo..=lost_s.hi).contains(&value) && lost_s.hi - lost_s.lo >= width_s {
        return;
    }
    let rest = (1.0 - covered_s / run_s.max(covered_s)).max(0.0);
    let above_s = (result.slowdown_hi_s - value).max(0.0) * rest;
    (result.slowdown_s, result.slowdown_lo_s) = (lost_s.value, lost_s.lo);
    result.slowdown_hi_s = (lost_s.hi + above_s).min(run_s.max(lost_s.value));
}

/// The count whose reports cover most of the run; of several the first by name.
fn best(known: Option<(f64, Interval)>, other: (f64, Interval)) -> Option<(f64, Interval)> {
    match known {
        Some(known) if known.0 >= other.0 => Some(known),
        _ => Some(other),
    }
}

fn loss(
    blocks: &[Block],
    [covered_s, contended_s, clear_s]: [f64; 3],
    periods: &[(Time, Time)],
    contention: &Contention,
    span_s: f64,
) -> MeasuredLoss {
    // Of the whole run, whether reports cover it or not.
    let all_s: f64 = periods.iter().map(|(from, to)| to.seconds_since(*from)).sum();
    let counters_s = contention.lost_s;
    if contended_s <= 0.0 {
        return if blocks.is_empty() { MeasuredLoss::TooFew } else { MeasuredLoss::NeverContended };
    }
    if clear_s < CLEAR_LEAST * covered_s {
        return MeasuredLoss::NeverClear;
    }
    if contended_s < MOSTLY * all_s {
        return MeasuredLoss::TooFew;
    }
    let with_files_s: f64 = periods
        .iter()
        .map(|(from, to)| seconds_in(&contention.active, from.seconds(), to.seconds_since(*from)))
        .sum();
    match share(blocks, span_s, with_files_s / all_s) {
        Ok(share) => {
            let times = |seconds: f64| Interval {
                value: share.value * seconds,
                lo: share.lo * seconds,
                hi: share.hi * seconds,
            };
            // For sure only what the reports cover was lost.
            let lost_s = Interval { lo: share.lo * contended_s, ..times(all_s) };
            let cost = (counters_s > 0.0).then(|| times(all_s / counters_s));
            MeasuredLoss::Measured { lost_s, cost }
        }
        Err(why) => why,
    }
}

/// The part of a contended second that is lost, 0 to 1.
fn share(blocks: &[Block], span_s: f64, inside: f64) -> Result<Interval, MeasuredLoss> {
    let mut found: Vec<Interval> = Vec::new();
    let mut longer = blocks.to_vec();
    for _ in 0..LENGTHS {
        let whole: Vec<Block> =
            longer.iter().filter(|block| block.covered_s >= MOSTLY * block.width_s).copied().collect();
        let contended: f64 = whole.iter().map(|block| block.contended_s / block.covered_s).sum();
        let fewer = contended.min(whole.len() as f64 - contended);
        // Blocks that share a report are one.
        let reports = whole.first().map_or(1.0, |block| (span_s / block.width_s).max(1.0));
        if fewer < BLOCKS_LEAST || fewer / reports < REPORTS_LEAST {
            break;
        }
        found.push(Sums::of(&whole).interval(&whole, fewer / reports - 1.0, reports as usize, inside)?);
        longer = doubled(&longer);
    }
    let mut values: Vec<f64> = found.iter().map(|interval| interval.value).collect();
    values.sort_by(f64::total_cmp);
    let value = *values.get(values.len() / 2).ok_or(MeasuredLoss::TooFew)?;
    Ok(Interval {
        value,
        lo: found.iter().map(|interval| interval.lo).fold(value, f64::min),
        hi: found.iter().map(|interval| interval.hi).fold(value, f64::max),
    })
}

/// Blocks of twice the length.
fn doubled(blocks: &[Block]) -> Vec<Block> {
    let mut wide: Vec<Block> = Vec::with_capacity(blocks.len() / 2 + 1);
    for block in blocks {
        let number = block.number.div_euclid(2);
        match wide.last_mut() {
            Some(last) if last.number == number => {
                last.count += block.count;
                last.covered_s += block.covered_s;
                last.contended_s += block.contended_s;
                last.active_s += block.active_s;
            }
            _ => wide.push(Block { number, width_s: 2.0 * block.width_s, ..*block }),
        }
    }
    wide
}

/// The cells of a pace as blocks, those left out of which it is not known whether they were contended.
fn blocks(pace: &Pace, contention: &Contention, periods: &[(Time, Time)]) -> Vec<Block> {
    let mut pace = pace.clone();
    while pace.grain() < contention.grain {
        pace = pace.coarsened();
    }
    let doublings = pace.grain() - contention.grain;
    let width_s = super::cells::width_s(pace.grain());
    let ranks = pace.cells().map(|(_, cell)| cell.covered_s / width_s).fold(1.0, f64::max);
    let mut unjudged = Cursor::of(contention.unjudged.iter().map(|cells| (cells.clone(), 1.0)));
    let span_s = pace.span_s();
    let spread_s = |stretches: &[(Time, Time)], number: i64| {
        let shifted = |later: f64| seconds_in(stretches, number as f64 * width_s - later * span_s, width_s);
        SPREAD.iter().map(|(later, part)| part * shifted(*later)).sum::<f64>()
    };
    let of_cell = |(number, cell): (i64, &super::pace::PaceCell)| {
        let cells = number << doublings..(number + 1) << doublings;
        let count = (cells.end - cells.start) as f64;
        let is_known = unjudged.sum(&cells) < MOSTLY * count;
        let covered_s = cell.covered_s / ranks;
        let part = covered_s / width_s;
        let block = Block {
            number,
            width_s,
            count: cell.count / ranks,
            covered_s,
            contended_s: spread_s(periods, number) * part,
            active_s: spread_s(&contention.active, number) * part,
        };
        (is_known && covered_s > 0.0).then_some(block)
    };
    pace.cells().filter_map(of_cell).collect()
}

/// Seconds of the `width_s` from `begin_s` on that lie in stretches.
fn seconds_in(stretches: &[(Time, Time)], begin_s: f64, width_s: f64) -> f64 {
    let [begin, end] = [begin_s, begin_s + width_s].map(Time::from_seconds);
    let first = stretches.partition_point(|(_, to)| *to <= begin);
    let within = stretches[first..].iter().take_while(|(from, _)| *from < end);
    within.map(|(from, to)| (*to).min(end).seconds_since((*from).max(begin))).sum()
}

/// Values of cells, read from left to right.
struct Cursor {
    runs: Vec<(Range<i64>, f64)>,
    at: usize,
}

impl Cursor {
    fn of(runs: impl Iterator<Item = (Range<i64>, f64)>) -> Cursor {
        Cursor { runs: runs.collect(), at: 0 }
    }

    /// The sum over `cells`, which lie behind those of the call before.
    fn sum(&mut self, cells: &Range<i64>) -> f64 {
        while self.runs.get(self.at).is_some_and(|(numbers, _)| numbers.end <= cells.start) {
            self.at += 1;
        }
        let within = self.runs[self.at.min(self.runs.len())..].iter();
        let within = within.take_while(|(numbers, _)| numbers.start < cells.end);
        let common = |numbers: &Range<i64>| {
            (numbers.end.min(cells.end) - numbers.start.max(cells.start)).max(0) as f64
        };
        within.map(|(numbers, value)| common(numbers) * value).sum()
    }
}

#[cfg(test)]
mod tests;
