//! `/api/v1/regions`: regions of contended links, and one of them with its history, links, causes and victims.

use crate::answer::{Answer, ApiError, Checked, checked_limit, checked_number};
use crate::now::{MetricFacts, metric_facts};
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use schemas::Metric;
use serde::{Deserialize, Serialize};
use store::read::{self, Reader, Row};

const REGIONS_STANDARD: u32 = 100;
const REGIONS_MAX: u32 = 1_000;
/// Maximum of steps in a response, the latest ones; a region rarely has more than a few dozen.
const STEPS_MAX: i64 = 500;
/// Maximum of links in a response; links that belong to the region come first.
const LINKS_MAX: i64 = 200;

/// A region of connected contended links.
#[derive(Debug, Serialize)]
pub struct Region {
    id: i64,
    metric: String,
    name: String,
    start: f64,
    /// End; of an open region the latest tick.
    end: f64,
    open: bool,
    links: i64,
    links_most: i64,
    kind: String,
    kind_confidence: f64,
    /// Share by which the worst load would fall if parallel links were even.
    relief: f64,
    cause: String,
    confidence: f64,
    completeness: f64,
    /// The series or job that is the main cause.
    who: Option<String>,
    worst_series: Option<String>,
    /// Seconds lost by all affected jobs; `null` without any, like the sums of the ends of their intervals.
    lost_s: Option<f64>,
    lost_lo_s: Option<f64>,
    lost_hi_s: Option<f64>,
    /// Peak windowed ratio, in the unit of the metric.
    peak: Option<f64>,
}

/// A change of a region; the columns of the SQL view `region_history`.
#[derive(Debug, Serialize)]
pub struct RegionStep {
    at_time: f64,
    /// `began`, `grew`, `shrank`, `took_up`, `went_into`, `split` or `ended`.
    change: String,
    /// The other region of a split or merge.
    other: Option<i64>,
    /// Its name; `null` also if that region is not stored.
    other_name: Option<String>,
    /// Number of links after the change.
    links: i64,
    worst_series: String,
    /// Its windowed ratio, in the unit of the metric; at the end of the region its peak.
    worst: Option<f64>,
}

/// A link of a region.
#[derive(Debug, Serialize)]
pub struct RegionLink {
    series: String,
    /// Whether it belongs to the region now, or at the end of an ended region.
    belongs: bool,
    /// Current state: a link without data is `unknown`.
    state: String,
    /// Current windowed ratio, in the unit of the metric.
    mean: Option<f64>,
    /// `null` without a topology, like the two ends.
    class: Option<String>,
    from_name: Option<String>,
    to_name: Option<String>,
}

/// A traffic source of a region.
#[derive(Debug, Serialize)]
pub struct RegionCause {
    cause: String,
    series_or_job: String,
    /// Share of the load on the worst links, 0 to 1.
    share: f64,
    confidence: f64,
    /// Evidence, the strongest first.
    evidence: Vec<String>,
}

/// An affected job.
#[derive(Debug, Serialize)]
pub struct RegionVictim {
    job_id: String,
    /// `null` if the job is unknown.
    name: Option<String>,
    user: Option<String>,
    lost_s: f64,
    /// 95% interval, like the upper end.
    lost_lo_s: f64,
    lost_hi_s: f64,
    /// Share of the loss of all affected jobs, 0 to 1.
    share: f64,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct RegionAnswer {
    clock: Option<f64>,
    region: Region,
    metric: Option<MetricFacts>,
    /// The latest steps, at most 500, sorted by time.
    history: Vec<RegionStep>,
    history_total: i64,
    /// At most 200: the worst first, then links that have left the region.
    links: Vec<RegionLink>,
    links_total: i64,
    causes: Vec<RegionCause>,
    victims: Vec<RegionVictim>,
}

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionQuery {
    limit: Option<u32>,
}

/// The response of the list.
#[derive(Debug, Serialize)]
pub struct Regions {
    clock: Option<f64>,
    /// Open regions first, then the latest.
    regions: Vec<Region>,
}

/// Answers `/api/v1/regions`.
///
/// # Errors
/// 400 for bad parameters.
pub async fn regions(
    State(state): State<PageState>,
    Checked(query): Checked<RegionQuery>,
) -> Answer<Regions> {
    let limit = i64::from(checked_limit(query.limit, REGIONS_STANDARD, REGIONS_MAX)?);
    let answer = state.reader.read(move |store| {
        let always: Option<f64> = None;
        let regions = store.rows(read::regions::LIST, &[&always, &always, &limit], region_row)?;
        Ok(Regions { clock: store.clock()?, regions })
    });
    answer.await.map(Json)
}

/// Answers `/api/v1/regions/{id}`.
///
/// # Errors
/// 400 for an invalid id, 404 for an unknown region.
pub async fn region(State(state): State<PageState>, Path(id): Path<String>) -> Answer<RegionAnswer> {
    let id = checked_number("a region's", &id)?;
    state.reader.read(move |store| read_region(store, id)).await.map(Json)
}

fn read_region(store: &Reader<'_>, id: i64) -> Result<RegionAnswer, ApiError> {
    let region = store
        .first(read::regions::ONE, &[&id], region_row)?
        .ok_or_else(|| ApiError::NotFound(format!("no region {id}")))?;
    let mut history = store.rows(read::regions::HISTORY, &[&id, &STEPS_MAX], step_row)?;
    history.reverse();
    let count = |question| store.one(question, &[&id], |row| row.get(0));
    Ok(RegionAnswer {
        clock: store.clock()?,
        metric: Metric::from_name(&region.metric).map(metric_facts),
        region,
        history,
        history_total: count(read::regions::STEP_COUNT)?,
        links: store.rows(read::regions::LINKS, &[&id, &LINKS_MAX], link_row)?,
        links_total: count(read::regions::LINK_COUNT)?,
        causes: store.rows(read::regions::CAUSES, &[&id], cause_row)?,
        victims: store.rows(read::regions::VICTIMS, &[&id], victim_row)?,
    })
}

/// A row of `region.sql` or `fabric_regions.sql`.
///
/// # Errors
/// When the type of a column does not match the schema.
pub fn region_row(row: &Row<'_>) -> Result<Region, ApiError> {
    Ok(Region {
        id: row.get(0)?,
        metric: row.get(1)?,
        name: row.get(2)?,
        start: row.get(3)?,
        end: row.get(4)?,
        open: row.get(5)?,
        links: row.get(6)?,
        links_most: row.get(7)?,
        kind: row.get(8)?,
        kind_confidence: row.get(9)?,
        relief: row.get(10)?,
        cause: row.get(11)?,
        confidence: row.get(12)?,
        completeness: row.get(13)?,
        who: row.get(14)?,
        worst_series: row.get(15)?,
        lost_s: row.get(16)?,
        peak: row.get(17)?,
        lost_lo_s: row.get(18)?,
        lost_hi_s: row.get(19)?,
    })
}

fn step_row(row: &Row<'_>) -> Result<RegionStep, ApiError> {
    Ok(RegionStep {
        at_time: row.get(0)?,
        change: row.get(1)?,
        other: row.get(2)?,
        other_name: row.get(3)?,
        links: row.get(4)?,
        worst_series: row.get(5)?,
        worst: row.get(6)?,
    })
}

fn link_row(row: &Row<'_>) -> Result<RegionLink, ApiError> {
    Ok(RegionLink {
        series: row.get(0)?,
        belongs: row.get(1)?,
        state: row.get(2)?,
        mean: row.get(3)?,
        class: row.get(4)?,
        from_name: row.get(5)?,
        to_name: row.get(6)?,
    })
}

fn cause_row(row: &Row<'_>) -> Result<RegionCause, ApiError> {
    let evidence: String = row.get(4)?;
    Ok(RegionCause {
        cause: row.get(0)?,
        series_or_job: row.get(1)?,
        share: row.get(2)?,
        confidence: row.get(3)?,
        evidence: serde_json::from_str(&evidence)?,
    })
}

fn victim_row(row: &Row<'_>) -> Result<RegionVictim, ApiError> {
    Ok(RegionVictim {
        job_id: row.get(0)?,
        name: row.get(1)?,
        user: row.get(2)?,
        lost_s: row.get(3)?,
        share: row.get(4)?,
        lost_lo_s: row.get(5)?,
        lost_hi_s: row.get(6)?,
    })
}
