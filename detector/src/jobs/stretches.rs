//! Cells of several lists side by side, as stretches in which none of them changes: a job without a baseline has thousands alike.

use super::cell_runs::{CellRuns, Runs};
use super::cells::{Cell, coarsened};
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

/// Equal cells and their numbers.
type Run = (Range<i64>, Cell);

/// Runs in the order of the numbers.
pub(super) type Alike = Vec<Run>;

/// Lists of cells, read together from left to right.
pub(super) struct Stretches(Vec<Peekable<IntoIter<Run>>>);

impl Stretches {
    pub(super) fn of(lists: impl IntoIterator<Item = Alike>) -> Stretches {
        Stretches(lists.into_iter().map(|list| list.into_iter().peekable()).collect())
    }

    /// The numbers of the next stretch; `cells` becomes what each list has in it.
    pub(super) fn next(&mut self, cells: &mut Vec<Option<Cell>>) -> Option<Range<i64>> {
        cells.clear();
        let start =
            self.0.iter_mut().filter_map(|list| list.peek()).map(|(numbers, _)| numbers.start).min()?;
        let change = |numbers: &Range<i64>| if numbers.start > start { numbers.start } else { numbers.end };
        let end =
            self.0.iter_mut().filter_map(|list| list.peek()).map(|(numbers, _)| change(numbers)).min()?;
        for list in &mut self.0 {
            let first = list.peek_mut().filter(|(numbers, _)| numbers.start == start);
            cells.push(first.map(|(numbers, cell)| {
                numbers.start = end;
                *cell
            }));
            list.next_if(|(numbers, _)| numbers.is_empty());
        }
        Some(start..end)
    }
}

/// The sums of cells of parts, each with the doublings that it lacks of the common grain.
pub(super) fn sums<'a>(parts: impl Iterator<Item = (&'a CellRuns, u32)>) -> Alike {
    let mut lists: Vec<Alike> = parts.map(|(cells, doublings)| coarsened(cells, doublings)).collect();
    if lists.len() <= 1 {
        return lists.pop().unwrap_or_default();
    }
    let (mut stretches, mut cells, mut runs) = (Stretches::of(lists), Vec::new(), Runs::default());
    while let Some(numbers) = stretches.next(&mut cells) {
        let mut sum = Cell::default();
        cells.iter().flatten().for_each(|cell| sum.add(cell));
        runs.push(numbers, sum);
    }
    runs.done().alike()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(cells: &[(Range<i64>, f64)]) -> CellRuns {
        let one_by_one = cells.iter().flat_map(|(numbers, lost_s)| {
            numbers.clone().map(|number| (number, Cell { lost_s: *lost_s, ..Cell::default() }))
        });
        one_by_one.collect()
    }

    fn lost(alike: &Alike) -> Vec<(Range<i64>, f64)> {
        alike.iter().map(|(numbers, cell)| (numbers.clone(), cell.lost_s)).collect()
    }

    #[test]
    fn stretches_end_where_one_of_the_lists_changes() {
        let (a, b) = (runs(&[(0..10, 1.0), (20..21, 4.0)]), runs(&[(5..7, 2.0), (30..40, 8.0)]));
        let sum = lost(&sums([(&a, 0), (&b, 0)].into_iter()));
        assert_eq!(sum, [(0..5, 1.0), (5..7, 3.0), (7..10, 1.0), (20..21, 4.0), (30..40, 8.0)]);
    }

    #[test]
    fn parts_of_a_finer_grain_are_summed_in_the_wider_one() {
        let (fine, wide) = (runs(&[(0..9, 1.0)]), runs(&[(1..3, 8.0)]));
        let sum = lost(&sums([(&fine, 1), (&wide, 0)].into_iter()));
        assert_eq!(sum, [(0..1, 2.0), (1..3, 10.0), (3..4, 2.0), (4..5, 1.0)]);
        assert_eq!(lost(&sums([(&fine, 0)].into_iter())), [(0..9, 1.0)]);
    }
}
