//! Which routes a process serves beside `/metrics` and health: `/api/v1/jobs`, `/api/v1/placement`, `/api/v1/advice`.

use super::access::Access;
use super::http::{self, Health};
use super::intake::Intake;
use super::placement::Advice;
use super::stop::Control;
use super::{advice, clock, pg_settings, socket};
use crate::config::RunConfig;
use crate::config::sections::Stage;
use metrics_exporter_prometheus::PrometheusHandle;
use std::net::SocketAddr;
use std::sync::Arc;
use store::outbox::OutboxStore;

/// Starts the HTTP server and, where job events are taken, the Unix socket.
///
/// # Errors
/// An address or a path that cannot be listened on.
pub async fn serve(
    config: &RunConfig,
    intake: &Option<Intake>,
    metrics: PrometheusHandle,
    health: &Health,
    control: &Control,
) -> anyhow::Result<SocketAddr> {
    let stop = || {
        let control = control.clone();
        async move { control.wait().await }
    };
    if let Some(intake) = intake.clone() {
        socket::serve(&config.http, |access| intake.router(access), stop())?;
    }
    http::serve(&config.http, metrics, health.clone(), routes(config, intake), stop()).await
}

/// The routes that these stages can answer.
fn routes(config: &RunConfig, intake: &Option<Intake>) -> Vec<axum::Router> {
    let access = || Access::to_read(&config.http);
    let mut routes: Vec<_> = intake.iter().map(|intake| intake.clone().route(&config.http)).collect();
    if config.run.stages.iter().any(|stage| *stage != Stage::Aggregator) {
        routes.push(Advice::new(pg_settings(config)).router(access()));
    }
    if config.run.stages.contains(&Stage::Rollup) {
        let clock = Arc::new(|| clock::now().seconds());
        routes.push(advice::router(OutboxStore::server(pg_settings(config)), clock, access()));
    }
    routes
}
