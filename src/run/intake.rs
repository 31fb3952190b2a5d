//! `POST /api/v1/jobs`: job events from prolog and epilog scripts, written to `kafka.jobs_topic`.
//!
//! The answer is 202 only when the brokers have every event, so that a script that was told so may forget it. A body is
//! taken as a whole or not at all: events are checked before the first is written. An event that arrives twice is harmless.

use super::brokers::Lost;
use super::http::{Access, authorised};
use super::kafka;
use crate::config::RunConfig;
use crate::config::kafka::Role;
use crate::config::sections::Http;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::routing::post;
use bytes::Bytes;
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use schemas::Time;
use schemas::job_post::{PostedJob, read_body};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Largest body: a job on all nodes of the largest machine, named one by one, fits.
const BODY_BYTES_MAX: usize = 2 << 20;
/// Events in one request, at most.
const EVENTS_MAX: usize = 10_000;
/// Milliseconds for which the brokers may take to have an event.
const DELIVERY_MS: u64 = 3_000;

/// Where events go.
#[derive(Clone)]
pub struct Intake {
    producer: FutureProducer<Lost>,
    lost: Lost,
    brokers: Arc<[String]>,
    topic: Arc<str>,
    content_bytes_max: usize,
    ready: Arc<AtomicBool>,
}

/// A status and the sentence that goes with it.
type Answer = (StatusCode, String);

impl Intake {
    /// An intake that answers 503 until [`Intake::open`].
    ///
    /// # Errors
    /// What librdkafka says of the properties.
    pub fn new(config: &RunConfig) -> anyhow::Result<Intake> {
        let patience = DELIVERY_MS.to_string();
        let own = [("delivery.timeout.ms", patience.as_str()), ("linger.ms", "0"), kafka::ONE_BY_ONE];
        let lost = Lost::default();
        Ok(Intake {
            producer: kafka::client(config, Role::Producer, &own, lost.clone())?,
            lost,
            brokers: config.kafka.brokers.as_slice().into(),
            topic: config.kafka.jobs_topic.as_str().into(),
            content_bytes_max: kafka::content_bytes_max(&config.kafka),
            ready: Arc::default(),
        })
    }

    /// Takes events from here on: the topic is there.
    pub fn open(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// The route, for who has the token of jobs, or the common one where there is none.
    pub fn route(self, http: &Http) -> Router {
        let token = http.jobs_token.as_ref().or(http.token.as_ref());
        self.router(Access::by(token))
    }

    /// The route, for those who have `access`.
    pub fn router(self, access: Access) -> Router {
        Router::new()
            .route("/api/v1/jobs", post(take))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(middleware::from_fn_with_state(access, authorised))
            .with_state(self)
    }

    /// Writes events and waits until the brokers have them.
    async fn write(&self, jobs: &[PostedJob]) -> Result<(), Answer> {
        let away =
            |error: String| (StatusCode::SERVICE_UNAVAILABLE, format!("Kafka did not take it: {error}\n"));
        if !self.ready.load(Ordering::Relaxed) {
            return Err(away(format!("topic {} is not known to be there yet", self.topic)));
        }
        self.lost.name_again(self.producer.client(), &self.brokers);
        let mut messages = Vec::with_capacity(jobs.len());
        for (at, job) in jobs.iter().enumerate() {
            let payload = serde_json::to_vec(job).map_err(|error| wrong(at + 1, &error.to_string()))?;
            if payload.len() > self.content_bytes_max {
                return Err(wrong(at + 1, "it is longer than kafka.message_max_bytes"));
            }
            messages.push((job.job_id.as_str(), payload));
        }
        let sent = messages.iter().map(|(key, payload)| {
            let record = FutureRecord::to(&self.topic).key(*key).payload(payload);
            self.producer.send(record, Duration::ZERO)
        });
        for delivery in futures::future::join_all(sent).await {
            delivery.map_err(|(error, _)| away(error.to_string()))?;
        }
        Ok(())
    }
}

async fn take(State(intake): State<Intake>, headers: HeaderMap, body: Bytes) -> Answer {
    match taken(&intake, &headers, &body).await {
        Ok(count) => (StatusCode::ACCEPTED, format!("{count} taken\n")),
        Err(answer) => answer,
    }
}

async fn taken(intake: &Intake, headers: &HeaderMap, body: &[u8]) -> Result<usize, Answer> {
    // A page that somebody looks at cannot send this type without asking first, so it cannot post here.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if !kind.starts_with("application/json") && !kind.starts_with("application/x-ndjson") {
        let said = "send JSON, and say so: Content-Type: application/json (or application/x-ndjson)\n";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, said.to_string()));
    }
    // Names of jobs are what users typed: bytes that are no text do not keep a start from being known.
    let jobs = read_body(&String::from_utf8_lossy(body), EVENTS_MAX);
    let jobs = jobs.map_err(|(at, error)| wrong(at, &error.to_string()))?;
    for (at, job) in jobs.iter().enumerate() {
        let event = job.event(now()).map_err(|error| wrong(at + 1, &error.to_string()))?;
        // On their way to the detectors nodes stand one by one.
        let bytes: usize = event.nodes.iter().map(|node| node.as_str().len() + 2).sum();
        if bytes > intake.content_bytes_max {
            return Err(wrong(at + 1, "its nodes, one by one, are longer than kafka.message_max_bytes"));
        }
    }
    intake.write(&jobs).await?;
    Ok(jobs.len())
}

fn wrong(at: usize, what: &str) -> Answer {
    (StatusCode::BAD_REQUEST, format!("event {at}: {what}\n"))
}

/// The clock of this machine.
fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time(since.as_micros() as i64)
}

#[cfg(test)]
mod tests;
