//! Patterns of columns, found by what is the same in all their columns.

use crate::sources::{SchemaIndex, Use};
use schemas::metric::pattern::{Fixed, Pattern};

/// Uses by patterns: a router has hundreds of columns, of which few share length and last byte.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// Those of fixed length, by that, with their last byte in small letters.
    of_length: Vec<Vec<(u8, PatternUse)>>,
    /// The others, by their first byte in small letters; at 0 where a placeholder begins them.
    of_begin: Vec<Vec<PatternUse>>,
}

/// What columns of a pattern are to a schema.
#[derive(Debug)]
pub(crate) struct PatternUse {
    pub pattern: Pattern,
    /// The place in a [`PartKey`] of each of the pattern's placeholders.
    pub places: Vec<usize>,
    pub schema: SchemaIndex,
    pub used: Use,
}

impl Patterns {
    pub(crate) fn add(&mut self, used: PatternUse) {
        match used.pattern.fixed() {
            Fixed::End(length, end) => list_at(&mut self.of_length, length).push((end, used)),
            Fixed::Begin(begin) => list_at(&mut self.of_begin, usize::from(begin)).push(used),
            Fixed::Neither => list_at(&mut self.of_begin, 0).push(used),
        }
    }

    /// Those that a column may be of.
    pub(crate) fn of(&self, column: &str) -> impl Iterator<Item = &PatternUse> {
        let small = |byte: Option<&u8>| byte.map_or(0, u8::to_ascii_lowercase);
        let (begin, end) = (small(column.as_bytes().first()), small(column.as_bytes().last()));
        let alike = self.of_length.get(column.len()).into_iter().flatten();
        let alike = alike.filter(move |(last, _)| *last == end).map(|(_, used)| used);
        let others = [usize::from(begin), 0].into_iter().filter_map(|at| self.of_begin.get(at)).flatten();
        alike.chain(others)
    }
}

/// The list at `at`, with empty ones before it.
fn list_at<T>(lists: &mut Vec<Vec<T>>, at: usize) -> &mut Vec<T> {
    lists.resize_with(lists.len().max(at + 1), Vec::new);
    &mut lists[at]
}
