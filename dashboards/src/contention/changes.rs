//! `/api/v1/jobs/{id}/contention/stream`: the answer of a job as server-sent events, at once and whenever it changes.

use super::book::{BookError, JobAnswer};
use super::{Answers, asked};
use crate::connections::PeerUid;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::read::contention::JobContention;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Interval of comments, so that a client notices a server that is gone.
const BEAT: Duration = Duration::from_secs(10);
/// A stream without an end of its own; its client connects again.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What a stream is for.
struct Changes {
    answers: Arc<Answers>,
    id: String,
    /// The answer that was sent last; `None` before the first.
    sent: Option<JobContention>,
    first: Arc<JobAnswer>,
    /// When the token of the request expires.
    ends: Instant,
    stopping: watch::Receiver<bool>,
    is_over: bool,
}

/// Answers with events `contention`, whose data are those of the plain answer, and a last event `ended` with the reason.
pub(super) async fn stream(
    State(answers): State<Arc<Answers>>,
    Path(id): Path<String>,
    peer: Option<Extension<PeerUid>>,
    headers: HeaderMap,
) -> Response {
    let (first, until_s) = match asked(&answers, &id, peer, &headers).await {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = until_s.map_or(LONGEST, |until_s| Duration::from_secs(until_s).saturating_sub(now));
    let ends = Instant::now() + left.min(LONGEST);
    let stopping = answers.stopping.clone();
    let changes = Changes { answers, id, sent: None, first, ends, stopping, is_over: false };
    Sse::new(unfold(changes, Changes::next)).keep_alive(KeepAlive::new().interval(BEAT)).into_response()
}

impl Changes {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Changes)> {
        if self.is_over {
            return None;
        }
        let event = match self.answer().await {
            Ok(answer) => {
                self.sent = Some(answer.answer.clone());
                Event::default().event("contention").data(String::from_utf8_lossy(&answer.json))
            }
            Err(reason) => {
                self.is_over = true;
                Event::default().event("ended").data(serde_json::json!({ "reason": reason }).to_string())
            }
        };
        Some((Ok(event), self))
    }

    /// The next answer, or why there is none.
    async fn answer(&mut self) -> Result<Arc<JobAnswer>, String> {
        let Some(sent) = &self.sent else { return Ok(Arc::clone(&self.first)) };
        tokio::select! {
            changed = self.answers.book.change(&self.id, sent) => changed.map_err(|error: BookError| error.to_string()),
            () = sleep_until(self.ends) => Err("the token of the request expired".to_string()),
            _ = self.stopping.wait_for(|stop| *stop) => Err("the server stops".to_string()),
        }
    }
}
