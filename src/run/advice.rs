//! `GET /api/v1/advice?nodes=…`: current advice for a scheduler that polls.

use super::access::{Access, authorised};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use schemas::alert::advice_answer;
use serde::Deserialize;
use std::sync::Arc;
use store::outbox::OutboxStore;
use tokio::sync::Mutex;

/// Incidents that are looked at, and nodes of a query, at most.
const INCIDENTS_MAX: usize = 1_000;
const NODES_MAX: usize = 20_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Node names or a hostlist; "" for everything.
    #[serde(default)]
    nodes: String,
}

#[derive(Clone)]
struct Counter {
    outbox: Arc<Mutex<OutboxStore>>,
    clock: alerts::receivers::Clock,
}

/// The way to the advice.
pub fn router(outbox: OutboxStore, clock: alerts::receivers::Clock, access: Access) -> Router {
    Router::new()
        .route("/api/v1/advice", get(advice))
        .layer(middleware::from_fn_with_state(access, authorised))
        .with_state(Counter { outbox: Arc::new(Mutex::new(outbox)), clock })
}

async fn advice(State(counter): State<Counter>, Query(asked): Query<Asked>) -> Response {
    let nodes = match schemas::hostlist::expand(&asked.nodes, NODES_MAX) {
        Ok(nodes) => nodes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        Err(error) => return (StatusCode::BAD_REQUEST, format!("nodes: {error}\n")).into_response(),
    };
    let now_s = (counter.clock)();
    match counter.outbox.lock().await.advice(&nodes, INCIDENTS_MAX).await {
        Ok(found) => Json(advice_answer(&found, now_s)).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}
