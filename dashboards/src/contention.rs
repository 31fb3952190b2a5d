//! `/api/v1/jobs/{id}/contention`: whether a running job is contended now, on what, since when, and what it lost.
//!
//! | module | content |
//! |---|---|
//! | `book` | [`Book`], the answers of all running jobs in memory |
//! | `gate` | who may read or report something about a job |
//! | `reporters` | who may report the progress of a job |
//! | `changes` | the same as server-sent events |

mod book;
mod changes;
mod gate;
mod reporters;

pub use book::{Book, keep};
pub use gate::Gate;
pub use reporters::Reporters;

use crate::answer::checked_job_id;
use crate::connections::PeerUid;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use book::{BookError, JobAnswer};
use std::sync::Arc;
use tokio::sync::watch;

/// The answers and who may read them.
pub struct Answers {
    /// Who may read.
    pub gate: Gate,
    /// The answers.
    pub book: Arc<Book>,
    /// Becomes true when the server stops.
    pub stopping: watch::Receiver<bool>,
}

/// The routes, for those who pass the gate.
pub fn router(answers: Answers) -> Router {
    Router::new()
        .route("/api/v1/jobs/{id}/contention", get(contention))
        .route("/api/v1/jobs/{id}/contention/stream", get(changes::stream))
        .with_state(Arc::new(answers))
}

/// Answers `/api/v1/jobs/{id}/contention`.
async fn contention(
    State(answers): State<Arc<Answers>>,
    Path(id): Path<String>,
    peer: Option<Extension<PeerUid>>,
    headers: HeaderMap,
) -> Response {
    match asked(&answers, &id, peer, &headers).await {
        Ok((answer, _)) => {
            let json = HeaderValue::from_static("application/json");
            ([(header::CONTENT_TYPE, json)], answer.json.clone()).into_response()
        }
        Err(refusal) => refusal,
    }
}

/// The answer for `id`, and until when the token of the request is valid, in seconds since the epoch.
async fn asked(
    answers: &Answers,
    id: &str,
    peer: Option<Extension<PeerUid>>,
    headers: &HeaderMap,
) -> Result<(Arc<JobAnswer>, Option<u64>), Response> {
    let id = checked_job_id(id).map_err(IntoResponse::into_response)?;
    let pass = answers.gate.admit(headers, peer.map(|Extension(peer)| peer), id.as_str()).await?;
    let answer = answers.book.answer(id.as_str()).await.map_err(|error| refused(&error))?;
    answers.gate.admit_user(&pass, &answer.user).await?;
    Ok((answer, pass.until_s()))
}

fn refused(error: &BookError) -> Response {
    let status = match error {
        BookError::NotRunning(_) => StatusCode::NOT_FOUND,
        BookError::TooMany(_) | BookError::Stale(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(serde_json::json!({ "error": error.to_string() }))).into_response()
}
