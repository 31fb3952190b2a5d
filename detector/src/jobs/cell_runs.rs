//! The cells of a job as they are kept and sent: equal ones in a row are one. A job without a baseline has thousands alike.

use super::cells::{CELLS_MAX, Cell};
use super::stretches::Alike;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Cells by their number since the epoch, in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Box<[Run]>")]
pub struct CellRuns(Box<[Run]>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    first: i64,
    count: u16,
    cell: Cell,
}

/// A message that claims more cells than a job may have.
#[derive(Debug, thiserror::Error)]
#[error("a job has at most {CELLS_MAX} cells, here are {0}")]
pub struct TooManyCells(usize);

impl CellRuns {
    /// Equal cells in a row, in the order of their numbers.
    pub(super) fn alike(&self) -> Alike {
        self.0.iter().map(|run| (run.first..run.first + i64::from(run.count), run.cell)).collect()
    }

    /// The cells, one by one.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &Cell)> {
        self.0.iter().flat_map(|run| (0..run.count).map(|at| (run.first + i64::from(at), &run.cell)))
    }
}

impl FromIterator<(i64, Cell)> for CellRuns {
    /// Takes cells in the order of their numbers.
    fn from_iter<I: IntoIterator<Item = (i64, Cell)>>(cells: I) -> CellRuns {
        let mut runs = Runs::default();
        cells.into_iter().for_each(|(number, cell)| runs.push(number..number + 1, cell));
        runs.done()
    }
}

/// Cells as they come, in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    /// Adds equal cells.
    pub(super) fn push(&mut self, mut numbers: Range<i64>, cell: Cell) {
        if let Some(run) = self.0.last_mut()
            && run.first + i64::from(run.count) == numbers.start
            && run.cell == cell
        {
            let more = (numbers.end - numbers.start).min(i64::from(u16::MAX - run.count));
            run.count += more as u16;
            numbers.start += more;
        }
        while !numbers.is_empty() {
            let count = (numbers.end - numbers.start).min(i64::from(u16::MAX));
            self.0.push(Run { first: numbers.start, count: count as u16, cell });
            numbers.start += count;
        }
    }

    pub(super) fn done(self) -> CellRuns {
        CellRuns(self.0.into())
    }
}

impl TryFrom<Box<[Run]>> for CellRuns {
    type Error = TooManyCells;

    fn try_from(runs: Box<[Run]>) -> Result<CellRuns, TooManyCells> {
        let cells = runs.iter().map(|run| usize::from(run.count)).sum();
        // A job begins and ends within cells.
        if cells > CELLS_MAX as usize + 2 {
            return Err(TooManyCells(cells));
        }
        Ok(CellRuns(runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(lost_s: f64) -> Cell {
        Cell { lost_s, ..Cell::default() }
    }

    #[test]
    fn equal_cells_in_a_row_are_one_and_return_as_they_were() {
        let cells = [(5, lost(1.0)), (6, lost(1.0)), (8, lost(1.0)), (9, lost(2.0)), (10, lost(2.0))];
        let runs: CellRuns = cells.into_iter().collect();
        assert_eq!(runs.0.len(), 3);
        assert!(runs.iter().eq(cells.iter().map(|(number, cell)| (*number, cell))));
        let bytes = postcard::to_stdvec(&runs).unwrap();
        assert_eq!(postcard::from_bytes::<CellRuns>(&bytes).unwrap(), runs);
    }

    #[test]
    fn more_cells_than_a_job_may_have_are_refused() {
        let claimed: Vec<Run> = (0..2).map(|first| Run { first, count: 3_000, cell: lost(1.0) }).collect();
        let bytes = postcard::to_stdvec(&claimed).unwrap();
        assert!(postcard::from_bytes::<CellRuns>(&bytes).is_err());
    }
}
