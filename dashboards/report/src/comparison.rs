//! Two runs side by side.

use crate::ReportError;
use crate::labels::printable;
use crate::wrapping::wrapped;
use serde_json::json;
use store::read::jobs::ComparedItem;

/// Fewest columns for a note beside its row.
const NOTE_MIN: usize = 24;

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of the first run.
    pub(crate) a: String,
    /// Number of the second run.
    pub(crate) b: String,
    pub(crate) items: Vec<ComparedItem>,
}

impl Comparison {
    /// The table as text of `width` columns; notes that do not fit continue below.
    pub fn text(&self, width: usize) -> String {
        let rows = self.cells();
        let of_column = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..4).map(of_column).collect();
        let line = |row: &[String; 5]| {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
            let (head, note) = (cells.concat(), &row[4]);
            if head.len() + NOTE_MIN <= width && !note.is_empty() {
                return wrapped(&head, note, width);
            }
            [head.trim_end().to_string()].into_iter().chain(wrapped("    ", note, width)).collect()
        };
        rows.iter().flat_map(line).map(|line| line + "\n").collect()
    }

    /// One JSON object and a line break.
    ///
    /// # Errors
    /// Never with the values that a store has.
    pub fn json(&self) -> Result<String, ReportError> {
        let object = json!({ "jobs": [&self.a, &self.b], "items": &self.items });
        Ok(serde_json::to_string_pretty(&object)? + "\n")
    }

    /// The cells of the table, with its head.
    pub(crate) fn cells(&self) -> Vec<[String; 5]> {
        let head = ["", &format!("job {}", self.a), &format!("job {}", self.b), "difference", ""];
        std::iter::once(head.map(printable)).chain(self.items.iter().map(cells)).collect()
    }
}

fn cells(of: &ComparedItem) -> [String; 5] {
    let figure = |text: &Option<String>| match text {
        Some(text) if of.unit.is_empty() => printable(text),
        Some(text) => format!("{} {}", printable(text), of.unit),
        None => "not known".to_string(),
    };
    let difference = of.difference.map(|d| format!("{d:+.3}")).unwrap_or_default();
    let difference = difference.trim_end_matches('0').trim_end_matches('.').to_string();
    [printable(&of.item), figure(&of.a), figure(&of.b), difference, of.note.clone().unwrap_or_default()]
}
