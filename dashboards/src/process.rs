//! `/metrics`, `/healthz` and `/readyz` of `tailback run`.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// How the process answers for itself.
#[derive(Clone)]
pub struct Process {
    /// Its metrics in Prometheus' text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Its health: with `true`, whether it can work; else whether it lives. The error names what is wrong.
    pub health: Arc<dyn Fn(bool) -> Result<String, String> + Send + Sync>,
}

/// The routes.
pub fn router(process: Process) -> Router {
    Router::new()
        .route("/metrics", get(async |State(process): State<Process>| (process.metrics)()))
        .route("/healthz", get(async |State(process): State<Process>| answer((process.health)(false))))
        .route("/readyz", get(async |State(process): State<Process>| answer((process.health)(true))))
        .with_state(process)
}

fn answer(text: Result<String, String>) -> Response {
    match text {
        Ok(text) => text.into_response(),
        Err(text) => (StatusCode::SERVICE_UNAVAILABLE, text).into_response(),
    }
}
