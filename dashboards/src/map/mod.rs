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
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use plan::{Map, Plan, Size};
use serde::{Deserialize, Serialize};
use states::MapNow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::read::Reader;
use tokio::sync::Mutex;
use vertex::VertexLinks;

/// Age at which the states are read again, for all clients together.
const STATES_FOR: Duration = Duration::from_secs(1);
/// Age at which the topology is read again even if its size is the same.
const PLAN_FOR: Duration = Duration::from_secs(300);

/// What requests of the map share, so that a large machine is read once for all clients.
#[derive(Default)]
pub struct MapCache {
    plan: Mutex<Option<KeptPlan>>,
    latest: Mutex<Option<(Instant, MapNow)>>,
}

struct KeptPlan {
    size: Size,
    read: Instant,
    plan: Arc<Plan>,
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
        None => MapAnswer::Whole(Shared(plan_of(&state).await?, |plan| &plan.map)),
    };
    Ok(Json(answer))
}

/// Answers `/api/v1/map/now`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn now(State(state): State<PageState>, Checked(query): Checked<MapNowQuery>) -> Answer<MapNow> {
    let at = query.at.map(|at| checked_time("at", at)).transpose()?;
    let plan = plan_of(&state).await?;
    if at.is_some() {
        return state.reader.read(move |store| states::read(store, &plan, at)).await.map(Json);
    }
    // Held while the states are read: requests of that time share the answer.
    let mut latest = state.map.latest.lock().await;
    if let Some((read, states)) = &*latest
        && read.elapsed() < STATES_FOR
        && states.is_of(&plan)
    {
        return Ok(Json(states.clone()));
    }
    let read = Instant::now();
    let states = state.reader.read(move |store| states::read(store, &plan, None)).await?;
    *latest = Some((read, states.clone()));
    Ok(Json(states))
}

/// The plan of the topology in the store; the kept one while its size is the same.
async fn plan_of(state: &PageState) -> Result<Arc<Plan>, ApiError> {
    let mut kept = state.map.plan.lock().await;
    let size = state.reader.read(|store: &Reader<'_>| plan::size(store)).await?;
    if let Some(kept) = &*kept
        && kept.size == size
        && kept.read.elapsed() < PLAN_FOR
    {
        return Ok(Arc::clone(&kept.plan));
    }
    let read = Instant::now();
    let plan = Arc::new(state.reader.read(Plan::read).await?);
    *kept = Some(KeptPlan { size, read, plan: Arc::clone(&plan) });
    Ok(plan)
}
