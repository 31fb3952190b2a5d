//! `/api/v1/alerts`: incidents that fire or ended, and silences; of one incident its deliveries.

use crate::answer::{Answer, ApiError, Checked};
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use schemas::{AlertSilence, Notice};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};
use store::read::{self, Reader, Row};

/// Seconds into the past of ended incidents, as `tailback alerts list --all` lists them.
const ENDED_S: f64 = 7.0 * 86_400.0;
/// Hexadecimal digits of an incident's number.
const DIGITS: usize = 16;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlertQuery {
    /// Also incidents of the latest seven days that ended.
    #[serde(default)]
    all: bool,
}

/// An incident.
#[derive(Debug, Serialize)]
pub struct AlertLine {
    incident: String,
    rule: String,
    severity: String,
    subject: String,
    state: String,
    started: f64,
    fired: f64,
    resolved: Option<f64>,
    action: String,
    summary: String,
    /// Until when silences hold its notices back, by the deliverer's clock; `null` where none does.
    silenced_until: Option<f64>,
    /// Its latest notice; `null` where it is of another version.
    notice: Option<Notice>,
}

/// The response of the list.
#[derive(Debug, Serialize)]
pub struct Alerts {
    clock: Option<f64>,
    alerts: Vec<AlertLine>,
    /// Silences that hold or begin later.
    silences: Vec<AlertSilence>,
}

/// A notice on its way to a receiver.
#[derive(Debug, Serialize)]
pub struct Delivery {
    receiver: String,
    sequence: i64,
    kind: String,
    state: String,
    attempts: i64,
    delivered: Option<f64>,
    last_error: String,
}

/// The response for one incident.
#[derive(Debug, Serialize)]
pub struct AlertAnswer {
    clock: Option<f64>,
    alert: AlertLine,
    deliveries: Vec<Delivery>,
}

/// Answers `/api/v1/alerts`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn alerts(State(state): State<PageState>, Checked(query): Checked<AlertQuery>) -> Answer<Alerts> {
    state.reader.read(move |store| read_alerts(store, query.all)).await.map(Json)
}

/// Answers `/api/v1/alerts/{id}`.
///
/// # Errors
/// 400 for an invalid number, 404 for an unknown incident.
pub async fn alert(State(state): State<PageState>, Path(id): Path<String>) -> Answer<AlertAnswer> {
    if id.len() != DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ApiError::BadRequest(format!("an incident's number has {DIGITS} hexadecimal digits")));
    }
    state.reader.read(move |store| read_alert(store, &id)).await.map(Json)
}

fn read_alerts(store: &Reader<'_>, all: bool) -> Result<Alerts, ApiError> {
    let clock = store.clock()?;
    let now_s = wall_clock_s();
    let silences = read_silences(store, now_s)?;
    let since = clock.unwrap_or(now_s) - ENDED_S;
    let line = |row: &Row<'_>| alert_row(row, &silences, now_s);
    let alerts = store.rows(read::alerts::LIST, &[&all, &since], line)?;
    Ok(Alerts { clock, alerts, silences })
}

fn read_alert(store: &Reader<'_>, id: &str) -> Result<AlertAnswer, ApiError> {
    let now_s = wall_clock_s();
    let silences = read_silences(store, now_s)?;
    let line = |row: &Row<'_>| alert_row(row, &silences, now_s);
    let alert = store.first(read::alerts::ONE, &[&id], line)?;
    Ok(AlertAnswer {
        clock: store.clock()?,
        alert: alert.ok_or_else(|| ApiError::NotFound(format!("no incident {id}")))?,
        deliveries: store.rows(read::alerts::DELIVERIES, &[&id], delivery_row)?,
    })
}

fn read_silences(store: &Reader<'_>, now_s: f64) -> Result<Vec<AlertSilence>, ApiError> {
    store.rows(read::alerts::SILENCES, &[&now_s], |row| {
        let matchers: String = row.get(1)?;
        Ok(AlertSilence {
            id: row.get(0)?,
            // A silence without matchers holds nothing back.
            matchers: serde_json::from_str(&matchers).unwrap_or_default(),
            from_s: row.get(2)?,
            until_s: row.get(3)?,
            author: row.get(4)?,
            comment: row.get(5)?,
        })
    })
}

fn alert_row(row: &Row<'_>, silences: &[AlertSilence], now_s: f64) -> Result<AlertLine, ApiError> {
    let notice: String = row.get(10)?;
    let notice: Option<Notice> = serde_json::from_str(&notice).ok();
    let holding = silences.iter().filter(|silence| notice.as_ref().is_some_and(|n| silence.holds(n, now_s)));
    Ok(AlertLine {
        incident: row.get(0)?,
        rule: row.get(1)?,
        severity: row.get(2)?,
        subject: row.get(3)?,
        state: row.get(4)?,
        started: row.get(5)?,
        fired: row.get(6)?,
        resolved: row.get(7)?,
        action: row.get(8)?,
        summary: row.get(9)?,
        silenced_until: holding.map(|silence| silence.until_s).reduce(f64::max),
        notice,
    })
}

fn delivery_row(row: &Row<'_>) -> Result<Delivery, ApiError> {
    Ok(Delivery {
        receiver: row.get(0)?,
        sequence: row.get(1)?,
        kind: row.get(2)?,
        state: row.get(3)?,
        attempts: row.get(4)?,
        delivered: row.get(5)?,
        last_error: row.get(6)?,
    })
}

/// Silences hold by the clock of the machines that deliver, also where the times of a store are simulated.
fn wall_clock_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
