//! Losses over time: cells of one second, or of twice, four times, … as much for long jobs.

use super::cell_runs::{CellRuns, Runs};
use super::stretches::Alike;
use schemas::{Episode, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cells that a job may have; a longer one has wider cells.
pub(super) const CELLS_MAX: i64 = 4_096;
/// Microseconds in a cell of the finest grain.
const FINEST_US: i64 = 1_000_000;

/// What episodes of one metric cost within one cell of time, summed over series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Seconds lost, over all series of the metric.
    pub lost_s: f64,
    /// Seconds lost by the series that lost most.
    pub worst_s: f64,
    /// Seconds of the cell in which a series was contended.
    pub contended_s: f64,
    /// Microseconds in contention, over all series of the metric.
    pub contended_us: i64,
    /// Microseconds that were not judged, over all series of the metric: whole, so that their sum depends on no order.
    pub unjudged_us: i64,
}

/// Doublings of the finest grain that keep a job between two times within the cells it may have.
pub(crate) fn grain(from: Time, to: Time) -> u32 {
    let mut grain = 0;
    while (to - from) / (FINEST_US << grain) > CELLS_MAX {
        grain += 1;
    }
    grain
}

/// Cells by their number since the epoch.
pub(super) type Cells = BTreeMap<i64, Cell>;

impl Cell {
    /// Adds what another series, or other series, lost in the same time.
    pub(super) fn add(&mut self, other: &Cell) {
        self.lost_s += other.lost_s;
        self.worst_s = self.worst_s.max(other.worst_s);
        self.contended_s = self.contended_s.max(other.contended_s);
        self.contended_us += other.contended_us;
        self.unjudged_us += other.unjudged_us;
    }

    /// Appends what was lost in the time after it.
    fn append(&mut self, later: &Cell) {
        self.lost_s += later.lost_s;
        self.worst_s += later.worst_s;
        self.contended_s += later.contended_s;
        self.contended_us += later.contended_us;
        self.unjudged_us += later.unjudged_us;
    }
}

/// Cells of a wider grain.
pub(super) fn coarsened(cells: &CellRuns, doublings: u32) -> Alike {
    if doublings == 0 {
        return cells.alike();
    }
    let mut wide = Cells::new();
    for (at, cell) in cells.iter() {
        wide.entry(at >> doublings).or_default().append(cell);
    }
    wide.into_iter().collect::<CellRuns>().alike()
}

/// Adds to `cells` what `episode` cost between two times; the sum of it.
pub(super) fn add_episode(cells: &mut Cells, episode: &Episode, from: Time, to: Time, grain: u32) -> f64 {
    let width_us = FINEST_US << grain;
    let (begin, end) = (episode.start.max(from), episode.end.min(to));
    let mut curve = Curve::of(episode);
    let mut at = begin;
    let mut lost_before_s = curve.until(begin);
    let mut sum_s = 0.0;
    while at < end {
        let number = at.0.div_euclid(width_us);
        let next = Time((number + 1).saturating_mul(width_us)).min(end);
        let lost_s = curve.until(next);
        let part_s = (lost_s - lost_before_s).max(0.0);
        let contended_s = next.seconds_since(at);
        let contended_us = next - at;
        let cell = Cell { lost_s: part_s, worst_s: part_s, contended_s, contended_us, unjudged_us: 0 };
        cells.entry(number).or_default().add(&cell);
        sum_s += part_s;
        (at, lost_before_s) = (next, lost_s);
    }
    sum_s
}

/// Microseconds that were not judged, over all series of a metric, as changes from one cell to the next: a job without a baseline
/// has thousands of cells, and each of its series all of them.
#[derive(Debug, Default)]
pub(super) struct Unjudged {
    /// Numbers of cells, and by how much such a cell has more than the one before; one number may be there several times.
    steps: Vec<(i64, i64)>,
}

impl Unjudged {
    /// Adds that `seconds` of a stretch were not judged.
    pub(super) fn add(&mut self, (from, to, seconds): (Time, Time, f64), grain: u32) {
        if from >= to {
            return;
        }
        let width_us = FINEST_US << grain;
        let share = seconds / to.seconds_since(from);
        let part = |length_us: i64| (share * length_us as f64).round() as i64;
        let (first, last) = (from.0.div_euclid(width_us), (to.0 - 1).div_euclid(width_us));
        if first == last {
            return self.add_to(first..first + 1, part(to - from));
        }
        self.add_to(first..first + 1, part((first + 1) * width_us - from.0));
        self.add_to(first + 1..last, part(width_us));
        self.add_to(last..last + 1, part(to.0 - last * width_us));
    }

    fn add_to(&mut self, cells: std::ops::Range<i64>, each_us: i64) {
        if !cells.is_empty() && each_us != 0 {
            self.steps.extend([(cells.start, each_us), (cells.end, -each_us)]);
        }
    }

    /// The same with what was lost in `cells`: equal cells as one.
    pub(super) fn with(mut self, cells: Cells) -> CellRuns {
        for number in cells.keys() {
            self.steps.extend([(*number, 0), (number + 1, 0)]);
        }
        self.steps.sort_unstable();
        let (mut runs, mut each_us) = (Runs::default(), 0);
        let mut cells = cells.into_iter().peekable();
        let mut steps = self.steps.into_iter().peekable();
        while let Some((from, step_us)) = steps.next() {
            each_us += step_us;
            let Some(to) = steps.peek().map(|(to, _)| *to).filter(|to| *to > from) else { continue };
            let lost = cells.next_if(|(number, _)| *number == from);
            let mut cell = lost.map_or_else(Cell::default, |(_, cell)| cell);
            cell.unjudged_us += each_us;
            if cell != Cell::default() {
                runs.push(from..to, cell);
            }
        }
        runs.done()
    }
}

/// Seconds in a cell.
pub(super) fn width_s(grain: u32) -> f64 {
    (FINEST_US << grain) as f64 / 1e6
}

/// The loss of an episode as it grew, read from left to right.
struct Curve<'a> {
    episode: &'a Episode,
    point: usize,
}

impl<'a> Curve<'a> {
    fn of(episode: &'a Episode) -> Curve<'a> {
        Curve { episode, point: 0 }
    }

    /// Seconds lost up to `time`, by linear interpolation; times must not fall.
    fn until(&mut self, time: Time) -> f64 {
        let profile = &self.episode.profile;
        while profile.get(self.point).is_some_and(|point| point.time < time) {
            self.point += 1;
        }
        let Some(after) = profile.get(self.point) else { return self.episode.slowdown_s };
        let before = self.point.checked_sub(1).and_then(|before| profile.get(before));
        let (since, lost_s) =
            before.map_or((self.episode.start, 0.0), |point| (point.time, point.slowdown_s));
        let span_s = after.time.seconds_since(since);
        let share = if span_s > 0.0 { (time.seconds_since(since) / span_s).clamp(0.0, 1.0) } else { 1.0 };
        lost_s + (after.slowdown_s - lost_s) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: f64) -> Time {
        Time::from_seconds(second)
    }

    /// The cells of `stretches`, one at a time.
    fn one_by_one(stretches: &[(f64, f64, f64)], mut cells: Cells, grain: u32) -> Cells {
        let width_us = FINEST_US << grain;
        for (from, to, seconds) in stretches {
            let (mut from, to, share) = (at(*from), at(*to), seconds / (to - from));
            while from < to {
                let number = from.0.div_euclid(width_us);
                let next = Time((number + 1) * width_us).min(to);
                cells.entry(number).or_default().unjudged_us += (share * (next - from) as f64).round() as i64;
                from = next;
            }
        }
        cells
    }

    #[test]
    fn steps_make_the_cells_that_are_made_one_by_one() {
        let stretches = [
            (3.25, 900.5, 897.25),
            (3.25, 900.5, 500.0),
            (10.0, 20.0, 10.0),
            (10.25, 10.75, 0.5),
            (899.0, 1_200.0, 301.0),
        ];
        let lost =
            Cell { lost_s: 0.5, worst_s: 0.5, contended_s: 1.0, contended_us: 1_000_000, unjudged_us: 0 };
        for grain in [0, 2] {
            let cells: Cells = [(5, lost), (150, lost), (2_000, lost)].into();
            let mut unjudged = Unjudged::default();
            for (from, to, seconds) in stretches {
                unjudged.add((at(from), at(to), seconds), grain);
            }
            let found: Cells =
                unjudged.with(cells.clone()).iter().map(|(number, cell)| (number, *cell)).collect();
            assert_eq!(found, one_by_one(&stretches, cells, grain), "{grain}");
        }
    }
}
