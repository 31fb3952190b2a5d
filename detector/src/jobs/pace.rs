//! What a job got done over time, in cells of a second, or of twice, four times, … as much.

use schemas::Time;
use serde::{Deserialize, Serialize};

/// Cells of a pace; a longer one has wider cells.
const CELLS_MAX: usize = 256;
/// Microseconds in a cell of the finest grain.
const FINEST_US: i64 = 1_000_000;

/// What was counted in a cell of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PaceCell {
    /// Over all ranks that reported.
    pub(super) count: f64,
    /// Seconds between reports, over all these ranks.
    pub(super) covered_s: f64,
}

/// Counts of all ranks of a job under one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenPace")]
pub struct Pace {
    /// Doublings of a second in a cell.
    grain: u32,
    /// Number of the first cell since the epoch.
    first: i64,
    cells: Vec<PaceCell>,
    /// Sum of the squares of spans between two reports.
    squares_s2: f64,
}

/// A pace as it is written.
#[derive(Deserialize)]
struct WrittenPace {
    grain: u32,
    first: i64,
    cells: Vec<PaceCell>,
    squares_s2: f64,
}

impl TryFrom<WrittenPace> for Pace {
    type Error = &'static str;

    fn try_from(written: WrittenPace) -> Result<Pace, Self::Error> {
        let WrittenPace { grain, first, cells, squares_s2 } = written;
        match cells.len() <= CELLS_MAX && grain < 40 {
            true => Ok(Pace { grain, first, cells, squares_s2 }),
            false => Err("the pace of a job has too many cells, or too wide ones"),
        }
    }
}

impl Pace {
    /// Adds what a rank counted between two reports, evenly over that time.
    pub fn add(&mut self, from: Time, to: Time, count: f64) {
        let span_s = to.seconds_since(from);
        if span_s <= 0.0 {
            return;
        }
        self.make_room(from, to);
        self.squares_s2 += span_s * span_s;
        let width_us = FINEST_US << self.grain;
        let mut at = from;
        while at < to {
            let number = at.0.div_euclid(width_us);
            let next = Time((number + 1) * width_us).min(to);
            let seconds = next.seconds_since(at);
            if let Some(cell) = self.cells.get_mut((number - self.first) as usize) {
                cell.count += count * seconds / span_s;
                cell.covered_s += seconds;
            }
            at = next;
        }
    }

    /// The cells that lie between two times, for the most part.
    pub fn between(&self, from: Time, to: Time) -> Pace {
        let width_us = FINEST_US << self.grain;
        let middle = |number: i64| Time(number * width_us + width_us / 2);
        let kept = self.cells().filter(|(number, _)| (from..to).contains(&middle(*number)));
        let first = kept.clone().next().map_or(self.first, |(number, _)| number);
        let cells: Vec<PaceCell> = kept.map(|(_, cell)| *cell).collect();
        let kept_s: f64 = cells.iter().map(|cell| cell.covered_s).sum();
        Pace { grain: self.grain, first, cells, squares_s2: self.span_s() * kept_s }
    }

    /// Whether it has no cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Seconds between reports, over all ranks.
    pub fn covered_s(&self) -> f64 {
        self.cells.iter().map(|cell| cell.covered_s).sum()
    }

    /// Seconds between the two reports around any second, on average.
    pub(super) fn span_s(&self) -> f64 {
        let covered_s = self.covered_s();
        if covered_s > 0.0 { self.squares_s2 / covered_s } else { 0.0 }
    }

    /// Doublings of a second in a cell.
    pub(super) fn grain(&self) -> u32 {
        self.grain
    }

    /// The cells with their numbers since the epoch.
    pub(super) fn cells(&self) -> impl Iterator<Item = (i64, &PaceCell)> + Clone {
        (self.first..).zip(&self.cells)
    }

    /// The same in cells of twice the width.
    pub(super) fn coarsened(mut self) -> Pace {
        self.double();
        self
    }

    fn make_room(&mut self, from: Time, to: Time) {
        loop {
            let width_us = FINEST_US << self.grain;
            let (begin, end) = (from.0.div_euclid(width_us), (to.0 - 1).div_euclid(width_us) + 1);
            let known = if self.cells.is_empty() {
                (begin, end)
            } else {
                (self.first, self.first + self.cells.len() as i64)
            };
            let (first, last) = (known.0.min(begin), known.1.max(end));
            if last - first <= CELLS_MAX as i64 {
                let before = if self.cells.is_empty() { 0 } else { (self.first - first) as usize };
                self.cells.splice(0..0, std::iter::repeat_n(PaceCell::default(), before));
                self.cells.resize((last - first) as usize, PaceCell::default());
                self.first = first;
                return;
            }
            self.double();
        }
    }

    fn double(&mut self) {
        let first = self.first.div_euclid(2);
        let mut wide: Vec<PaceCell> = Vec::with_capacity(self.cells.len() / 2 + 1);
        for (number, cell) in self.cells() {
            let at = (number.div_euclid(2) - first) as usize;
            if wide.len() <= at {
                wide.push(PaceCell::default());
            }
            wide[at].count += cell.count;
            wide[at].covered_s += cell.covered_s;
        }
        (self.grain, self.first, self.cells) = (self.grain + 1, first, wide);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: f64) -> Time {
        Time::from_seconds(second)
    }

    #[test]
    fn a_long_job_has_wider_cells_and_the_same_sum() {
        let mut pace = Pace::default();
        (0..5_000)
            .for_each(|step| pace.add(at(1_000.25 + f64::from(step)), at(1_001.25 + f64::from(step)), 3.0));
        let count: f64 = pace.cells().map(|(_, cell)| cell.count).sum();
        assert!((count - 15_000.0).abs() < 1e-6 && (pace.covered_s() - 5_000.0).abs() < 1e-6);
        assert!(pace.cells.len() <= CELLS_MAX && pace.grain == 5, "{}", pace.grain);
    }

    #[test]
    fn ranks_and_earlier_reports_find_their_cells() {
        let mut pace = Pace::default();
        pace.add(at(100.0), at(102.0), 4.0);
        pace.add(at(90.0), at(91.0), 9.0);
        pace.add(at(101.0), at(102.0), 1.0);
        let found: Vec<_> = pace.cells().filter(|(_, cell)| cell.covered_s > 0.0).collect();
        let wanted = [(90, 9.0, 1.0), (100, 2.0, 1.0), (101, 3.0, 2.0)];
        assert_eq!(found.len(), 3);
        for ((number, cell), wanted) in found.iter().zip(wanted) {
            assert_eq!((*number, cell.count, cell.covered_s), wanted);
        }
    }

    #[test]
    fn cells_between_two_times_are_those_of_one_run() {
        let mut pace = Pace::default();
        pace.add(at(10.0), at(12.0), 4.0);
        pace.add(at(20.0), at(22.0), 6.0);
        let later = pace.between(at(15.0), at(30.0));
        let first = later.cells().find(|(_, cell)| cell.covered_s > 0.0).map(|(number, _)| number);
        assert_eq!((later.covered_s(), first), (2.0, Some(20)));
        assert!(
            pace.between(at(13.0), at(19.0)).covered_s() == 0.0
                && pace.between(at(30.0), at(40.0)).is_empty()
        );
    }

    #[test]
    fn a_pace_that_is_too_long_is_refused() {
        let cell = PaceCell { count: 1.0, covered_s: 1.0 };
        let bytes =
            postcard::to_stdvec(&Pace { grain: 0, first: 0, cells: vec![cell; 257], squares_s2: 1.0 })
                .unwrap();
        assert!(postcard::from_bytes::<Pace>(&bytes).is_err());
    }
}
