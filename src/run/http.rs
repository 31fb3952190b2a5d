//! `/metrics`, `/healthz`, `/readyz`, and the ways to `/api/v1/jobs`, `/api/v1/placement` and `/api/v1/advice`.

use super::access::{Access, authorised};
use crate::config::host_name;
use crate::config::sections::Http;
use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use dashboards::connections;
use dashboards::guard::{Hosts, refuse_foreign};
use metrics_exporter_prometheus::PrometheusHandle;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A stage that did nothing for so long does not live: its loop turns several times a second.
const DEAD: Duration = Duration::from_secs(60);

/// The latest report of each stage.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<BTreeMap<&'static str, Report>>>);

#[derive(Clone, Debug)]
struct Report {
    alive: Instant,
    trouble: Option<String>,
}

impl Health {
    /// Reports that the stage works, or `trouble`: in one sentence why not.
    pub fn report(&self, stage: &'static str, trouble: Option<String>) {
        let report = Report { alive: Instant::now(), trouble };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stage, report);
    }

    /// Removes what waits no more: it sends no sign of life from here on.
    pub fn forget(&self, stage: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(stage);
    }

    /// Sign of life of the stage; its trouble is unchanged.
    pub fn alive(&self, stage: &'static str) {
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = reports.entry(stage).or_insert(Report { alive: Instant::now(), trouble: None });
        report.alive = Instant::now();
    }

    /// The health as text: with `ready` including troubles, else only whether every stage turns.
    ///
    /// # Errors
    /// What is wrong, a line each.
    pub fn text(&self, ready: bool) -> Result<String, String> {
        let reports = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut troubles = Vec::new();
        for (stage, report) in &reports {
            if report.alive.elapsed() > DEAD {
                troubles.push(format!("{stage}: silent for {} s", report.alive.elapsed().as_secs()));
            } else if let Some(trouble) = report.trouble.as_ref().filter(|_| ready) {
                troubles.push(format!("{stage}: {trouble}"));
            }
        }
        if troubles.is_empty() { Ok("ok\n".into()) } else { Err(troubles.join("\n") + "\n") }
    }
}

#[derive(Clone)]
struct Served {
    metrics: PrometheusHandle,
    health: Health,
}

/// Threads that answer requests.
const THREADS: usize = 2;

/// The runtime of the HTTP server.
///
/// # Errors
/// Errors of the system's threads.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(THREADS).thread_name("http").max_blocking_threads(8).enable_all();
    runtime.build().context("the HTTP server's runtime cannot be started")
}

/// Serves, with the routes of `others`, until `stop` is done; returns the address at once.
///
/// # Errors
/// An address that cannot be listened on.
pub async fn serve(
    config: &Http,
    metrics: PrometheusHandle,
    health: Health,
    others: Vec<Router>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("http.listen {} cannot be listened on", config.listen))?;
    let address = listener.local_addr().context("the address is not known")?;
    let served = Served { metrics, health };
    let mut router = Router::new()
        .route("/metrics", get(|State(s): State<Served>| async move { s.metrics.render() }))
        .route("/healthz", get(|State(s): State<Served>| async move { answer(s.health.text(false)) }))
        .route("/readyz", get(|State(s): State<Served>| async move { answer(s.health.text(true)) }))
        .layer(middleware::from_fn_with_state(Access::to_read(config), authorised))
        .with_state(served);
    for other in others {
        router = router.merge(other);
    }
    let hosts = Hosts::of(address, &names(config, address));
    let router = router.layer(middleware::from_fn_with_state(hosts, refuse_foreign));
    tokio::spawn(connections::serve(listener, router, |_| None, stop));
    Ok(address)
}

/// The configured names of the server, and that of this machine where others reach it.
fn names(config: &Http, address: SocketAddr) -> Vec<String> {
    let mut names = config.hosts.clone();
    if !address.ip().is_loopback() {
        names.push(host_name());
    }
    names
}

fn answer(text: Result<String, String>) -> Response {
    match text {
        Ok(text) => text.into_response(),
        Err(text) => (StatusCode::SERVICE_UNAVAILABLE, text).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_for_kafka_that_ended_is_no_trouble() {
        let health = Health::default();
        health.report("kafka", Some("no broker answers".to_string()));
        assert_eq!(health.text(true), Err("kafka: no broker answers\n".to_string()));
        assert!(health.text(false).is_ok());
        health.forget("kafka");
        health.alive("detector");
        assert_eq!(health.text(true), Ok("ok\n".to_string()));
        assert_eq!(health.0.lock().unwrap().len(), 1, "it would be silent after a minute");
    }
}
