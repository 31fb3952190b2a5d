//! `/api/v1/fabric`: the network by group and by switch, and its contended regions.

use crate::answer::{Answer, ApiError, Checked, checked_search};
use crate::reader::Store;
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// Switches listed; the most contended come first.
const SWITCHES_MAX: u32 = 200;
/// Regions listed; the open ones come first.
const REGIONS_MAX: u32 = 100;

/// Which part of the network.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FabricQuery {
    /// Group whose switches are listed; empty for those whose group is not known.
    group: Option<String>,
}

/// Series that stand together, of one metric.
#[derive(Debug, Serialize)]
pub struct Place {
    /// A group, or a router, switch or host; `null` where the group is not known.
    name: Option<String>,
    metric: String,
    series: i64,
    /// With a signal within the last 5 s.
    heard: i64,
    contended: i64,
    /// Of the contended ones that with the largest mean over its bound.
    worst_series: Option<String>,
}

/// Contended links that touch.
#[derive(Debug, Serialize)]
pub struct Region {
    id: i64,
    metric: String,
    name: String,
    start: f64,
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
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Fabric {
    clock: Option<f64>,
    groups: Vec<Place>,
    switches: Vec<Place>,
    regions: Vec<Region>,
}

/// Answers `/api/v1/fabric`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn fabric(State(state): State<PageState>, Checked(query): Checked<FabricQuery>) -> Answer<Fabric> {
    checked_search(query.group.as_deref())?;
    state.reader.read(move |store| read_fabric(store, query.group.as_deref())).await.map(Json)
}

fn read_fabric(store: &Store<'_>, group: Option<&str>) -> Result<Fabric, ApiError> {
    Ok(Fabric {
        clock: store.clock()?,
        groups: store.rows(include_str!("../sql/fabric_groups.sql"), [], place_row)?,
        switches: store.rows(include_str!("../sql/fabric_switches.sql"), (group, SWITCHES_MAX), place_row)?,
        regions: store.rows(include_str!("../sql/fabric_regions.sql"), [REGIONS_MAX], region_row)?,
    })
}

fn place_row(row: &Row<'_>) -> rusqlite::Result<Place> {
    Ok(Place {
        name: row.get(0)?,
        metric: row.get(1)?,
        series: row.get(2)?,
        heard: row.get(3)?,
        contended: row.get(4)?,
        worst_series: row.get(5)?,
    })
}

fn region_row(row: &Row<'_>) -> rusqlite::Result<Region> {
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
    })
}
