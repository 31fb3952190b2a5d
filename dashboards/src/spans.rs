//! Episodes of one series as time ranges, for the shading of charts.

use crate::answer::ApiError;
use serde::Serialize;
use store::read::{self, Reader};

/// The time range of an episode.
#[derive(Debug, Serialize)]
pub struct Span {
    id: i64,
    /// Start dated by the model, some seconds before contention was flagged.
    start: f64,
    /// End; the latest contended tick while it is open.
    end: f64,
    open: bool,
}

/// Episodes of `series` that overlap the range from `from` to `to`, latest first, at most 1,000.
///
/// # Errors
/// When the store cannot be read.
pub fn read_spans(store: &Reader<'_>, series: &str, from: f64, to: f64) -> Result<Vec<Span>, ApiError> {
    store.rows(read::episodes::SPANS, &[&series, &from, &to], |row| {
        Ok(Span { id: row.get(0)?, start: row.get(1)?, end: row.get(2)?, open: row.get(3)? })
    })
}
