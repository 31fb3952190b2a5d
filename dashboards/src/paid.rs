//! `/api/v1/paid`: node-hours lost by jobs, by hour and cause.

use crate::answer::{Answer, ApiError};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use store::read::{self, Reader};

const HOUR_S: f64 = 3600.0;
/// Number of hours: a day, including the current hour.
const HOURS: f64 = 24.0;

/// The loss in one hour from one cause.
#[derive(Debug, Serialize)]
pub struct Paid {
    /// Start of the hour.
    time: f64,
    cause: String,
    node_hours: f64,
    /// Sums of the ends of the jobs' intervals, like the upper end.
    node_hours_lo: f64,
    node_hours_hi: f64,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct PaidAnswer {
    clock: Option<f64>,
    /// Start of the first hour; `null` before any data.
    from: Option<f64>,
    /// Number of hours from `from`.
    hours: f64,
    /// Sorted by time; an hour without loss from a cause has no row for it.
    paid: Vec<Paid>,
}

/// Answers `/api/v1/paid`.
///
/// # Errors
/// 503 before there is a store.
pub async fn paid(State(state): State<PageState>) -> Answer<PaidAnswer> {
    state.reader.read(read_paid).await.map(Json)
}

fn read_paid(store: &Reader<'_>) -> Result<PaidAnswer, ApiError> {
    let clock = store.clock()?;
    let from = clock.map(|now| ((now / HOUR_S).floor() + 1.0 - HOURS) * HOUR_S);
    let paid = match from {
        None => Vec::new(),
        Some(from) => store.rows(read::jobs::COST, &[&from, &(from + HOURS * HOUR_S)], |row| {
            Ok::<_, ApiError>(Paid {
                time: row.get(0)?,
                cause: row.get(1)?,
                node_hours: rounded(row.get(2)?),
                node_hours_lo: rounded(row.get(3)?),
                node_hours_hi: rounded(row.get(4)?),
            })
        })?,
    };
    Ok(PaidAnswer { clock, from, hours: HOURS, paid })
}

/// To a billionth: the stores add in an order of their own, which changes the last digits.
fn rounded(node_hours: f64) -> f64 {
    (node_hours * 1e9).round() / 1e9
}
