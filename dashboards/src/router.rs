//! The routes.

use crate::progress::Progress;
use crate::reader::StoreReader;
use crate::stream::EventText;
use crate::{
    advice, beside, episodes, fabric, files, guard, health, health_history, jobs, now, page_files, paid,
    placement, regions, series, stream, tiles,
};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// State shared by the handlers.
#[derive(Clone)]
pub struct PageState {
    /// The store.
    pub reader: Arc<StoreReader>,
    /// Note for the operator about this run, shown next to the title.
    pub run_note: Option<String>,
    /// The run's latest progress.
    pub ticks: watch::Receiver<Progress>,
    /// Events for the clients of the stream.
    pub events: watch::Sender<EventText>,
    /// Becomes true when the server stops.
    pub stopping: watch::Receiver<bool>,
}

/// The router of a server that is bound to `address`.
pub fn router(state: PageState, address: SocketAddr) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/api/v1/now", get(now::now))
        .route("/api/v1/episodes", get(episodes::episodes))
        .route("/api/v1/episodes/{id}", get(episodes::episode))
        .route("/api/v1/series/{*rest}", get(series::of_series))
        .route("/api/v1/jobs", get(jobs::jobs))
        .route("/api/v1/jobs/{id}", get(jobs::job))
        .route("/api/v1/jobs/{id}/neighbours", get(beside::neighbours))
        .route("/api/v1/jobs/{id}/earlier", get(beside::earlier))
        .route("/api/v1/fabric", get(fabric::fabric))
        .route("/api/v1/routers/{name}", get(tiles::router_tiles))
        .route("/api/v1/regions", get(regions::regions))
        .route("/api/v1/regions/{id}", get(regions::region))
        .route("/api/v1/files", get(files::files))
        .route("/api/v1/placement", get(placement::placement))
        .route("/api/v1/advice", get(advice::advice))
        .route("/api/v1/paid", get(paid::paid))
        .route("/api/v1/health", get(health::health))
        .route("/api/v1/health/history", get(health_history::health_history))
        .route("/api/v1/stream", get(stream::stream))
        .fallback_service(get(page_files::page_file).with_state(()))
        .with_state(state)
        .layer(from_fn_with_state(guard::Hosts::of(address, &[]), guard::refuse_foreign))
        .layer(from_fn(guard::set_headers))
}

/// Reports that the process lives; `/api/v1/health` reports whether the monitoring is complete.
async fn healthz() -> &'static str {
    "ok\n"
}
