//! Memory of rows that are not needed any more, for the next ones: a source takes a row and gives one back.

/// Rows kept; nearly all rows that come one after the other have the same few lengths.
const KEPT_MAX: usize = 16;

/// Rows whose content does not matter.
#[derive(Clone, Debug, Default)]
pub struct SpareRows(Vec<Box<[u64]>>);

impl SpareRows {
    /// A row of these counters.
    pub(super) fn filled(&mut self, counters: &[u64]) -> Box<[u64]> {
        let Some(at) = self.0.iter().rposition(|row| row.len() == counters.len()) else {
            return counters.into();
        };
        let mut row = self.0.swap_remove(at);
        row.copy_from_slice(counters);
        row
    }

    /// Keeps the memory of a row.
    pub(super) fn keep(&mut self, row: Box<[u64]>) {
        if self.0.len() == KEPT_MAX {
            self.0.remove(0);
        }
        self.0.push(row);
    }
}
