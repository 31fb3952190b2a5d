//! `/api/v1/regions`: regions of contended links, and one of them with its history, links, causes and victims.

use crate::answer::{Answer, ApiError, Checked, checked_limit, checked_number};
use crate::now::{MetricFacts, metric_facts};
use crate::question;
use crate::router::PageState;
use crate::store::{Row, Store};
use axum::Json;
use axum::extract::{Path, State};
use schemas::Metric;
use serde::{Deserialize, Serialize};

const REGIONS_STANDARD: u32 = 100;
const REGIONS_MAX: u32 = 1_000;
/// Steps of one answer, the latest ones; a region seldom has more than a few dozen.
const STEPS_MAX: i64 = 500;
/// Links of one answer, those that belong to the region first.
const LINKS_MAX: i64 = 200;

/// Contended links that touch.
#[derive(Debug, Serialize)]
pub struct Region {
    id: i64,
    metric: String,
    name: String,
    start: f64,
    /// Of an open one the latest tick.
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
    /// The series or job that causes most of it.
    who: Option<String>,
    worst_series: Option<String>,
    /// Seconds that all of its victims lost; `null` without any.
    lost_s: Option<f64>,
    /// The worst windowed ratio ever seen in it, in the metric's unit.
    peak: Option<f64>,
}

/// A change of a region; the columns of the SQL view `region_history`.
#[derive(Debug, Serialize)]
pub struct RegionStep {
    at_time: f64,
    /// `began`, `grew`, `shrank`, `took_up`, `went_into`, `split` or `ended`.
    change: String,
    /// The region that it came from, or that came of it.
    other: Option<i64>,
    /// Its name; `null` also where that region was too short to be told, or is no longer kept.
    other_name: Option<String>,
    /// Links from then on.
    links: i64,
    worst_series: String,
    /// Its windowed ratio, in the metric's unit; at the end of the region the worst that it ever had.
    worst: Option<f64>,
}

/// A link of a region.
#[derive(Debug, Serialize)]
pub struct RegionLink {
    series: String,
    /// Whether it belongs to the region now; of an ended region, at its end.
    belongs: bool,
    /// What it says now: a link that is not heard is `unknown`.
    state: String,
    /// Its windowed ratio now, in the metric's unit.
    mean: Option<f64>,
    /// `null` without a topology, as the two ends.
    class: Option<String>,
    from_name: Option<String>,
    to_name: Option<String>,
}

/// One who makes the load of a region.
#[derive(Debug, Serialize)]
pub struct RegionCause {
    cause: String,
    series_or_job: String,
    /// Of the load on the region's worst links, 0 to 1.
    share: f64,
    confidence: f64,
    /// What it rests on, the strongest first.
    evidence: Vec<String>,
}

/// A job that waits in a region.
#[derive(Debug, Serialize)]
pub struct RegionVictim {
    job_id: String,
    /// `null` where the job is not known.
    name: Option<String>,
    user: Option<String>,
    lost_s: f64,
    /// Of what all victims lost, 0 to 1.
    share: f64,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct RegionAnswer {
    clock: Option<f64>,
    region: Region,
    metric: Option<MetricFacts>,
    /// Steps in order of time, at most 500: the latest.
    history: Vec<RegionStep>,
    history_total: i64,
    /// At most 200, the worst first, then those that belong to it no longer.
    links: Vec<RegionLink>,
    links_total: i64,
    causes: Vec<RegionCause>,
    victims: Vec<RegionVictim>,
}

/// How many regions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionQuery {
    limit: Option<u32>,
}

/// The answer of the list.
#[derive(Debug, Serialize)]
pub struct Regions {
    clock: Option<f64>,
    /// Open ones first, then the latest.
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
        let regions = store.rows(question!("fabric_regions"), &[&limit], region_row)?;
        Ok(Regions { clock: store.clock()?, regions })
    });
    answer.await.map(Json)
}

/// Answers `/api/v1/regions/{id}`.
///
/// # Errors
/// 400 when `id` is no number, 404 when there is no such region.
pub async fn region(State(state): State<PageState>, Path(id): Path<String>) -> Answer<RegionAnswer> {
    let id = checked_number("a region's", &id)?;
    state.reader.read(move |store| read_region(store, id)).await.map(Json)
}

fn read_region(store: &Store<'_>, id: i64) -> Result<RegionAnswer, ApiError> {
    let region = store
        .first(question!("region"), &[&id], region_row)?
        .ok_or_else(|| ApiError::NotFound(format!("no region {id}")))?;
    let mut history = store.rows(question!("region_history"), &[&id, &STEPS_MAX], step_row)?;
    history.reverse();
    let count = |question| store.one(question, &[&id], |row| row.get(0));
    Ok(RegionAnswer {
        clock: store.clock()?,
        metric: Metric::from_name(&region.metric).map(metric_facts),
        region,
        history,
        history_total: count(question!("region_step_count"))?,
        links: store.rows(question!("region_links"), &[&id, &LINKS_MAX], link_row)?,
        links_total: count(question!("region_link_count"))?,
        causes: store.rows(question!("region_causes"), &[&id], cause_row)?,
        victims: store.rows(question!("region_victims"), &[&id], victim_row)?,
    })
}

/// A row of `region.sql` or `fabric_regions.sql`.
///
/// # Errors
/// When a column is not what the schema says.
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
    })
}
