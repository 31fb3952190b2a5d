//! `/api/v1/files`: what is written to each file system, and by whom.

use crate::answer::{Answer, ApiError, Checked, checked_search};
use crate::reader::Store;
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

/// Span of the rates, in seconds.
const RATES_S: f64 = 300.0;
/// Jobs listed; those that write most come first.
const JOBS_MAX: u32 = 50;

/// Which file system.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesQuery {
    /// Without it, the first of the list.
    mount: Option<String>,
}

/// A file system.
#[derive(Debug, Serialize)]
pub struct Mount {
    mount: String,
    clients: i64,
    /// Clients with a signal within the last 5 s.
    heard: i64,
    writing: i64,
    contended: i64,
    /// What all of them write, in bytes a second; `null` when nobody is heard.
    write_bytes_per_s: Option<f64>,
}

/// What all clients write, step by step.
#[derive(Debug, Default, Serialize)]
pub struct Rates {
    /// Begin of each step of ten seconds.
    time: Vec<f64>,
    write_bytes_per_s: Vec<Option<f64>>,
    /// The most in them.
    most_bytes_per_s: Option<f64>,
}

/// A running job that writes there.
#[derive(Debug, Serialize)]
pub struct Writer {
    job_id: String,
    user: String,
    name: String,
    clients: i64,
    contended: i64,
    write_bytes_per_s: Option<f64>,
    slowdown_s: Option<f64>,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Files {
    clock: Option<f64>,
    mounts: Vec<Mount>,
    /// The mount that `rates` and `jobs` are about.
    mount: Option<String>,
    rates: Rates,
    jobs: Vec<Writer>,
}

/// Answers `/api/v1/files`.
///
/// # Errors
/// 400 for bad parameters, 404 for a mount that nobody reports, 503 before there is a store.
pub async fn files(State(state): State<PageState>, Checked(query): Checked<FilesQuery>) -> Answer<Files> {
    checked_search(query.mount.as_deref())?;
    state.reader.read(move |store| read_files(store, query.mount)).await.map(Json)
}

fn read_files(store: &Store<'_>, asked: Option<String>) -> Result<Files, ApiError> {
    let mounts = read_mounts(store)?;
    if let Some(name) = &asked
        && !mounts.iter().any(|mount| mount.mount == *name)
    {
        return Err(ApiError::NotFound(format!("no client reports the mount {name}")));
    }
    let mount = asked.or_else(|| mounts.first().map(|first| first.mount.clone()));
    let clock = store.clock()?;
    let (rates, jobs) = match (&mount, clock) {
        (Some(mount), Some(now)) => (read_rates(store, mount, now)?, read_jobs(store, mount)?),
        _ => (Rates::default(), Vec::new()),
    };
    Ok(Files { clock, mounts, mount, rates, jobs })
}

fn read_mounts(store: &Store<'_>) -> Result<Vec<Mount>, ApiError> {
    store.rows(include_str!("../sql/files_mounts.sql"), [], |row| {
        Ok(Mount {
            mount: row.get(0)?,
            clients: row.get(1)?,
            heard: row.get(2)?,
            writing: row.get(3)?,
            contended: row.get(4)?,
            write_bytes_per_s: row.get(5)?,
        })
    })
}

fn read_rates(store: &Store<'_>, mount: &str, now: f64) -> Result<Rates, ApiError> {
    let mut rates = Rates::default();
    store.rows(include_str!("../sql/files_rates.sql"), (mount, now, RATES_S), |row| {
        rates.time.push(row.get(0)?);
        rates.write_bytes_per_s.push(row.get(1)?);
        Ok(())
    })?;
    rates.most_bytes_per_s = rates.write_bytes_per_s.iter().flatten().copied().reduce(f64::max);
    Ok(rates)
}

fn read_jobs(store: &Store<'_>, mount: &str) -> Result<Vec<Writer>, ApiError> {
    store.rows(include_str!("../sql/files_jobs.sql"), (mount, JOBS_MAX), |row| {
        Ok(Writer {
            job_id: row.get(0)?,
            user: row.get(1)?,
            name: row.get(2)?,
            clients: row.get(3)?,
            contended: row.get(4)?,
            write_bytes_per_s: row.get(5)?,
            slowdown_s: row.get(6)?,
        })
    })
}
