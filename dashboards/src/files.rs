//! `/api/v1/files`: rates of the clients of file systems and of jobs, by metric.

use crate::answer::{Answer, ApiError, Between, Checked, checked_between, checked_search};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use store::read::{self, Reader, Row};

/// Step and range of the rates, in seconds.
const STEPS: (f64, f64) = (10.0, 300.0);
/// The same in a database, which has sums of minutes: the signals of all clients in five minutes are millions of rows.
const STEPS_OF_DATABASE: (f64, f64) = (60.0, 3_600.0);
/// Steps of a requested range, about.
const STEPS_MAX: f64 = 360.0;
/// Longest range, in seconds.
const RANGE_MAX_S: f64 = 8.0 * 86_400.0;
/// Maximum of jobs listed; the largest rate comes first.
const JOBS_MAX: i64 = 50;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesQuery {
    /// The mount; without it the first of the list.
    mount: Option<String>,
    /// The metric; without it the first of the list.
    metric: Option<String>,
    /// Range of the rates, in seconds since the epoch; mounts and jobs are those at its end.
    from: Option<f64>,
    /// Its end; without it now.
    to: Option<f64>,
}

/// A metric of the clients of file systems.
#[derive(Debug, Serialize)]
pub struct ClientMetric {
    metric: String,
    title: String,
    unit: String,
    /// Contended clients, of all file systems.
    contended: i64,
}

/// A file system.
#[derive(Debug, Serialize)]
pub struct Mount {
    mount: String,
    clients: i64,
    /// Clients with a signal within the last 5 s.
    reporting: i64,
    /// Clients whose rate is above 0.
    active: i64,
    contended: i64,
    /// Rate of all clients, in the metric's unit; `null` without data.
    rate: Option<f64>,
}

/// Rate of all clients, step by step.
#[derive(Debug, Default, Serialize)]
pub struct Rates {
    /// Length of a step, in seconds.
    step_s: f64,
    /// Range, in seconds.
    over_s: f64,
    /// Start of each step.
    time: Vec<f64>,
    /// In the metric's unit.
    rate: Vec<Option<f64>>,
    /// The largest rate of all steps.
    most: Option<f64>,
}

/// A running job with clients of the mount.
#[derive(Debug, Serialize)]
pub struct ClientJob {
    job_id: String,
    user: String,
    name: String,
    clients: i64,
    contended: i64,
    /// In the metric's unit.
    rate: Option<f64>,
    slowdown_s: Option<f64>,
    slowdown_lo_s: Option<f64>,
    slowdown_hi_s: Option<f64>,
    completeness: Option<f64>,
    /// Share of its time with a quiet baseline.
    judged: Option<f64>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Files {
    clock: Option<f64>,
    metrics: Vec<ClientMetric>,
    /// The metric of all that follows.
    metric: Option<String>,
    mounts: Vec<Mount>,
    /// The mount of `rates` and `jobs`.
    mount: Option<String>,
    rates: Rates,
    jobs: Vec<ClientJob>,
}

/// Answers `/api/v1/files`.
///
/// # Errors
/// 400 for bad parameters, 404 for a mount or metric without clients, 503 before there is a store.
pub async fn files(State(state): State<PageState>, Checked(query): Checked<FilesQuery>) -> Answer<Files> {
    checked_search(query.mount.as_deref())?;
    checked_search(query.metric.as_deref())?;
    let between = checked_between(query.from, query.to)?;
    state.reader.read(move |store| read_files(store, query, between)).await.map(Json)
}

fn read_files(store: &Reader<'_>, query: FilesQuery, between: Between) -> Result<Files, ApiError> {
    let [_, at] = between;
    let metrics = read_metrics(store)?;
    let metric = chosen("metric", query.metric, metrics.iter().map(|each| &each.metric))?;
    let mounts = metric.as_ref().map_or(Ok(Vec::new()), |metric| read_mounts(store, metric, at))?;
    let mount = chosen("mount", query.mount, mounts.iter().map(|each| &each.mount))?;
    let clock = store.clock()?;
    let (rates, jobs) = match (&metric, &mount, clock) {
        (Some(metric), Some(mount), Some(now)) => {
            (read_rates(store, mount, metric, between, now)?, read_jobs(store, mount, metric, at)?)
        }
        _ => (Rates::default(), Vec::new()),
    };
    Ok(Files { clock, metrics, metric, mounts, mount, rates, jobs })
}

/// What was given, if it is of the list, else the first of that.
fn chosen<'a>(
    what: &str,
    given: Option<String>,
    mut list: impl Iterator<Item = &'a String>,
) -> Result<Option<String>, ApiError> {
    match given {
        None => Ok(list.next().cloned()),
        Some(name) if list.any(|each| *each == name) => Ok(Some(name)),
        Some(name) => Err(ApiError::NotFound(format!("no client reports the {what} {name}"))),
    }
}

fn read_metrics(store: &Reader<'_>) -> Result<Vec<ClientMetric>, ApiError> {
    store.rows(read::files::METRICS, &[], |row| {
        Ok(ClientMetric {
            metric: row.get(0)?,
            title: row.get(1)?,
            unit: row.get(2)?,
            contended: row.get(3)?,
        })
    })
}

fn read_mounts(store: &Reader<'_>, metric: &str, at: Option<f64>) -> Result<Vec<Mount>, ApiError> {
    let mount = |row: &Row<'_>| {
        Ok(Mount {
            mount: row.get(0)?,
            clients: row.get(1)?,
            reporting: row.get(2)?,
            active: row.get(3)?,
            contended: row.get(4)?,
            rate: row.get(5)?,
        })
    };
    match at {
        Some(at) => store.rows(read::files::MOUNTS_AT, &[&metric, &at], mount),
        None => store.rows(read::files::MOUNTS, &[&metric], mount),
    }
}

/// Rates of the requested range, of its usual length where it has no start.
fn read_rates(
    store: &Reader<'_>,
    mount: &str,
    metric: &str,
    [from, to]: Between,
    now: f64,
) -> Result<Rates, ApiError> {
    let (shortest_s, usual_s) = match store {
        Reader::Sqlite(_) => STEPS,
        Reader::Postgres(_) => STEPS_OF_DATABASE,
    };
    let until = to.unwrap_or(now);
    let over_s = from.map_or(usual_s, |from| (until - from).max(0.0));
    if over_s > RANGE_MAX_S {
        return Err(ApiError::BadRequest(format!("the range is longer than {RANGE_MAX_S} s")));
    }
    // A step of an embedded store shows its first ten seconds.
    let every = (over_s / STEPS_MAX / shortest_s).ceil().max(1.0);
    let mut rates = Rates { step_s: shortest_s * every, over_s, ..Rates::default() };
    store.rows(read::files::RATES, &[&mount, &until, &over_s, &metric, &(every as i64)], |row| {
        rates.time.push(row.get(0)?);
        rates.rate.push(row.get(1)?);
        Ok::<_, ApiError>(())
    })?;
    rates.most = rates.rate.iter().flatten().copied().reduce(f64::max);
    Ok(rates)
}

fn read_jobs(
    store: &Reader<'_>,
    mount: &str,
    metric: &str,
    at: Option<f64>,
) -> Result<Vec<ClientJob>, ApiError> {
    let job = |row: &Row<'_>| {
        Ok(ClientJob {
            job_id: row.get(0)?,
            user: row.get(1)?,
            name: row.get(2)?,
            clients: row.get(3)?,
            contended: row.get(4)?,
            rate: row.get(5)?,
            slowdown_s: row.get(6)?,
            slowdown_lo_s: row.get(7)?,
            slowdown_hi_s: row.get(8)?,
            completeness: row.get(9)?,
            judged: row.get(10)?,
        })
    };
    match at {
        Some(at) => store.rows(read::files::JOBS_AT, &[&mount, &JOBS_MAX, &metric, &at], job),
        None => store.rows(read::files::JOBS, &[&mount, &JOBS_MAX, &metric], job),
    }
}
