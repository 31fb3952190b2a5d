//! `/api/v1/jobs/{id}/neighbours` and `/earlier`: the comparison of a job with others.

use crate::answer::{Answer, ApiError, checked_job_id};
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use store::read::{self, Reader, Row};

/// Maximum of neighbours listed; the longest overlap comes first.
const NEIGHBOURS_MAX: i64 = 100;
/// Maximum of runs listed, including the job.
const RUNS_MAX: i64 = 20;

/// A job that ran at the same time, and a resource that both shared.
#[derive(Debug, Serialize)]
pub struct Neighbour {
    job_id: String,
    user: String,
    name: String,
    /// Start of the overlap, in seconds since the epoch.
    from: f64,
    until: f64,
    overlap_s: f64,
    /// `switch` (an Aries router), `group`, `file system` or `region`.
    shared: String,
    /// Number of shared resources.
    count: i64,
    /// Their names; of many only the first.
    what: String,
}

/// A run of the same configuration.
#[derive(Debug, Serialize)]
pub struct Run {
    job_id: String,
    start: f64,
    end: Option<f64>,
    run_s: f64,
    /// `null` until there is a result, like the interval.
    slowdown_s: Option<f64>,
    slowdown_lo_s: Option<f64>,
    slowdown_hi_s: Option<f64>,
    nodes: i64,
    /// Time on this placement over that on the best known one (Kang 2019); `null` where it is unknown.
    placement: Option<f64>,
    completeness: Option<f64>,
}

/// The response of `/neighbours`.
#[derive(Debug, Serialize)]
pub struct Neighbours {
    neighbours: Vec<Neighbour>,
}

/// The response of `/earlier`.
#[derive(Debug, Serialize)]
pub struct Runs {
    /// The job itself and earlier runs, latest first.
    runs: Vec<Run>,
}

/// Answers `/api/v1/jobs/{id}/neighbours`.
///
/// # Errors
/// 400 for an invalid job id, 404 for an unknown job.
pub async fn neighbours(State(state): State<PageState>, Path(id): Path<String>) -> Answer<Neighbours> {
    let id = checked_job_id(&id)?;
    let answer = state.reader.read(move |store| {
        runs_of(store, id.as_str())?;
        let neighbours = store.rows(read::jobs::NEIGHBOURS, &[&id.as_str(), &NEIGHBOURS_MAX], neighbour)?;
        Ok(Neighbours { neighbours })
    });
    answer.await.map(Json)
}

/// Answers `/api/v1/jobs/{id}/earlier`.
///
/// # Errors
/// 400 for an invalid job id, 404 for an unknown job.
pub async fn earlier(State(state): State<PageState>, Path(id): Path<String>) -> Answer<Runs> {
    let id = checked_job_id(&id)?;
    state.reader.read(move |store| Ok(Runs { runs: runs_of(store, id.as_str())? })).await.map(Json)
}

/// The job and earlier runs.
///
/// # Errors
/// 404 for an unknown job.
pub(crate) fn runs_of(store: &Reader<'_>, id: &str) -> Result<Vec<Run>, ApiError> {
    let runs = store.rows(read::jobs::EARLIER, &[&id, &RUNS_MAX], run)?;
    if runs.is_empty() {
        return Err(ApiError::NotFound(format!("no job {id}")));
    }
    Ok(runs)
}

fn neighbour(row: &Row<'_>) -> Result<Neighbour, ApiError> {
    Ok(Neighbour {
        job_id: row.get(0)?,
        user: row.get(1)?,
        name: row.get(2)?,
        from: row.get(3)?,
        until: row.get(4)?,
        overlap_s: row.get(5)?,
        shared: row.get(6)?,
        count: row.get(7)?,
        what: row.get(8)?,
    })
}

fn run(row: &Row<'_>) -> Result<Run, ApiError> {
    Ok(Run {
        job_id: row.get(0)?,
        start: row.get(1)?,
        end: row.get(2)?,
        run_s: row.get(3)?,
        slowdown_s: row.get(4)?,
        slowdown_lo_s: row.get(5)?,
        slowdown_hi_s: row.get(6)?,
        nodes: row.get(7)?,
        placement: row.get(8)?,
        completeness: row.get(9)?,
    })
}
