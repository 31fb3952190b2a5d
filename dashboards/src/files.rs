//! `/api/v1/files`: write rates of the file systems and of jobs.

use crate::answer::{Answer, ApiError, Checked, checked_search};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use store::read::{self, Reader};

/// Step and range of the rates, in seconds.
const STEPS: (f64, f64) = (10.0, 300.0);
/// The same in a database, which has sums of minutes: the signals of all clients in five minutes are millions of rows.
const STEPS_OF_DATABASE: (f64, f64) = (60.0, 3_600.0);
/// Maximum of jobs listed; the largest write rate comes first.
const JOBS_MAX: i64 = 50;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesQuery {
    /// The mount; without it the first of the list.
    mount: Option<String>,
}

/// A file system.
#[derive(Debug, Serialize)]
pub struct Mount {
    mount: String,
    clients: i64,
    /// Clients with a signal within the last 5 s.
    reporting: i64,
    writing: i64,
    contended: i64,
    /// Write rate of all clients, in bytes/s; `null` without data.
    write_bytes_per_s: Option<f64>,
}

/// Write rate of all clients, step by step.
#[derive(Debug, Default, Serialize)]
pub struct Rates {
    /// Length of a step, in seconds.
    step_s: f64,
    /// Range, in seconds.
    over_s: f64,
    /// Start of each step.
    time: Vec<f64>,
    write_bytes_per_s: Vec<Option<f64>>,
    /// The largest rate of all steps.
    most_bytes_per_s: Option<f64>,
}

/// A running job with clients of the mount.
#[derive(Debug, Serialize)]
pub struct Writer {
    job_id: String,
    user: String,
    name: String,
    clients: i64,
    contended: i64,
    write_bytes_per_s: Option<f64>,
    slowdown_s: Option<f64>,
    slowdown_lo_s: Option<f64>,
    slowdown_hi_s: Option<f64>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Files {
    clock: Option<f64>,
    mounts: Vec<Mount>,
    /// The mount of `rates` and `jobs`.
    mount: Option<String>,
    rates: Rates,
    jobs: Vec<Writer>,
}

/// Answers `/api/v1/files`.
///
/// # Errors
/// 400 for bad parameters, 404 for a mount without clients, 503 before there is a store.
pub async fn files(State(state): State<PageState>, Checked(query): Checked<FilesQuery>) -> Answer<Files> {
    checked_search(query.mount.as_deref())?;
    state.reader.read(move |store| read_files(store, query.mount)).await.map(Json)
}

fn read_files(store: &Reader<'_>, given: Option<String>) -> Result<Files, ApiError> {
    let mounts = read_mounts(store)?;
    if let Some(name) = &given
        && !mounts.iter().any(|mount| mount.mount == *name)
    {
        return Err(ApiError::NotFound(format!("no client reports the mount {name}")));
    }
    let mount = given.or_else(|| mounts.first().map(|first| first.mount.clone()));
    let clock = store.clock()?;
    let (rates, jobs) = match (&mount, clock) {
        (Some(mount), Some(now)) => (read_rates(store, mount, now)?, read_jobs(store, mount)?),
        _ => (Rates::default(), Vec::new()),
    };
    Ok(Files { clock, mounts, mount, rates, jobs })
}

fn read_mounts(store: &Reader<'_>) -> Result<Vec<Mount>, ApiError> {
    store.rows(read::files::MOUNTS, &[], |row| {
        Ok(Mount {
            mount: row.get(0)?,
            clients: row.get(1)?,
            reporting: row.get(2)?,
            writing: row.get(3)?,
            contended: row.get(4)?,
            write_bytes_per_s: row.get(5)?,
        })
    })
}

fn read_rates(store: &Reader<'_>, mount: &str, now: f64) -> Result<Rates, ApiError> {
    let (step_s, over_s) = match store {
        Reader::Sqlite(_) => STEPS,
        Reader::Postgres(_) => STEPS_OF_DATABASE,
    };
    let mut rates = Rates { step_s, over_s, ..Rates::default() };
    store.rows(read::files::RATES, &[&mount, &now, &over_s], |row| {
        rates.time.push(row.get(0)?);
        rates.write_bytes_per_s.push(row.get(1)?);
        Ok::<_, ApiError>(())
    })?;
    rates.most_bytes_per_s = rates.write_bytes_per_s.iter().flatten().copied().reduce(f64::max);
    Ok(rates)
}

fn read_jobs(store: &Reader<'_>, mount: &str) -> Result<Vec<Writer>, ApiError> {
    store.rows(read::files::JOBS, &[&mount, &JOBS_MAX], |row| {
        Ok(Writer {
            job_id: row.get(0)?,
            user: row.get(1)?,
            name: row.get(2)?,
            clients: row.get(3)?,
            contended: row.get(4)?,
            write_bytes_per_s: row.get(5)?,
            slowdown_s: row.get(6)?,
            slowdown_lo_s: row.get(7)?,
            slowdown_hi_s: row.get(8)?,
        })
    })
}
