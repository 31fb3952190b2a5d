//! Two runs side by side.

use super::words::printable;
use store::read::jobs::ComparedItem;

/// The cells of the table, with its head.
pub(super) fn cells(a: &str, b: &str, items: &[ComparedItem]) -> Vec<[String; 5]> {
    let head = ["", &format!("job {a}"), &format!("job {b}"), "difference", ""].map(printable);
    let row = |i: &ComparedItem| {
        let figure = |text: &Option<String>| match text {
            Some(text) if i.unit.is_empty() => printable(text),
            Some(text) => format!("{} {}", printable(text), i.unit),
            None => "not known".to_string(),
        };
        let difference = i.difference.map(|d| format!("{d:+.3}")).unwrap_or_default();
        let difference = difference.trim_end_matches('0').trim_end_matches('.').to_string();
        [printable(&i.item), figure(&i.a), figure(&i.b), difference, i.note.clone().unwrap_or_default()]
    };
    std::iter::once(head).chain(items.iter().map(row)).collect()
}

/// The table as text.
pub(super) fn render(a: &str, b: &str, items: &[ComparedItem]) -> String {
    let rows = cells(a, b, items);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
