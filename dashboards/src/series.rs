//! `/api/v1/series/{name}/points` and `/counters`: one series over time.

use crate::answer::{Answer, ApiError, Checked, checked_series_name, checked_span, checked_time};
use crate::counters::{Counters, read_counters};
use crate::now::{MetricFacts, SeriesLoss, metric_facts, series_loss_row};
use crate::points::{Points, read_points};
use crate::router::PageState;
use crate::spans::{Span, read_spans};
use axum::Json;
use axum::extract::{Path, State};
use schemas::Metric;
use serde::{Deserialize, Serialize};
use store::read::{self, Reader};

/// Default range, in seconds.
const STANDARD_RANGE_S: f64 = 900.0;
/// Maximum range, in seconds: two days of ticks are read in well under a second.
const RANGE_MAX_S: f64 = 172_800.0;

/// Query parameters: a range in seconds since the epoch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    from: Option<f64>,
    to: Option<f64>,
}

/// A job that used a series.
#[derive(Debug, Serialize)]
pub struct JobBeside {
    job_id: String,
    user: String,
    name: String,
    start: f64,
    end: Option<f64>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct SeriesPoints {
    series: SeriesLoss,
    metric: Option<MetricFacts>,
    from: f64,
    to: f64,
    points: Points,
    /// Episodes that overlap the range.
    spans: Vec<Span>,
    jobs: Vec<JobBeside>,
}

/// The requested part of a series.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum OfSeries {
    /// `/points`
    Points(Box<SeriesPoints>),
    /// `/counters`
    Counters(Counters),
}

/// Builds the response for a series between two times.
type Answering = fn(&Reader<'_>, SeriesLoss, (f64, f64)) -> Result<OfSeries, ApiError>;

/// Answers `/api/v1/series/{name}/points` and `/counters`; a series name contains slashes.
///
/// # Errors
/// 400 for a bad name or range, 404 for an unknown series.
pub async fn of_series(
    State(state): State<PageState>,
    Path(rest): Path<String>,
    Checked(range): Checked<Range>,
) -> Answer<OfSeries> {
    let (name, answer): (_, Answering) = match rest.rsplit_once('/') {
        Some((name, "points")) => (name, points_answer),
        Some((name, "counters")) => (name, counters_answer),
        _ => return Err(ApiError::NotFound("a series has only /points and /counters".to_string())),
    };
    let name = checked_series_name(name)?;
    let read = move |store: &Reader<'_>| {
        let series = store
            .first(read::series::BY_NAME, &[&name], series_loss_row)?
            .ok_or_else(|| ApiError::NotFound(format!("no series {name}")))?;
        let latest = series.series.time.or(store.clock()?).unwrap_or(0.0);
        let range = checked_range(&range, latest)?;
        answer(store, series, range)
    };
    state.reader.read(read).await.map(Json)
}

fn points_answer(
    store: &Reader<'_>,
    series: SeriesLoss,
    (from, to): (f64, f64),
) -> Result<OfSeries, ApiError> {
    let points = read_points(store, &series.series.name, from, to)?;
    let spans = read_spans(store, &series.series.name, from, to)?;
    let jobs = jobs_beside(store, &series.series.name, from, to)?;
    let metric = Metric::from_name(&series.series.metric).map(metric_facts);
    Ok(OfSeries::Points(Box::new(SeriesPoints { metric, series, from, to, points, spans, jobs })))
}

fn counters_answer(store: &Reader<'_>, series: SeriesLoss, range: (f64, f64)) -> Result<OfSeries, ApiError> {
    let series = series.series;
    let metric = Metric::from_name(&series.metric).filter(|_| series.part.is_some());
    read_counters(store, &series.name, metric, range).map(OfSeries::Counters)
}

fn checked_range(range: &Range, latest: f64) -> Result<(f64, f64), ApiError> {
    let to = checked_time("to", range.to.unwrap_or(latest))?;
    let from = checked_time("from", range.from.unwrap_or((to - STANDARD_RANGE_S).max(0.0)))?;
    checked_span(from, to, RANGE_MAX_S)?;
    Ok((from, to))
}

/// Jobs that used a series at some time between two times.
///
/// # Errors
/// When the store cannot be read.
pub fn jobs_beside(store: &Reader<'_>, name: &str, from: f64, to: f64) -> Result<Vec<JobBeside>, ApiError> {
    store.rows(read::series::JOBS, &[&name, &from, &to], |row| {
        Ok(JobBeside {
            job_id: row.get(0)?,
            user: row.get(1)?,
            name: row.get(2)?,
            start: row.get(3)?,
            end: row.get(4)?,
        })
    })
}
