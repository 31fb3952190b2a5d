//! `POST /api/v1/jobs`: job events from prolog and epilog scripts, written to `kafka.jobs_topic`.
//!
//! The answer is 202 only when the brokers have every event, so that the script may then forget it. A body is taken as a
//! whole or not at all: events are checked before the first is written. An event that arrives twice is harmless.

use super::kafka;
use super::limits;
use super::message_code::{ANY_PARTITION, MessageKeys, Spot};
use super::producer::{Awaited, Polled};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use configuration::RunConfig;
use configuration::kafka::Role;
use dashboards::access::{Access, authorised};
use rdkafka::producer::{BaseRecord, Producer};
use schemas::Time;
use schemas::job_post::{PostedJob, read_body};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Bodies that are read at once, so that they take little memory and time.
const READ_AT_ONCE: usize = 4;
/// Time for a whole request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Milliseconds for which the brokers may take to have an event.
const DELIVERY_MS: u64 = 3_000;

/// Where events go.
#[derive(Clone)]
pub struct Intake {
    producer: Arc<Polled<Awaited>>,
    brokers: Arc<[String]>,
    topic: Arc<str>,
    keys: Arc<MessageKeys>,
    content_bytes_max: usize,
    ready: Arc<AtomicBool>,
    hosts_max: usize,
    bytes_max: usize,
    events_max: usize,
    /// Bodies that are read at once.
    turns: Arc<Semaphore>,
}

/// A status and the sentence that goes with it.
type Answer = (StatusCode, String);

impl Intake {
    /// An intake that answers 503 until [`Intake::open`].
    ///
    /// # Errors
    /// Invalid properties of librdkafka.
    pub fn new(config: &RunConfig) -> anyhow::Result<Intake> {
        let timeout = DELIVERY_MS.to_string();
        let own = [
            ("delivery.timeout.ms", timeout.as_str()),
            ("linger.ms", "0"),
            kafka::ONE_BY_ONE,
            kafka::NO_AUTO_CREATION,
        ];
        let producer = config.kafka.client(Role::Producer, &own, Awaited::default())?;
        Ok(Intake {
            producer: Arc::new(Polled::new(producer)?),
            brokers: config.kafka.brokers.as_slice().into(),
            topic: config.kafka.jobs_topic.as_str().into(),
            keys: Arc::new(MessageKeys::of(&config.kafka)),
            content_bytes_max: kafka::content_bytes_max(&config.kafka),
            ready: Arc::default(),
            hosts_max: config.http.job_hosts_max,
            bytes_max: config.limits.post_bytes,
            events_max: config.limits.post_events,
            turns: Arc::new(Semaphore::new(READ_AT_ONCE)),
        })
    }

    /// Takes events from here on: the topic is there.
    pub fn open(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// The route, for those who have `access`.
    pub fn router(self, access: Access) -> Router {
        Router::new()
            .route("/api/v1/jobs", post(take))
            .layer(DefaultBodyLimit::max(self.bytes_max))
            .route_layer(middleware::from_fn_with_state(self.bytes_max, in_time))
            // Of this route alone: other paths of the server are not for posting.
            .route_layer(middleware::from_fn_with_state(access, authorised))
            .with_state(self)
    }

    /// Writes events and waits until the brokers have them.
    async fn write(&self, jobs: &[PostedJob]) -> Result<(), Answer> {
        let unavailable = |error: String| {
            (StatusCode::SERVICE_UNAVAILABLE, format!("Kafka did not accept the events: {error}\n"))
        };
        if !self.ready.load(Ordering::Relaxed) {
            return Err(unavailable(format!("topic {} does not exist yet", self.topic)));
        }
        self.producer.context().0.add_again(self.producer.client(), &self.brokers);
        let mut messages = Vec::with_capacity(jobs.len());
        for (at, job) in jobs.iter().enumerate() {
            let payload = serde_json::to_vec(job).map_err(|error| wrong(at + 1, &error.to_string()))?;
            if payload.len() > self.content_bytes_max {
                return Err(wrong(at + 1, "it is longer than kafka.message_max_bytes"));
            }
            let spot = Spot { topic: &self.topic, partition: ANY_PARTITION, generation: 0 };
            messages.push((job.job_id.as_str(), self.keys.sealed(spot, &payload).into_owned()));
        }
        let sent = messages.iter().map(|(key, payload)| {
            let record = |waiting| {
                let record = BaseRecord::with_opaque_to(&self.topic, waiting);
                record.key(*key).payload(payload.as_slice())
            };
            self.producer.deliver(record, Duration::ZERO)
        });
        for delivery in futures::future::join_all(sent).await {
            delivery.map_err(|error| unavailable(error.to_string()))?;
        }
        Ok(())
    }
}

/// Ends requests whose bodies arrive slowly, and notes those that are too long.
async fn in_time(State(bytes_max): State<usize>, request: Request, next: Next) -> Response {
    let late = || {
        let why = format!("the request took longer than {} s\n", REQUEST_TIMEOUT.as_secs());
        (StatusCode::REQUEST_TIMEOUT, why).into_response()
    };
    let response = tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await.unwrap_or_else(|_| late());
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        limits::note_largest("post_bytes", bytes_max, bytes_max);
    }
    response
}

async fn take(State(intake): State<Intake>, headers: HeaderMap, body: Bytes) -> Answer {
    match taken(&intake, &headers, body).await {
        Ok(count) => (StatusCode::ACCEPTED, format!("{count} taken\n")),
        Err(answer) => answer,
    }
}

async fn taken(intake: &Intake, headers: &HeaderMap, body: Bytes) -> Result<usize, Answer> {
    // A browser sends this type to another origin only after a preflight request, so a foreign page cannot post here.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if !kind.starts_with("application/json") && !kind.starts_with("application/x-ndjson") {
        let reason = "send JSON with the header Content-Type: application/json (or application/x-ndjson)\n";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, reason.to_string()));
    }
    let busy = |error: String| (StatusCode::SERVICE_UNAVAILABLE, format!("the body was not read: {error}\n"));
    let _turn = intake.turns.acquire().await.map_err(|error| busy(error.to_string()))?;
    limits::note_largest("post_bytes", body.len(), intake.bytes_max);
    let (most, events) = (intake.hosts_max, intake.events_max);
    let read = tokio::task::spawn_blocking(move || read_events(&body, now(), most, events));
    let jobs = read.await.map_err(|error| busy(error.to_string()))??;
    limits::note_largest("post_events", jobs.len(), events);
    intake.write(&jobs).await?;
    Ok(jobs.len())
}

/// The events of a body, at most `events`. Their hosts, of which all events together may have `most`, are counted and not made.
fn read_events(body: &[u8], now: Time, most: usize, events: usize) -> Result<Vec<PostedJob>, Answer> {
    // Names of jobs are what users typed: bytes that are no text do not keep a start from being known.
    let jobs = read_body(&String::from_utf8_lossy(body), events);
    let jobs = jobs.map_err(|(at, error)| wrong(at, &error.to_string()))?;
    let mut hosts = 0;
    for (at, job) in jobs.iter().enumerate() {
        hosts += job.measure(now, most).map_err(|error| wrong(at + 1, &error.to_string()))?.hosts;
        if hosts > most {
            let why =
                format!("up to here the body names {hosts} hosts, more than http.job_hosts_max = {most}");
            return Err(wrong(at + 1, &format!("{why}: send fewer events at once")));
        }
    }
    Ok(jobs)
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
