//! Episodes of one series as stretches of time: what a chart shades.

use crate::answer::ApiError;
use crate::question;
use crate::store::Store;
use serde::Serialize;

/// An episode without its figures.
#[derive(Debug, Serialize)]
pub struct Span {
    id: i64,
    /// Dated by the model: contention began some seconds before it was told.
    start: f64,
    /// The latest contended tick while it is open.
    end: f64,
    open: bool,
}

/// Episodes of `series` that touch the time between `from` and `to`, latest first, at most 1,000.
///
/// # Errors
/// When the store cannot be read.
pub fn read_spans(store: &Store<'_>, series: &str, from: f64, to: f64) -> Result<Vec<Span>, ApiError> {
    store.rows(question!("spans"), &[&series, &from, &to], |row| {
        Ok(Span { id: row.get(0)?, start: row.get(1)?, end: row.get(2)?, open: row.get(3)? })
    })
}
