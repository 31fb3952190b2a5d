//! `/api/v1/health/history`: lag, drops and silent sources by minute, from a database.

use crate::answer::{Answer, ApiError};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use store::read::health::HISTORY;
use store::read::{Reader, Row};

/// Range: six hours.
const OVER_S: f64 = 21_600.0;

/// One metric over time.
#[derive(Debug, Serialize)]
pub struct Line {
    /// `lag_s` of a stage in seconds, `dropped_rows` for a reason in rows a minute, `silent_sources`.
    figure: String,
    /// The stage or the reason; empty for `silent_sources`.
    label: String,
    time: Vec<f64>,
    value: Vec<Option<f64>>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct HealthHistory {
    /// False for the embedded store, which keeps the latest values only.
    kept: bool,
    /// Range in seconds of event time.
    over_s: f64,
    lines: Vec<Line>,
}

/// Answers `/api/v1/health/history`.
///
/// # Errors
/// 503 before there is a store.
pub async fn health_history(State(state): State<PageState>) -> Answer<HealthHistory> {
    state.reader.read(read_history).await.map(Json)
}

fn read_history(store: &Reader<'_>) -> Result<HealthHistory, ApiError> {
    let Reader::Postgres(session) = store else {
        return Ok(HealthHistory { kept: false, over_s: OVER_S, lines: Vec::new() });
    };
    let mut lines: Vec<Line> = Vec::new();
    for row in session.ask(HISTORY, &[&OVER_S])? {
        add(&mut lines, &Row::Postgres(&row))?;
    }
    Ok(HealthHistory { kept: true, over_s: OVER_S, lines })
}

/// Rows are sorted by figure and label.
fn add(lines: &mut Vec<Line>, row: &Row<'_>) -> Result<(), ApiError> {
    let (figure, label): (String, String) = (row.get(0)?, row.get(1)?);
    if lines.last().is_none_or(|line| (&line.figure, &line.label) != (&figure, &label)) {
        lines.push(Line { figure, label, time: Vec::new(), value: Vec::new() });
    }
    if let Some(line) = lines.last_mut() {
        line.time.push(row.get(2)?);
        line.value.push(row.get(3)?);
    }
    Ok(())
}
