//! `/api/v1/episodes`: contended stretches, and one of them with the points around it.

use crate::answer::{
    AT_MAX, Answer, ApiError, Between, Checked, checked_between, checked_episode, checked_job_id,
    checked_limit, checked_series_name, checked_time,
};
use crate::list_query::{Filters, Order, checked_state};
use crate::loss_curve::EpisodeLoss;
use crate::now::{MetricFacts, metric_facts};
use crate::points::{Points, read_points};
use crate::router::PageState;
use crate::series::{JobBeside, jobs_beside};
use crate::spans::{Span, read_spans};
use axum::Json;
use axum::extract::{Path, State};
use report::Explanation;
use schemas::{CauseShare, Metric, Name};
use serde::{Deserialize, Serialize};
use store::read::episodes::EPISODES_OF_PARTITION;
use store::read::{self, Reader, Row};

const EPISODES_STANDARD: u32 = 200;
const EPISODES_MAX: u32 = 1_000;
const COLUMNS: [&str; 7] = ["episode", "series", "start", "length", "lost", "cause", "completeness"];
/// A database stops counting here; `schemas/store/sql/read/postgres/episode_count.sql` has the same number.
const EPISODES_COUNTED: i64 = 100_000;
/// Time shown before and after an episode, in seconds.
const AROUND_S: f64 = 60.0;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeQuery {
    /// `open` or `ended`.
    state: Option<String>,
    series: Option<String>,
    job: Option<String>,
    /// User of a job that used the series at the time.
    user: Option<String>,
    /// A node with its switch, or a switch.
    node: Option<String>,
    cause: Option<String>,
    mount: Option<String>,
    /// One of `COLUMNS`.
    sort: Option<String>,
    dir: Option<String>,
    /// Only episodes that end at this time or later, in seconds since the epoch.
    from: Option<f64>,
    /// Only episodes that start at this time or before.
    to: Option<f64>,
    /// Adds what each had lost by this time; of at most `AT_MAX` episodes.
    at: Option<f64>,
    limit: Option<u32>,
    offset: Option<u32>,
}

/// Checked query parameters.
#[derive(Debug)]
pub struct EpisodeFilter {
    /// Only open episodes, or only ended ones.
    pub open: Option<bool>,
    /// Only episodes of the series with this name.
    pub series: Option<String>,
    /// Only episodes of the series of this job, during its run.
    pub job: Option<Name>,
    /// Only episodes that touch this time.
    pub between: Between,
    /// Further filters.
    pub filters: Filters,
    /// Without a column open ones are first, then the latest.
    pub order: Order,
}

impl EpisodeFilter {
    /// All episodes of the series of a job during its run.
    pub fn of_job(job: Name) -> EpisodeFilter {
        EpisodeFilter {
            open: None,
            series: None,
            job: Some(job),
            between: [None, None],
            filters: Filters::default(),
            order: Order::USUAL,
        }
    }

    /// Whether episodes of all series match.
    fn is_wide(&self) -> bool {
        self.series.is_none() && self.job.is_none()
    }

    /// Whether the indexes of the usual lists do not help.
    fn is_search(&self) -> bool {
        !self.filters.is_empty() || self.order.by.is_some()
    }
}

/// An episode in a list.
#[derive(Debug, Serialize)]
pub struct EpisodeLine {
    /// In a database each partition has its own numbers: the id is 10^12 times the partition plus the number.
    id: i64,
    series: String,
    metric: String,
    component: String,
    part: Option<String>,
    start: f64,
    end: f64,
    open: bool,
    duration_s: f64,
    /// `null` if the model had no value, like the baseline.
    peak: Option<f64>,
    baseline: Option<f64>,
    slowdown_s: f64,
    slowdown_lo_s: f64,
    slowdown_hi_s: f64,
    completeness: f64,
    /// Seconds lost by the time `at`, without an interval; `null` without `at`.
    lost_until_s: Option<f64>,
    causes: Vec<CauseShare>,
}

/// The response of the list.
#[derive(Debug, Serialize)]
pub struct Episodes {
    clock: Option<f64>,
    total: i64,
    /// Whether there may be more than `total`: a database counts up to 100,000.
    total_is_least: bool,
    /// A database searches and sorts the latest 50,000 episodes of the range, open ones first. Where there may be more, the start of the
    /// earliest ended one of these, in seconds since the epoch: no earlier one is in `total` and in the list.
    searched_from: Option<f64>,
    episodes: Vec<EpisodeLine>,
}

/// The response for one episode.
#[derive(Debug, Serialize)]
pub struct EpisodeAnswer {
    clock: Option<f64>,
    episode: EpisodeLine,
    metric: Option<MetricFacts>,
    points: Points,
    /// Seconds lost until each of the points, spread from the start of the episode.
    lost_s: Vec<f64>,
    /// Episodes of the series that touch the points, this one among them.
    spans: Vec<Span>,
    /// The rule that decided, in the sentences of `tailback explain`.
    why: Vec<String>,
    /// The facts about it that are missing, likewise.
    unknown: Vec<String>,
    /// Jobs that used the series during the episode.
    jobs: Vec<JobBeside>,
}

/// Answers `/api/v1/episodes`.
///
/// # Errors
/// 400 for bad parameters.
pub async fn episodes(
    State(state): State<PageState>,
    Checked(query): Checked<EpisodeQuery>,
) -> Answer<Episodes> {
    let at = query.at.map(|at| checked_time("at", at)).transpose()?;
    let [standard, most] = if at.is_some() { [AT_MAX; 2] } else { [EPISODES_STANDARD, EPISODES_MAX] };
    let limit = checked_limit(query.limit, standard, most)?;
    let filter = EpisodeFilter {
        open: checked_state(query.state.as_deref(), ["open", "ended"])?,
        series: query.series.as_deref().map(checked_series_name).transpose()?,
        job: query.job.as_deref().map(checked_job_id).transpose()?,
        between: checked_between(query.from, query.to)?,
        filters: Filters::checked(
            query.user.as_deref(),
            query.node.as_deref(),
            query.cause.as_deref(),
            query.mount.as_deref(),
        )?,
        order: Order::checked(query.sort.as_deref(), query.dir.as_deref(), &COLUMNS)?,
    };
    let offset = query.offset.unwrap_or(0);
    let answer = state.reader.read(move |store| {
        let mut found = list_episodes(store, &filter, limit, offset)?;
        if let Some(at) = at {
            for episode in &mut found.episodes {
                episode.lost_until_s = Some(read_loss(store, episode)?.until(at));
            }
        }
        Ok(found)
    });
    answer.await.map(Json)
}

fn list_episodes(
    store: &Reader<'_>,
    filter: &EpisodeFilter,
    limit: u32,
    offset: u32,
) -> Result<Episodes, ApiError> {
    let clock = store.clock()?;
    if filter.is_search() {
        return search_episodes(store, clock, filter, limit, offset);
    }
    let total = count_episodes(store, filter)?;
    Ok(Episodes {
        clock,
        total,
        total_is_least: total == EPISODES_COUNTED && matches!(store, Reader::Postgres(_)),
        searched_from: None,
        episodes: read_episodes(store, filter, limit, offset)?,
    })
}

/// Answers `/api/v1/episodes/{id}`.
///
/// # Errors
/// 400 for an invalid id, 404 for an unknown episode.
pub async fn episode(State(state): State<PageState>, Path(id): Path<String>) -> Answer<EpisodeAnswer> {
    let id = checked_episode(&id)?;
    state.reader.read(move |store| read_episode(store, id)).await.map(Json)
}

fn count_episodes(store: &Reader<'_>, filter: &EpisodeFilter) -> Result<i64, ApiError> {
    let [from, to] = &filter.between;
    let (series, job) = (filter.series.as_deref(), filter.job.as_ref().map(Name::as_str));
    if filter.is_wide() {
        return Ok(store.one(read::episodes::COUNT, &[&filter.open, from, to], |row| row.get(0))?);
    }
    Ok(store.one(read::episodes::COUNT_OF, &[&filter.open, &series, &job, from, to], |row| row.get(0))?)
}

fn search_episodes(
    store: &Reader<'_>,
    clock: Option<f64>,
    filter: &EpisodeFilter,
    limit: u32,
    offset: u32,
) -> Result<Episodes, ApiError> {
    let (limit, offset) = (i64::from(limit), i64::from(offset));
    let [from, to] = &filter.between;
    let (series, job) = (filter.series.as_deref(), filter.job.as_ref().map(Name::as_str));
    let [user, node, cause, mount] = &filter.filters.parameters();
    let Order { by, sign } = &filter.order;
    let parameters: read::Parameters<'_> =
        &[&filter.open, from, to, &series, &job, user, node, cause, mount, by, sign, &limit, &offset];
    let (mut total, mut searched_from) = (0, None);
    let found = store.rows(read::episodes::SEARCH, parameters, |row| {
        (total, searched_from) = (row.get(0)?, row.get(1)?);
        // Without a match one row has the number and the range alone.
        row.get::<Option<i64>>(2)?.map(|_| episode_row_from(row, 2)).transpose()
    })?;
    let episodes = found.into_iter().flatten().collect();
    Ok(Episodes { clock, total, total_is_least: searched_from.is_some(), searched_from, episodes })
}

/// Open episodes first, then the latest; the filters and the order of a search do not count.
///
/// # Errors
/// When the store cannot be read.
pub fn read_episodes(
    store: &Reader<'_>,
    filter: &EpisodeFilter,
    limit: u32,
    offset: u32,
) -> Result<Vec<EpisodeLine>, ApiError> {
    let (limit, offset) = (i64::from(limit), i64::from(offset));
    let [from, to] = &filter.between;
    let (series, job) = (filter.series.as_deref(), filter.job.as_ref().map(Name::as_str));
    if filter.is_wide() {
        return store.rows(read::episodes::LIST, &[&filter.open, &limit, &offset, from, to], episode_row);
    }
    store.rows(
        read::episodes::LIST_OF,
        &[&filter.open, &limit, &offset, &series, &job, from, to],
        episode_row,
    )
}

fn read_episode(store: &Reader<'_>, id: i64) -> Result<EpisodeAnswer, ApiError> {
    let episode = store
        .first(read::episodes::ONE, &[&id], episode_row)?
        .ok_or_else(|| ApiError::NotFound(format!("no episode {id}")))?;
    let (from, to) = (episode.start - AROUND_S, episode.end + AROUND_S);
    let points = read_points(store, &episode.series, from, to)?;
    let loss = read_loss(store, &episode)?;
    let (partition, number) = (id / EPISODES_OF_PARTITION, id % EPISODES_OF_PARTITION);
    let partition = i32::try_from(partition).unwrap_or(i32::MAX);
    let explanation = Explanation::read(store, partition, number)?;
    Ok(EpisodeAnswer {
        clock: store.clock()?,
        metric: Metric::from_name(&episode.metric).map(metric_facts),
        lost_s: points.time.iter().map(|time| loss.until(*time)).collect(),
        points,
        spans: read_spans(store, &episode.series, from, to)?,
        why: explanation.as_ref().map(Explanation::why).unwrap_or_default(),
        unknown: explanation.as_ref().map(Explanation::unknown).unwrap_or_default(),
        jobs: jobs_beside(store, &episode.series, episode.start, episode.end)?,
        episode,
    })
}

fn read_loss(store: &Reader<'_>, episode: &EpisodeLine) -> Result<EpisodeLoss, ApiError> {
    let profile: String = store.one(read::episodes::PROFILE, &[&episode.id], |row| row.get(0))?;
    Ok(EpisodeLoss {
        start: episode.start,
        slowdown_s: episode.slowdown_s,
        // An unreadable profile loses its shape only, as in the curve of a job.
        profile: serde_json::from_str(&profile).unwrap_or_default(),
    })
}

fn episode_row(row: &Row<'_>) -> Result<EpisodeLine, ApiError> {
    episode_row_from(row, 0)
}

/// An episode whose columns begin at `first`.
fn episode_row_from(row: &Row<'_>, first: usize) -> Result<EpisodeLine, ApiError> {
    let causes: String = row.get(first + 15)?;
    Ok(EpisodeLine {
        id: row.get(first)?,
        series: row.get(first + 1)?,
        metric: row.get(first + 2)?,
        component: row.get(first + 3)?,
        part: row.get(first + 4)?,
        start: row.get(first + 5)?,
        end: row.get(first + 6)?,
        open: row.get(first + 7)?,
        duration_s: row.get(first + 8)?,
        peak: row.get(first + 9)?,
        baseline: row.get(first + 10)?,
        slowdown_s: row.get(first + 11)?,
        slowdown_lo_s: row.get(first + 12)?,
        slowdown_hi_s: row.get(first + 13)?,
        completeness: row.get(first + 14)?,
        lost_until_s: None,
        causes: serde_json::from_str(&causes)?,
    })
}
