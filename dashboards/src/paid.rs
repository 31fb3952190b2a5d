//! `/api/v1/paid`: node-hours that jobs lost, hour by hour, by cause.

use crate::answer::{Answer, ApiError};
use crate::question;
use crate::router::PageState;
use crate::store::Store;
use axum::Json;
use axum::extract::State;
use serde::Serialize;

const HOUR_S: f64 = 3600.0;
/// A day of hours, the one that goes on among them.
const HOURS: f64 = 24.0;

/// What was lost in an hour to one cause.
#[derive(Debug, Serialize)]
pub struct Paid {
    /// Start of the hour.
    time: f64,
    cause: String,
    node_hours: f64,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct PaidAnswer {
    clock: Option<f64>,
    /// Start of the first hour that is told; `null` before any data.
    from: Option<f64>,
    /// Hours told, from `from` on.
    hours: f64,
    /// In order of time; an hour in which nothing was lost to a cause has no row of it.
    paid: Vec<Paid>,
}

/// Answers `/api/v1/paid`.
///
/// # Errors
/// 503 before there is a store.
pub async fn paid(State(state): State<PageState>) -> Answer<PaidAnswer> {
    state.reader.read(read_paid).await.map(Json)
}

fn read_paid(store: &Store<'_>) -> Result<PaidAnswer, ApiError> {
    let clock = store.clock()?;
    let from = clock.map(|now| ((now / HOUR_S).floor() + 1.0 - HOURS) * HOUR_S);
    let paid = match from {
        None => Vec::new(),
        Some(from) => store.rows(question!("paid"), &[&from, &(from + HOURS * HOUR_S)], |row| {
            Ok(Paid { time: row.get(0)?, cause: row.get(1)?, node_hours: row.get(2)? })
        })?,
    };
    Ok(PaidAnswer { clock, from, hours: HOURS, paid })
}
