//! `/api/v1/health`: the health of the monitoring, with silent producers.

use crate::answer::{Answer, ApiError};
use crate::progress::Progress;
use crate::readings::Readings;
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use schemas::DropReason;
use serde::Serialize;
use std::sync::Arc;
use store::read::health::{CONDITIONS, Condition, condition};
use store::read::{self, Reader};

/// Maximum of producers listed; silent ones come first.
const PRODUCERS_MAX: i64 = 500;

/// Reports of one producer about one component.
#[derive(Debug, Serialize)]
pub struct Producer {
    producer: String,
    schema: String,
    component: String,
    /// The mount or port; empty if rows cover several.
    part: String,
    last_time: f64,
    rows: i64,
    /// Whether no row was received within the last 5 s of event time.
    silent: bool,
}

/// Dropped rows for one reason.
#[derive(Debug, Serialize)]
pub struct Drops {
    reason: String,
    meaning: &'static str,
    count: i64,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Health {
    clock: Option<f64>,
    progress: Progress,
    /// Share of series with a signal within the last 5 s; `null` without series.
    completeness: Option<f64>,
    series: i64,
    series_heard: i64,
    producers_total: i64,
    producers_silent: i64,
    rows_accepted: i64,
    producers: Vec<Producer>,
    drops: Vec<Drops>,
    /// Values beside their limits, those above first; empty for an embedded store.
    conditions: Vec<ConditionShown>,
    store_bytes: u64,
}

/// A value of Tailback's own condition.
#[derive(Debug, Serialize)]
pub struct ConditionShown {
    name: String,
    /// The stage or the receiver; empty where there is one value alone.
    label: String,
    value: f64,
    above: f64,
    /// `exceeded` or `within`.
    state: &'static str,
    meaning: String,
}

/// Answers `/api/v1/health`.
///
/// # Errors
/// 503 before there is a store.
pub async fn health(State(state): State<PageState>) -> Answer<Health> {
    let progress = *state.ticks.borrow();
    let readings = Arc::clone(&state.readings);
    state.reader.read(move |store| read_health(store, &readings, progress)).await.map(Json)
}

fn read_health(store: &Reader<'_>, readings: &Readings, progress: Progress) -> Result<Health, ApiError> {
    let totals = readings.totals(store)?;
    let counts = store.one(read::health::PRODUCER_COUNTS, &[], |row| {
        Ok::<_, ApiError>((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(Health {
        clock: store.clock()?,
        progress,
        completeness: totals.completeness,
        series: totals.series,
        series_heard: totals.series_heard,
        producers_total: counts.0,
        producers_silent: counts.1,
        rows_accepted: counts.2,
        producers: read_producers(store)?,
        drops: read_drops(store)?,
        conditions: read_conditions(store)?,
        store_bytes: store.bytes()?,
    })
}

fn read_conditions(store: &Reader<'_>) -> Result<Vec<ConditionShown>, ApiError> {
    let Reader::Postgres(session) = store else { return Ok(Vec::new()) };
    let shown = |row| {
        let Condition { name, label, value, above, is_exceeded, meaning } = condition(row)?;
        let state = if is_exceeded { "exceeded" } else { "within" };
        Ok(ConditionShown { name, label, value, above, state, meaning })
    };
    session.ask(CONDITIONS, &[])?.iter().map(shown).collect()
}

fn read_producers(store: &Reader<'_>) -> Result<Vec<Producer>, ApiError> {
    store.rows(read::health::PRODUCERS, &[&PRODUCERS_MAX], |row| {
        Ok(Producer {
            producer: row.get(0)?,
            schema: row.get(1)?,
            component: row.get(2)?,
            part: row.get(3)?,
            last_time: row.get(4)?,
            rows: row.get(5)?,
            silent: row.get::<Option<bool>>(6)?.unwrap_or(true),
        })
    })
}

fn read_drops(store: &Reader<'_>) -> Result<Vec<Drops>, ApiError> {
    store.rows(read::health::DROPS, &[], |row| {
        let reason: String = row.get(0)?;
        let known = DropReason::ALL.iter().find(|r| r.name() == reason);
        Ok(Drops {
            meaning: known.map_or("A reason unknown to this version.", |r| r.meaning()),
            reason,
            count: row.get(1)?,
        })
    })
}
