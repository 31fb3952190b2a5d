//! `/api/v1/now`: the latest signal of every series, in columns, since there may be many.

use crate::answer::{Answer, ApiError, Checked, checked_limit, checked_search, checked_time};
use crate::reader::StoreReader;
use crate::readings::{Readings, Top};
use crate::router::PageState;
use crate::totals::Totals;
use axum::Json;
use axum::extract::State;
use schemas::{Direction, Metric};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;
use store::read::{self, Reader, Row};

/// Above this number of series the page requests one cell per component.
const SERIES_STANDARD: u32 = 20_000;
const SERIES_MAX: u32 = 50_000;

/// Query parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NowQuery {
    metric: Option<Metric>,
    state: Option<schemas::State>,
    search: Option<String>,
    #[serde(default)]
    order: Order,
    #[serde(default)]
    by: By,
    names: Option<bool>,
    /// Time of the signals, in seconds since the epoch; without it the latest.
    at: Option<f64>,
    limit: Option<u32>,
    offset: Option<u32>,
}

impl NowQuery {
    /// Filters: metric, state and part of the name.
    fn filter(&self) -> (Option<&str>, Option<&str>, Option<&str>) {
        (self.metric.map(Metric::name), self.state.map(schemas::State::name), self.search.as_deref())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    #[default]
    Id,
    Slowdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum By {
    #[default]
    Series,
    Component,
}

/// One series with its latest signal.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesNow {
    /// Number.
    pub id: i64,
    /// Full name.
    pub name: String,
    /// Metric.
    pub metric: String,
    /// Router, host or node.
    pub component: String,
    /// Tile, port or mount.
    pub part: Option<String>,
    /// Time of the latest signal; `null` if the store keeps the latest signal only and it is too old.
    pub time: Option<f64>,
    /// Latest reading.
    pub value: Option<f64>,
    /// Windowed mean.
    pub mean: Option<f64>,
    /// Baseline.
    pub baseline: Option<f64>,
    /// Threshold for the mean.
    pub bound: Option<f64>,
    /// State; `unknown` after 5 s without a signal.
    pub state: String,
    /// Seconds lost so far, as the live estimate, which has no interval; `null` like the time.
    pub slowdown_s: Option<f64>,
}

/// A series and what its stored episodes lost.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesLoss {
    /// The series.
    #[serde(flatten)]
    pub series: SeriesNow,
    /// Seconds lost in its episodes, of `top` those of the latest six hours; `null` without one, like the sums of the ends of
    /// their 95% intervals.
    lost_s: Option<f64>,
    lost_lo_s: Option<f64>,
    lost_hi_s: Option<f64>,
}

/// Reads the columns of `now_top` and `series_by_name`.
pub fn series_loss_row(row: &Row<'_>) -> Result<SeriesLoss, ApiError> {
    Ok(SeriesLoss {
        series: series_now_row(row)?,
        lost_s: row.get(12)?,
        lost_lo_s: row.get(13)?,
        lost_hi_s: row.get(14)?,
    })
}

/// Reads the columns that the queries of series now have in common.
pub fn series_now_row(row: &Row<'_>) -> Result<SeriesNow, ApiError> {
    Ok(SeriesNow {
        id: row.get(0)?,
        name: row.get(1)?,
        metric: row.get(2)?,
        component: row.get(3)?,
        part: row.get(4)?,
        time: row.get(5)?,
        value: row.get(6)?,
        mean: row.get(7)?,
        baseline: row.get(8)?,
        bound: row.get(9)?,
        state: row.get(10)?,
        slowdown_s: row.get(11)?,
    })
}

/// The names of series. They change only when series are added, so a page requests them once.
#[derive(Debug, Default, Serialize)]
struct NameColumns {
    name: Vec<String>,
    metric: Vec<String>,
    component: Vec<String>,
    part: Vec<Option<String>>,
}

/// Losses of the episodes of the latest six hours, of all series of a component, with the ends of their 95% intervals; `null`
/// without an episode.
#[derive(Debug, Default, Serialize)]
struct LossColumns {
    lost_s: Vec<Option<f64>>,
    lost_lo_s: Vec<Option<f64>>,
    lost_hi_s: Vec<Option<f64>>,
}

impl LossColumns {
    fn push(&mut self, row: &Row<'_>) -> Result<(), ApiError> {
        self.lost_s.push(row.get(12)?);
        self.lost_lo_s.push(row.get(13)?);
        self.lost_hi_s.push(row.get(14)?);
        Ok(())
    }
}

/// Series in columns. Values are rounded to single precision, enough for colours and labels.
#[derive(Debug, Default, Serialize)]
struct SeriesColumns {
    id: Vec<i64>,
    #[serde(flatten)]
    names: Option<NameColumns>,
    /// Index into `states` of the response.
    state: Vec<Option<u8>>,
    value: Vec<Option<f32>>,
    mean: Vec<Option<f32>>,
    baseline: Vec<Option<f32>>,
    bound: Vec<Option<f32>>,
    slowdown_s: Vec<Option<f32>>,
    time: Vec<Option<f64>>,
    #[serde(flatten)]
    losses: Option<LossColumns>,
}

impl SeriesColumns {
    fn push(&mut self, series: SeriesNow) {
        self.id.push(series.id);
        if let Some(names) = &mut self.names {
            names.name.push(series.name);
            names.metric.push(series.metric);
            names.component.push(series.component);
            names.part.push(series.part);
        }
        let number = schemas::State::ALL.iter().position(|s| s.name() == series.state);
        self.state.push(number.map(|n| n as u8));
        self.value.push(series.value.map(|x| x as f32));
        self.mean.push(series.mean.map(|x| x as f32));
        self.baseline.push(series.baseline.map(|x| x as f32));
        self.bound.push(series.bound.map(|x| x as f32));
        self.slowdown_s.push(series.slowdown_s.map(|x| x as f32));
        self.time.push(series.time);
    }
}

fn shared_columns<S: Serializer>(series: &Arc<SeriesColumns>, to: S) -> Result<S::Ok, S::Error> {
    series.as_ref().serialize(to)
}

/// The series of a request for the latest signals, which answer requests that are the same.
#[derive(Clone)]
pub struct SeriesListed {
    query: NowQuery,
    series: Arc<SeriesColumns>,
}

impl SeriesListed {
    fn is_of(&self, query: &NowQuery) -> bool {
        self.query == *query
    }

    fn read(store: &Reader<'_>, query: &NowQuery, limit: u32) -> Result<SeriesListed, ApiError> {
        let series = Arc::new(read_columns(store, query, limit)?);
        Ok(SeriesListed { query: query.clone(), series })
    }
}

/// Properties of a metric for the page.
#[derive(Debug, Serialize)]
pub struct MetricFacts {
    name: &'static str,
    unit: &'static str,
    direction: Direction,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Now {
    clock: Option<f64>,
    /// `null` for a time in the past: `/api/v1/map/now` counts its links and clients.
    totals: Option<Totals>,
    metrics: Vec<MetricFacts>,
    states: Vec<&'static str>,
    /// Number of series that match the filter, also when rolled up; `series` has at most the limit.
    total: i64,
    /// Of a large store they may be ten seconds old, too.
    #[serde(serialize_with = "shared_columns")]
    series: Arc<SeriesColumns>,
    /// The series with the largest loss, with names: contended ones first, then by the lower end. None for a time in the past.
    top: Top,
}

/// Answers `/api/v1/now`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn now(State(state): State<PageState>, Checked(query): Checked<NowQuery>) -> Answer<Now> {
    let limit = checked_limit(query.limit, SERIES_STANDARD, SERIES_MAX)?;
    checked_search(query.search.as_deref())?;
    query.at.map(|at| checked_time("at", at)).transpose()?;
    let readings = Arc::clone(&state.readings);
    if query.at.is_none() {
        read_ahead(&readings, &state.reader, &query, limit);
    }
    state.reader.read(move |store| read_now(store, &readings, &query, limit)).await.map(Json)
}

/// Reads again what is due of the next answer to `query`.
fn read_ahead(readings: &Arc<Readings>, reader: &Arc<StoreReader>, query: &NowQuery, limit: u32) {
    let is_listed_due = readings.listed.is_due(|listed| listed.is_of(query));
    if !is_listed_due && !readings.are_due() {
        return;
    }
    let query = query.clone();
    readings.read_ahead(reader, move |readings, store| {
        readings.renew(store)?;
        if is_listed_due {
            readings
                .listed
                .read(|listed| listed.is_of(&query), || SeriesListed::read(store, &query, limit))?;
        }
        Ok(())
    });
}

fn read_now(store: &Reader<'_>, readings: &Readings, query: &NowQuery, limit: u32) -> Result<Now, ApiError> {
    let (totals, top) = match query.at {
        Some(_) => (None, Top::default()),
        None => readings.at_hand(store).map(|(totals, top)| (Some(totals), top))?,
    };
    let SeriesListed { series, .. } = match query.at {
        Some(_) => SeriesListed::read(store, query, limit)?,
        None => readings
            .listed
            .at_hand_or(|listed| listed.is_of(query), || SeriesListed::read(store, query, limit))?,
    };
    // The number of series in a state is that of now.
    let (metric, state, search) = query.filter();
    let total = match (&totals, metric, state, search) {
        (Some(totals), None, None, None) => totals.series,
        _ => store.one(read::series::COUNT, &[&metric, &state, &search], |row| row.get(0))?,
    };
    Ok(Now {
        clock: store.clock()?,
        totals,
        metrics: Metric::all().map(metric_facts).collect(),
        states: schemas::State::ALL.iter().map(|s| s.name()).collect(),
        total,
        series,
        top,
    })
}

/// Properties of `metric` for the page.
pub fn metric_facts(metric: Metric) -> MetricFacts {
    MetricFacts { name: metric.name(), unit: metric.unit(), direction: metric.direction() }
}

fn read_columns(store: &Reader<'_>, query: &NowQuery, limit: u32) -> Result<SeriesColumns, ApiError> {
    let question = match (query.by, query.at) {
        (By::Series, None) => read::series::LATEST,
        (By::Series, Some(_)) => read::series::AT,
        (By::Component, None) => read::series::LATEST_OF_COMPONENTS,
        (By::Component, Some(_)) => read::series::AT_OF_COMPONENTS,
    };
    let order = match query.order {
        Order::Id => "id",
        Order::Slowdown => "slowdown",
    };
    let (metric, state, search) = query.filter();
    let (limit, offset) = (i64::from(limit), i64::from(query.offset.unwrap_or(0)));
    let names = query.names.unwrap_or(true).then(NameColumns::default);
    let losses = matches!(query.order, Order::Slowdown).then(LossColumns::default);
    let mut columns = SeriesColumns { names, losses, ..SeriesColumns::default() };
    let mut parameters: Vec<&dyn read::Parameter> = vec![&metric, &state, &search, &order, &limit, &offset];
    if let Some(at) = &query.at {
        parameters.push(at);
    }
    store.rows(question, &parameters, |row| {
        columns.push(series_now_row(row)?);
        columns.losses.as_mut().map_or(Ok(()), |losses| losses.push(row))?;
        Ok::<_, ApiError>(())
    })?;
    Ok(columns)
}
