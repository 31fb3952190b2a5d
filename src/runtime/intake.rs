//! What is posted to a process and written to Kafka: job events, and the progress of jobs.
//!
//! The answer is 202 only when the brokers have all of it, so that the client may then forget it. A body is taken as a whole or not at
//! all: it is checked before the first message is written.
//!
//! | module | what it holds |
//! |---|---|
//! | `jobs` | `POST /api/v1/jobs`: job events from prolog and epilog scripts |
//! | [`progress`] | `POST /api/v1/jobs/{id}/progress`: what jobs count |
//! | `quota` | how much a job may report |
//! | `writer` | messages to Kafka |

mod jobs;
pub mod progress;
mod quota;
mod writer;

use super::limits;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use configuration::RunConfig;
use jobs::JobEvents;
use progress::Progress;
use std::sync::Arc;
use std::time::Duration;
use writer::Writer;

/// Time for a whole request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A status and the sentence that goes with it.
type Answer = (StatusCode, String);

/// What a process takes.
#[derive(Clone)]
pub struct Intake {
    writer: Arc<Writer>,
    /// Events of jobs.
    pub jobs: JobEvents,
    /// Counts of jobs.
    pub progress: Progress,
}

impl Intake {
    /// An intake that answers 503 until [`Intake::open`].
    ///
    /// # Errors
    /// Invalid properties of librdkafka.
    pub fn new(config: &RunConfig) -> anyhow::Result<Intake> {
        let writer = Arc::new(Writer::new(&config.kafka)?);
        let jobs = JobEvents::new(config, Arc::clone(&writer));
        let progress = Progress::new(config, Arc::clone(&writer));
        Ok(Intake { writer, jobs, progress })
    }

    /// Takes what is posted from here on: the topics are there.
    pub fn open(&self) {
        self.writer.open();
    }
}

/// The limit of a body, by its name in `[limits]`.
type BytesMax = (&'static str, usize);

/// Ends requests whose bodies arrive slowly, and notes those that are too long.
async fn in_time(State((limit, most)): State<BytesMax>, request: Request, next: Next) -> Response {
    let late = || {
        let why = format!("the request took longer than {} s\n", REQUEST_TIMEOUT.as_secs());
        (StatusCode::REQUEST_TIMEOUT, why).into_response()
    };
    let response = tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await.unwrap_or_else(|_| late());
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        limits::note_largest(limit, most, most);
    }
    response
}

/// Refuses bodies that are not marked as JSON. A browser sends this type to another origin only after a preflight request, so a foreign
/// page cannot post here.
fn check_type(headers: &HeaderMap) -> Result<(), Answer> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if kind.starts_with("application/json") || kind.starts_with("application/x-ndjson") {
        return Ok(());
    }
    let reason = "send JSON with the header Content-Type: application/json (or application/x-ndjson)\n";
    Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, reason.to_string()))
}

#[cfg(test)]
mod test_site;
