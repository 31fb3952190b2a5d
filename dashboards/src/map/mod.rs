//! `/api/v1/map`, `/api/v1/map/now` and `/api/v1/jobs/{id}/footprint`: the topology in columns, the states of its switches and
//! links at a time, and what a job touches.
//!
//! | module | what it holds |
//! |---|---|
//! | `plan` | numbers of vertices and edges, and which series measures which |
//! | `states` | the worst state of each vertex and edge |
//! | `vertex` | single links of a vertex |
//! | [`footprint`] | nodes, switches, links and rivals of a job |

pub mod footprint;
mod plan;
mod states;
mod vertex;

use crate::answer::{Answer, ApiError, Checked, checked_search, checked_time};
use crate::readings::Kept;
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use plan::{Map, Plan, Size};
use serde::{Deserialize, Serialize};
use states::MapNow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::read::Reader;
use vertex::VertexLinks;

/// Age at which the topology is read again even if its size is the same.
const PLAN_FOR: Duration = Duration::from_secs(300);

/// What requests of the map share, so that a large machine is read once for all clients.
#[derive(Default)]
pub struct MapCache {
    plan: Mutex<Option<KeptPlan>>,
    latest: Kept<MapNow>,
}

struct KeptPlan {
    size: Size,
    read: Instant,
    plan: Arc<Plan>,
}

impl MapCache {
    /// The latest states.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn latest(&self, store: &Reader<'_>) -> Result<MapNow, ApiError> {
        let plan = self.plan(store)?;
        self.latest.read(|states| states.is_of(&plan), || states::read(store, &plan, None))
    }

    /// The plan of the topology in the store; the kept one while its size is the same.
    fn plan(&self, store: &Reader<'_>) -> Result<Arc<Plan>, ApiError> {
        let mut kept = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let size = plan::size(store)?;
        if let Some(kept) = &*kept
            && kept.size == size
            && kept.read.elapsed() < PLAN_FOR
        {
            return Ok(Arc::clone(&kept.plan));
        }
        let read = Instant::now();
        let plan = Arc::new(Plan::read(store)?);
        *kept = Some(KeptPlan { size, read, plan: Arc::clone(&plan) });
        Ok(plan)
    }
}

/// Query parameters of `/api/v1/map`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapQuery {
    /// A switch or a node: its single links instead of the whole map.
    vertex: Option<String>,
    /// Time of the states of these links, in seconds since the epoch; without it now.
    at: Option<f64>,
}

/// Query parameters of `/api/v1/map/now`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapNowQuery {
    /// In seconds since the epoch; without it now.
    at: Option<f64>,
}

/// The whole map, or the links of a vertex.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum MapAnswer {
    /// Without a vertex in the request.
    Whole(Shared<Map>),
    /// With one.
    Vertex(VertexLinks),
}

/// A part of the plan, without a copy.
#[derive(Debug)]
pub struct Shared<T: ?Sized>(Arc<Plan>, fn(&Plan) -> &T);

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.1(&self.0).serialize(to)
    }
}

/// Answers `/api/v1/map`.
///
/// # Errors
/// 400 for bad parameters, 404 for an unknown vertex, 503 before there is a store.
pub async fn map(State(state): State<PageState>, Checked(query): Checked<MapQuery>) -> Answer<MapAnswer> {
    checked_search(query.vertex.as_deref())?;
    let at = query.at.map(|at| checked_time("at", at)).transpose()?;
    let answer = match query.vertex {
        Some(vertex) => {
            let links = state.reader.read(move |store| vertex::links_of(store, vertex, at));
            MapAnswer::Vertex(links.await?)
        }
        None => {
            let readings = Arc::clone(&state.readings);
            let plan = state.reader.read(move |store| readings.map.plan(store));
            MapAnswer::Whole(Shared(plan.await?, |plan| &plan.map))
        }
    };
    Ok(Json(answer))
}

/// Answers `/api/v1/map/now`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn now(State(state): State<PageState>, Checked(query): Checked<MapNowQuery>) -> Answer<MapNow> {
    let at = query.at.map(|at| checked_time("at", at)).transpose()?;
    let readings = Arc::clone(&state.readings);
    let states = state.reader.read(move |store| match at {
        Some(_) => readings.map.plan(store).and_then(|plan| states::read(store, &plan, at)),
        None => readings.map.latest(store),
    });
    states.await.map(Json)
}
