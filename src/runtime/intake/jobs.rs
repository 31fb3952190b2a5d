//! `POST /api/v1/jobs`: job events, written to `kafka.jobs_topic`. An event that arrives twice is harmless.

use super::writer::Writer;
use super::{Answer, check_type, in_time};
use crate::runtime::message_code::{ANY_PARTITION, MessageKeys, Spot};
use crate::runtime::{clock, kafka, limits};
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware;
use axum::routing::post;
use bytes::Bytes;
use configuration::RunConfig;
use dashboards::access::{Access, authorised};
use schemas::Time;
use schemas::job_post::{PostedJob, read_body};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Bodies that are read at once, so that they take little memory and time.
const READ_AT_ONCE: usize = 4;

/// Where events go.
#[derive(Clone)]
pub struct JobEvents {
    writer: Arc<Writer>,
    topic: Arc<str>,
    keys: Arc<MessageKeys>,
    content_bytes_max: usize,
    hosts_max: usize,
    bytes_max: usize,
    events_max: usize,
    /// Bodies that are read at once.
    turns: Arc<Semaphore>,
}

impl JobEvents {
    pub(super) fn new(config: &RunConfig, writer: Arc<Writer>) -> JobEvents {
        JobEvents {
            writer,
            topic: config.kafka.jobs_topic.as_str().into(),
            keys: Arc::new(MessageKeys::of(&config.kafka)),
            content_bytes_max: kafka::content_bytes_max(&config.kafka),
            hosts_max: config.http.job_hosts_max,
            bytes_max: config.limits.post_bytes,
            events_max: config.limits.post_events,
            turns: Arc::new(Semaphore::new(READ_AT_ONCE)),
        }
    }

    /// The route, for those who have `access`.
    pub fn router(self, access: Access) -> Router {
        Router::new()
            .route("/api/v1/jobs", post(take))
            .layer(DefaultBodyLimit::max(self.bytes_max))
            .route_layer(middleware::from_fn_with_state(("post_bytes", self.bytes_max), in_time))
            // Of this route alone: other paths of the server are not for posting.
            .route_layer(middleware::from_fn_with_state(access, authorised))
            .with_state(self)
    }

    /// Writes events and waits until the brokers have them.
    async fn write(&self, jobs: &[PostedJob]) -> Result<(), Answer> {
        let mut messages = Vec::with_capacity(jobs.len());
        for (at, job) in jobs.iter().enumerate() {
            let payload = serde_json::to_vec(job).map_err(|error| wrong(at + 1, &error.to_string()))?;
            if payload.len() > self.content_bytes_max {
                return Err(wrong(at + 1, "it is longer than kafka.message_max_bytes"));
            }
            let spot = Spot { topic: &self.topic, partition: ANY_PARTITION, generation: 0 };
            messages.push((job.job_id.as_str(), self.keys.sealed(spot, &payload).into_owned()));
        }
        self.writer.write(&self.topic, &messages).await
    }
}

async fn take(State(events): State<JobEvents>, headers: HeaderMap, body: Bytes) -> Answer {
    match taken(&events, &headers, body).await {
        Ok(count) => (StatusCode::ACCEPTED, format!("{count} taken\n")),
        Err(answer) => answer,
    }
}

async fn taken(intake: &JobEvents, headers: &HeaderMap, body: Bytes) -> Result<usize, Answer> {
    check_type(headers)?;
    let busy = |error: String| (StatusCode::SERVICE_UNAVAILABLE, format!("the body was not read: {error}\n"));
    let _turn = intake.turns.acquire().await.map_err(|error| busy(error.to_string()))?;
    limits::note_largest("post_bytes", body.len(), intake.bytes_max);
    let (most, events) = (intake.hosts_max, intake.events_max);
    let read = tokio::task::spawn_blocking(move || read_events(&body, clock::now(), most, events));
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

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
