//! `/api/v1/routers`: the tiles of an Aries router with their incoming links and current state.

use crate::answer::{Answer, ApiError};
use crate::now::{MetricFacts, metric_facts};
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use schemas::{Metric, Name};
use serde::Serialize;
use store::read::{self, Row};

/// Maximum of rows, more than the 48 tiles and the router itself.
const TILES_MAX: i64 = 100;

/// One tile, or the whole router.
#[derive(Debug, Serialize)]
pub struct Tile {
    series: String,
    /// Such as `r0c3`: row 0 to 5, column 0 to 7; `null` for the whole router.
    part: Option<String>,
    /// State.
    state: String,
    /// Stalls per flit at the latest tick; `null` if unknown, like the other values.
    value: Option<f64>,
    mean: Option<f64>,
    baseline: Option<f64>,
    bound: Option<f64>,
    /// Seconds lost in its stored episodes; `null` without one, like the sums of the ends of their 95% intervals.
    lost_s: Option<f64>,
    lost_lo_s: Option<f64>,
    lost_hi_s: Option<f64>,
    /// `green`, `black` or `blue`; `null` without a topology, like the two ends.
    class: Option<String>,
    from_name: Option<String>,
    to_name: Option<String>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct RouterAnswer {
    clock: Option<f64>,
    router: String,
    metric: MetricFacts,
    /// The reporting tiles; the whole router comes first.
    tiles: Vec<Tile>,
}

/// Answers `/api/v1/routers/{name}`.
///
/// # Errors
/// 400 for an invalid name, 404 for a router without data.
pub async fn router_tiles(State(state): State<PageState>, Path(name): Path<String>) -> Answer<RouterAnswer> {
    let name = Name::parse(&name).map_err(|why| ApiError::BadRequest(format!("not a router: {why}")))?;
    let answer = state.reader.read(move |store| {
        let tiles = store.rows(read::fabric::TILES, &[&name.as_str(), &TILES_MAX], tile_row)?;
        if tiles.is_empty() {
            return Err(ApiError::NotFound(format!("no tile of a router {name}")));
        }
        let metric = tiles.first().and_then(|tile| Metric::from_name(tile.series.split('/').next()?));
        let metric =
            metric.map(metric_facts).ok_or_else(|| ApiError::NotFound(format!("no metric of {name}")))?;
        Ok(RouterAnswer { clock: store.clock()?, router: name.to_string(), metric, tiles })
    });
    answer.await.map(Json)
}

fn tile_row(row: &Row<'_>) -> Result<Tile, ApiError> {
    Ok(Tile {
        series: row.get(0)?,
        part: row.get(1)?,
        state: row.get(2)?,
        value: row.get(3)?,
        mean: row.get(4)?,
        baseline: row.get(5)?,
        bound: row.get(6)?,
        lost_s: row.get(7)?,
        class: row.get(8)?,
        from_name: row.get(9)?,
        to_name: row.get(10)?,
        lost_lo_s: row.get(11)?,
        lost_hi_s: row.get(12)?,
    })
}
