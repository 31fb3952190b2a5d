//! The routes of `run`, `serve` and `demo`.

use crate::access::{Access, authorised};
use crate::answer::{failed_queries, log_failures};
use crate::contention::{self, Answers, Book, Gate};
use crate::job_token::JobKeys;
use crate::login::Login;
use crate::process::{self, Process};
use crate::progress::Progress;
use crate::reader::StoreReader;
use crate::readings::Readings;
use crate::session::{self, SessionState};
use crate::stream::EventText;
use crate::{
    advice, alerts, beside, blame, episodes, fabric, files, guard, health, health_history, history,
    incidents, jobs, map, metrics, now, page_files, paid, placement, regions, report_page, series, stream,
    tiles,
};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use std::sync::Arc;
use tokio::sync::watch;

/// The machine's clock, in seconds since the epoch.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// What a server answers.
pub struct Routes {
    /// Who may read.
    pub read: Access,
    /// Tokens and sessions of browsers.
    pub login: Arc<Login>,
    /// Page and API over a store.
    pub page: Option<(PageState, Shown)>,
    /// Keys of the tokens of jobs.
    pub job_keys: JobKeys,
    /// Metrics and health of `tailback run`; without it `/healthz` reports that the process lives.
    pub process: Option<Process>,
    /// Routes that change state, with an access of their own.
    pub posts: Option<Router>,
    /// Origins whose pages may show panels in a frame.
    pub frame_ancestors: Vec<String>,
}

/// How much of page and API is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The page and all routes, with the jobs of all users.
    Everything,
    /// What a scheduler needs: placement and advice.
    Advice,
}

/// State shared by the handlers.
#[derive(Clone)]
pub struct PageState {
    /// The store.
    pub reader: Arc<StoreReader>,
    /// The clock by which advice expires; without one, the newest signal of the store: its time may be simulated.
    pub clock: Option<Clock>,
    /// Note for the operator about this run, shown next to the title.
    pub run_note: Option<String>,
    /// The address of the page, where others reach it; for links in reports.
    pub public_url: Option<String>,
    /// The run's latest progress.
    pub ticks: watch::Receiver<Progress>,
    /// Events for the clients of the stream.
    pub events: watch::Sender<EventText>,
    /// Becomes true when the server stops.
    pub stopping: watch::Receiver<bool>,
    /// What events and answers share.
    pub readings: Arc<Readings>,
    /// The answers of running jobs.
    pub contention: Arc<Book>,
}

/// The answer to a request for a job's contention without its token, where the answers of all jobs are closed.
const JOBS_CLOSED: &str = "send the token of the job as Authorization: Bearer … (TAILBACK_JOB_TOKEN in its environment); reading \
    the answers of all jobs needs http.token_file";

/// The router of a server with these names.
pub fn router(routes: Routes, hosts: guard::Hosts) -> Router {
    let mut reads = match routes.process {
        Some(process) => process::router(process),
        None => Router::new().route("/healthz", get(async || "ok\n")),
    };
    // The files of the page contain no data: a browser loads them before its user logs in.
    let mut open = Router::new();
    let mut of_jobs = Router::new();
    if let Some((state, shown)) = routes.page {
        let read = if shown == Shown::Everything { routes.read.clone() } else { Access::Closed(JOBS_CLOSED) };
        let (book, stopping) = (Arc::clone(&state.contention), state.stopping.clone());
        of_jobs = contention::router(Answers { gate: Gate::new(read, routes.job_keys), book, stopping });
        reads = reads.merge(advice_routes(shown).with_state(state.clone()));
        if shown == Shown::Everything {
            reads = reads.merge(page_routes().with_state(state));
            let is_needed = !matches!(routes.read, Access::Open);
            open = session::router(SessionState { login: routes.login, is_needed })
                .merge(page_files::panels(&routes.frame_ancestors))
                .fallback_service(get(page_files::page_file));
        }
    }
    let reads = reads
        .layer(from_fn_with_state(failed_queries(), log_failures))
        .route_layer(from_fn_with_state(routes.read, authorised));
    open.merge(reads)
        .merge(of_jobs)
        .merge(routes.posts.unwrap_or_default())
        .layer(from_fn_with_state(hosts, guard::refuse_foreign))
        .layer(from_fn(guard::set_headers))
}

fn advice_routes(shown: Shown) -> Router<PageState> {
    let placement = match shown {
        Shown::Everything => get(placement::placement),
        Shown::Advice => get(placement::placement_of_nodes),
    };
    Router::new().route("/api/v1/placement", placement).route("/api/v1/advice", get(advice::advice))
}

fn page_routes() -> Router<PageState> {
    Router::new()
        .route("/api/v1/now", get(now::now))
        .route("/api/v1/episodes", get(episodes::episodes))
        .route("/api/v1/episodes/{id}", get(episodes::episode))
        .route("/api/v1/series/{*rest}", get(series::of_series))
        .route("/api/v1/jobs", get(jobs::jobs))
        .route("/api/v1/jobs/{id}", get(jobs::job))
        .route("/api/v1/jobs/{id}/neighbours", get(beside::neighbours))
        .route("/api/v1/jobs/{id}/earlier", get(beside::earlier))
        .route("/api/v1/jobs/{id}/caused", get(blame::caused))
        .route("/api/v1/jobs/{id}/report", get(report_page::report))
        .route("/api/v1/jobs/{id}/footprint", get(map::footprint::footprint))
        .route("/api/v1/map", get(map::map))
        .route("/api/v1/map/now", get(map::now))
        .route("/api/v1/blame", get(blame::blame))
        .route("/api/v1/alerts", get(alerts::alerts))
        .route("/api/v1/alerts/{id}", get(alerts::alert))
        .route("/api/v1/fabric", get(fabric::fabric))
        .route("/api/v1/routers/{name}", get(tiles::router_tiles))
        .route("/api/v1/regions", get(regions::regions))
        .route("/api/v1/regions/{id}", get(regions::region))
        .route("/api/v1/incidents", get(incidents::incidents))
        .route("/api/v1/files", get(files::files))
        .route("/api/v1/metrics", get(metrics::metrics))
        .route("/api/v1/paid", get(paid::paid))
        .route("/api/v1/history", get(history::history))
        .route("/api/v1/health", get(health::health))
        .route("/api/v1/health/history", get(health_history::health_history))
        .route("/api/v1/stream", get(stream::stream))
}
