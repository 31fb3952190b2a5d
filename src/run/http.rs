//! `/metrics`, `/healthz`, `/readyz`, and the ways to `/api/v1/jobs`, `/api/v1/placement` and `/api/v1/advice`.

use crate::config::secrets::Redacted;
use crate::config::sections::Http;
use anyhow::Context;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A stage that did nothing for so long does not live: its loop turns several times a second.
const DEAD: Duration = Duration::from_secs(60);

/// What each stage says of itself.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<BTreeMap<&'static str, Report>>>);

#[derive(Clone, Debug)]
struct Report {
    alive: Instant,
    trouble: Option<String>,
}

impl Health {
    /// The stage is there and works; `trouble` says in one sentence why not.
    pub fn report(&self, stage: &'static str, trouble: Option<String>) {
        let report = Report { alive: Instant::now(), trouble };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stage, report);
    }

    /// The stage lives; whether it is in trouble stays as it was.
    pub fn alive(&self, stage: &'static str) {
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let report = reports.entry(stage).or_insert(Report { alive: Instant::now(), trouble: None });
        report.alive = Instant::now();
    }

    /// What it is like: `ready` asks for troubles too, not only whether every stage turns.
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

/// Who may ask: whoever has the token, or everybody if there is none.
#[derive(Clone)]
pub struct Access(Option<Arc<str>>);

impl Access {
    /// Access by `token`.
    pub fn by(token: Option<&Redacted>) -> Access {
        Access(token.map(|token| Arc::from(token.reveal())))
    }
}

/// Serves, with the routes that `others` gives for the address, until `stop` is done; where it listens comes back at once.
///
/// # Errors
/// An address that cannot be listened on.
pub async fn serve(
    config: &Http,
    metrics: PrometheusHandle,
    health: Health,
    others: impl FnOnce(SocketAddr) -> Vec<Router>,
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
        .layer(middleware::from_fn_with_state(Access::by(config.token.as_ref()), authorised))
        .with_state(served);
    for other in others(address) {
        router = router.merge(other);
    }
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop).await {
            tracing::error!(%error, "the metrics server ended");
        }
    });
    Ok(address)
}

fn answer(text: Result<String, String>) -> Response {
    match text {
        Ok(text) => text.into_response(),
        Err(text) => (StatusCode::SERVICE_UNAVAILABLE, text).into_response(),
    }
}

/// Lets those pass who have access.
pub async fn authorised(State(Access(token)): State<Access>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer "));
    match &token {
        Some(token) if !given.is_some_and(|given| same(given, token)) => {
            (StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer …\n").into_response()
        }
        _ => next.run(request).await,
    }
}

/// Compares without telling by its time how much was right.
fn same(given: &str, token: &str) -> bool {
    let differing = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differing == 0
}
