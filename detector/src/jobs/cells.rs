//! Losses over time: cells of one second, or of twice, four times, … as much for long jobs.

use super::cell_runs::CellRuns;
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
pub(super) fn coarsened(cells: &CellRuns, doublings: u32) -> Cells {
    let mut wide = Cells::new();
    for (at, cell) in cells.iter() {
        wide.entry(at >> doublings).or_default().append(cell);
    }
    wide
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

/// Adds to `cells` that of a stretch `seconds` were not judged.
pub(super) fn add_unjudged(cells: &mut Cells, (from, to, seconds): (Time, Time, f64), grain: u32) {
    let width_us = FINEST_US << grain;
    let share = seconds / to.seconds_since(from);
    let mut at = from;
    while at < to {
        let number = at.0.div_euclid(width_us);
        let next = Time((number + 1).saturating_mul(width_us)).min(to);
        cells.entry(number).or_default().unjudged_us += (share * (next - at) as f64).round() as i64;
        at = next;
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
