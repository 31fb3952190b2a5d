//! `/api/v1/jobs`: jobs with their loss and causes.

use crate::answer::{
    AT_MAX, Answer, ApiError, Between, Checked, checked_between, checked_job_id, checked_limit,
    checked_search, checked_time,
};
use crate::episodes::{EpisodeFilter, EpisodeLine, read_episodes};
use crate::list_query::{Filters, Order, checked_state};
use crate::loss_curve::{EpisodeLoss, LossCurve, loss_curve, lost_until};
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use schemas::{JobProgress, Name};
use serde::{Deserialize, Serialize};
use store::read::{self, Reader, Row};

const JOBS_STANDARD: u32 = 200;
const JOBS_MAX: u32 = 1_000;
const JOB_EPISODES_MAX: u32 = 500;
const COLUMNS: [&str; 9] =
    ["job", "name", "start", "elapsed", "lost", "lost_share", "cause", "completeness", "judged"];

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobQuery {
    /// Part of an id, a name, a user or an application.
    search: Option<String>,
    /// `running` or `ended`.
    state: Option<String>,
    user: Option<String>,
    /// One of its nodes.
    node: Option<String>,
    /// One of the causes of its loss.
    cause: Option<String>,
    /// A file system of which its nodes are clients.
    mount: Option<String>,
    /// One of `COLUMNS`.
    sort: Option<String>,
    dir: Option<String>,
    /// Only jobs that ran at this time or later, in seconds since the epoch.
    from: Option<f64>,
    /// Only jobs that started at this time or before.
    to: Option<f64>,
    /// Adds what each had lost by this time; of at most `AT_MAX` jobs.
    at: Option<f64>,
    limit: Option<u32>,
    offset: Option<u32>,
}

/// Checked query parameters.
#[derive(Debug)]
struct JobFilter<'a> {
    id: Option<&'a str>,
    search: Option<&'a str>,
    running: Option<bool>,
    filters: Filters,
    between: Between,
    /// Without a column running jobs are first, then the latest.
    order: Order,
    limit: u32,
    offset: u32,
}

/// One cause of the loss of a job, with the names of the store.
#[derive(Debug, Serialize)]
pub struct JobCause {
    cause: String,
    kind: String,
    series_or_job: String,
    share: f64,
}

/// A job in a list; the loss is `null` until there is a result.
#[derive(Debug, Serialize)]
pub struct JobLine {
    job_id: String,
    user: String,
    name: String,
    app: Option<String>,
    nodes: i64,
    start: f64,
    end: Option<f64>,
    /// Seconds until its end, or until now while it runs.
    elapsed_s: Option<f64>,
    contended_s: Option<f64>,
    slowdown_s: Option<f64>,
    slowdown_lo_s: Option<f64>,
    slowdown_hi_s: Option<f64>,
    /// Lost share of the elapsed time, in percent.
    lost_percent: Option<f64>,
    completeness: Option<f64>,
    /// Share of its time with a quiet baseline.
    judged: Option<f64>,
    /// Seconds lost by the time `at`, by the course of its episodes and without an interval; `null` without `at`, and
    /// where its episodes are not stored, or not all of them.
    lost_until_s: Option<f64>,
    causes: Vec<JobCause>,
}

/// The response of the list.
#[derive(Debug, Serialize)]
pub struct Jobs {
    clock: Option<f64>,
    total: i64,
    jobs: Vec<JobLine>,
}

/// The response for one job.
#[derive(Debug, Serialize)]
pub struct JobAnswer {
    clock: Option<f64>,
    job: JobLine,
    node_names: Vec<String>,
    episodes: Vec<EpisodeLine>,
    /// What its own reports of progress show.
    progress: Vec<JobProgress>,
    loss_curve: LossCurve,
}

/// Answers `/api/v1/jobs`.
///
/// # Errors
/// 400 for bad parameters.
pub async fn jobs(State(state): State<PageState>, Checked(query): Checked<JobQuery>) -> Answer<Jobs> {
    let at = query.at.map(|at| checked_time("at", at)).transpose()?;
    let [standard, most] = if at.is_some() { [AT_MAX; 2] } else { [JOBS_STANDARD, JOBS_MAX] };
    let limit = checked_limit(query.limit, standard, most)?;
    checked_search(query.search.as_deref())?;
    let between = checked_between(query.from, query.to)?;
    let running = checked_state(query.state.as_deref(), ["running", "ended"])?;
    let filters = Filters::checked(
        query.user.as_deref(),
        query.node.as_deref(),
        query.cause.as_deref(),
        query.mount.as_deref(),
    )?;
    let order = Order::checked(query.sort.as_deref(), query.dir.as_deref(), &COLUMNS)?;
    let answer = state.reader.read(move |store| {
        let filter = JobFilter {
            id: None,
            search: query.search.as_deref(),
            running,
            filters,
            between,
            order,
            limit,
            offset: query.offset.unwrap_or(0),
        };
        let (clock, total) = (store.clock()?, count_jobs(store, &filter)?);
        let mut jobs = read_jobs(store, &filter)?;
        if let Some(at) = at {
            for job in &mut jobs {
                job.lost_until_s = job_lost_until(store, job, clock, at)?;
            }
        }
        Ok(Jobs { clock, total, jobs })
    });
    answer.await.map(Json)
}

/// Answers `/api/v1/jobs/{id}`.
///
/// # Errors
/// 400 for an invalid job id, 404 for an unknown job.
pub async fn job(State(state): State<PageState>, Path(id): Path<String>) -> Answer<JobAnswer> {
    let id = checked_job_id(&id)?;
    state.reader.read(move |store| read_job(store, id)).await.map(Json)
}

fn count_jobs(store: &Reader<'_>, filter: &JobFilter<'_>) -> Result<i64, ApiError> {
    let [from, to] = &filter.between;
    let [user, node, cause, mount] = &filter.filters.parameters();
    let parameters: read::Parameters<'_> =
        &[&filter.search, &filter.running, from, to, user, node, cause, mount];
    Ok(store.one(read::jobs::COUNT, parameters, |row| row.get(0))?)
}

fn read_jobs(store: &Reader<'_>, filter: &JobFilter<'_>) -> Result<Vec<JobLine>, ApiError> {
    let clock = store.clock()?;
    let (limit, offset) = (i64::from(filter.limit), i64::from(filter.offset));
    let [from, to] = &filter.between;
    let [user, node, cause, mount] = &filter.filters.parameters();
    let Order { by, sign } = &filter.order;
    let parameters: read::Parameters<'_> = &[
        &filter.search,
        &filter.running,
        from,
        to,
        user,
        node,
        cause,
        mount,
        by,
        sign,
        &limit,
        &offset,
        &filter.id,
    ];
    let mut jobs = store.rows(read::jobs::LIST, parameters, |row| job_row(row, clock))?;
    for job in &mut jobs {
        job.causes = read_causes(store, &job.job_id)?;
    }
    Ok(jobs)
}

fn job_row(row: &Row<'_>, clock: Option<f64>) -> Result<JobLine, ApiError> {
    let (start, end): (f64, Option<f64>) = (row.get(3)?, row.get(4)?);
    let slowdown_s: Option<f64> = row.get(6)?;
    let elapsed_s = end.or(clock).map(|until| (until - start).max(0.0));
    let lost_percent = match (slowdown_s, elapsed_s) {
        (Some(lost), Some(elapsed)) if elapsed > 0.0 => Some(100.0 * lost / elapsed),
        _ => None,
    };
    Ok(JobLine {
        job_id: row.get(0)?,
        user: row.get(1)?,
        name: row.get(2)?,
        app: row.get(11)?,
        nodes: row.get(10)?,
        start,
        end,
        elapsed_s,
        contended_s: row.get(5)?,
        slowdown_s,
        slowdown_lo_s: row.get(7)?,
        slowdown_hi_s: row.get(8)?,
        lost_percent,
        completeness: row.get(9)?,
        judged: row.get(12)?,
        lost_until_s: None,
        causes: Vec::new(),
    })
}

fn read_causes(store: &Reader<'_>, job_id: &str) -> Result<Vec<JobCause>, ApiError> {
    store.rows(read::jobs::CAUSES, &[&job_id], |row| {
        Ok(JobCause { cause: row.get(0)?, kind: row.get(1)?, series_or_job: row.get(2)?, share: row.get(3)? })
    })
}

fn read_job(store: &Reader<'_>, id: Name) -> Result<JobAnswer, ApiError> {
    let no_job = || ApiError::NotFound(format!("no job {id}"));
    let one = JobFilter {
        id: Some(id.as_str()),
        search: None,
        running: None,
        filters: Filters::default(),
        between: [None, None],
        order: Order::USUAL,
        limit: 1,
        offset: 0,
    };
    let job = read_jobs(store, &one)?.pop().ok_or_else(no_job)?;
    let clock = store.clock()?;
    let node_names = store.rows(read::jobs::NODES, &[&id.as_str()], |row| row.get(0))?;
    let until = job.end.or(clock).unwrap_or(job.start);
    let losses = read_losses(store, id.as_str())?;
    let curve = loss_curve(&losses, job.start, until, job.slowdown_s.unwrap_or(0.0));
    let progress = read::jobs::progress(store, &id)?;
    let episodes = read_episodes(store, &EpisodeFilter::of_job(id), JOB_EPISODES_MAX, 0)?;
    Ok(JobAnswer { clock, job, node_names, episodes, progress, loss_curve: curve })
}

fn job_lost_until(
    store: &Reader<'_>,
    job: &JobLine,
    clock: Option<f64>,
    at: f64,
) -> Result<Option<f64>, ApiError> {
    let losses = read_losses(store, &job.job_id)?;
    // Of more episodes the earliest are not read.
    if losses.len() >= JOB_EPISODES_MAX as usize {
        return Ok(None);
    }
    let end = job.end.or(clock).unwrap_or(job.start);
    Ok(lost_until(&losses, job.start, end, job.slowdown_s.unwrap_or(0.0), at))
}

fn read_losses(store: &Reader<'_>, job_id: &str) -> Result<Vec<EpisodeLoss>, ApiError> {
    store.rows(read::jobs::PROFILES, &[&job_id], |row| {
        let profile: String = row.get(2)?;
        Ok(EpisodeLoss {
            start: row.get(0)?,
            slowdown_s: row.get(1)?,
            // The loss of an unreadable profile counts as a step.
            profile: serde_json::from_str(&profile).unwrap_or_default(),
        })
    })
}
