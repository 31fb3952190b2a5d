//! `POST /api/v1/jobs/{id}/progress`: what a job counts, written as rows to `kafka.progress_topic`.

use super::quota::{Quotas, Refusal};
use super::writer::Writer;
use super::{check_type, in_time};
use crate::runtime::{clock, limits};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use configuration::RunConfig;
use dashboards::connections::PeerUid;
use dashboards::contention::Reporters;
use schemas::Name;
use schemas::progress_report::read_reports;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const PATH: &str = "/api/v1/jobs/{id}/progress";
/// The answer of a server without Kafka.
const NO_KAFKA: &str =
    "this server takes no progress, since it has no Kafka: report to the address of tailback run\n";

/// Where reports go.
#[derive(Clone)]
pub struct Progress {
    writer: Arc<Writer>,
    topic: Arc<str>,
    quotas: Arc<Mutex<Quotas>>,
    began: Instant,
    bytes_max: usize,
    reports_max: usize,
}

impl Progress {
    pub(super) fn new(config: &RunConfig, writer: Arc<Writer>) -> Progress {
        Progress {
            writer,
            topic: config.kafka.progress_topic.as_str().into(),
            quotas: Arc::new(Mutex::new(Quotas::new(&config.limits))),
            began: Instant::now(),
            bytes_max: config.limits.progress_bytes,
            reports_max: config.limits.progress_reports,
        }
    }

    /// The route, for `reporters`.
    pub fn router(self, reporters: Reporters) -> Router {
        let bytes_max = self.bytes_max;
        Router::new()
            .route(PATH, post(take))
            .layer(DefaultBodyLimit::max(bytes_max))
            .route_layer(middleware::from_fn_with_state(("progress_bytes", bytes_max), in_time))
            .with_state(Arc::new((self, reporters)))
    }

    /// Writes the reports of a body, and returns their number.
    async fn taken(&self, job: &Name, body: &[u8]) -> Result<usize, Response> {
        let wrong = |error: String| (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response();
        let now = clock::now();
        limits::note_largest("progress_bytes", body.len(), self.bytes_max);
        let reports = read_reports(body, self.reports_max, now).map_err(wrong)?;
        limits::note_largest("progress_reports", reports.len(), self.reports_max);
        let taken = {
            let mut quotas = self.quotas.lock().unwrap_or_else(PoisonError::into_inner);
            quotas.take(job, &reports, self.began.elapsed())
        };
        taken.map_err(IntoResponse::into_response)?;
        let mut messages = Vec::with_capacity(reports.len());
        for report in &reports {
            messages.push((job.as_str(), report.row(job, now).map_err(|error| wrong(error.to_string()))?));
        }
        self.writer.write(&self.topic, &messages).await.map_err(IntoResponse::into_response)?;
        Ok(reports.len())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let after_s = self.after.as_secs_f64().ceil().max(1.0);
        let text = format!("{}: try again in {after_s} s\n", self.why);
        (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, after_s.to_string())], text).into_response()
    }
}

/// The route of a server without Kafka, which refuses all reports.
pub fn without_kafka() -> Router {
    Router::new().route(PATH, post(async || (StatusCode::NOT_FOUND, NO_KAFKA)))
}

async fn take(
    State(route): State<Arc<(Progress, Reporters)>>,
    Path(id): Path<String>,
    peer: Option<Extension<PeerUid>>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let (progress, reporters) = &*route;
    let taken = async {
        let job = reporters.admit(&headers, peer.map(|Extension(peer)| peer), &id).await?;
        check_type(&headers).map_err(IntoResponse::into_response)?;
        // The body of a request that is refused is not read.
        let body = Bytes::from_request(request, &()).await.map_err(IntoResponse::into_response)?;
        progress.taken(&job, &body).await
    };
    match taken.await {
        Ok(count) => (StatusCode::ACCEPTED, format!("{count} taken\n")).into_response(),
        Err(refusal) => refusal,
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
