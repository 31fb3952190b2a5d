//! `POST /api/v1/silences` and `DELETE /api/v1/silences/{id}`: silences that people set and end on the page.

use super::clock;
use alerts::silence::Posted;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router, middleware};
use configuration::secrets::read_secret;
use dashboards::access::{Access, authorised};
use dashboards::login::{Login, Right};
use schemas::AlertSilence;
use std::path::Path as FilePath;
use std::sync::Arc;
use store::outbox::{OutboxError, OutboxStore};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// Longest body.
const BODY_BYTES_MAX: usize = 64 << 10;
/// Silences that are not over, at most: each notice is compared with all of them.
const SILENCES_MAX: usize = 1_000;
/// The answer of a server without a token for it.
const CLOSED: &str = "silencing is closed: set http.silence_token_file of tailback run, start tailback serve or demo with \
    --silence-token-file, or use tailback alerts silence";

/// Opens the outbox.
pub type OpenOutbox = Arc<dyn Fn() -> Result<OutboxStore, OutboxError> + Send + Sync>;

#[derive(Clone)]
struct Silences {
    open: OpenOutbox,
    /// One request at a time uses the outbox.
    turn: Arc<Mutex<()>>,
}

/// A status and its reason.
type Refusal = (StatusCode, String);

/// The login of `tailback serve` and `tailback demo`, from the files of their options `--token-file` and
/// `--silence-token-file`.
///
/// # Errors
/// What is wrong with a file.
pub fn login_of(to_read: Option<&FilePath>, to_silence: Option<&FilePath>) -> anyhow::Result<Arc<Login>> {
    let mut tokens = Vec::new();
    for (option, file, right) in
        [("--token-file", to_read, Right::Read), ("--silence-token-file", to_silence, Right::Change)]
    {
        let Some(file) = file else { continue };
        let token = read_secret("token_file", file);
        let token = token.map_err(|reason| anyhow::anyhow!("{option} {} {reason}", file.display()))?;
        tokens.push((token, right));
    }
    Ok(Arc::new(Login::new(tokens)))
}

/// The routes, for tokens and sessions that may change state.
pub fn router(login: &Arc<Login>, open: OpenOutbox) -> Router {
    let access = match login.highest_right() {
        Some(Right::Change) => Access::Login(Arc::clone(login), Right::Change),
        _ => Access::Closed(CLOSED),
    };
    Router::new()
        .route("/api/v1/silences", post(set))
        .route("/api/v1/silences/{id}", delete(end))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .route_layer(middleware::from_fn_with_state(access, authorised))
        .with_state(Silences { open, turn: Arc::default() })
}

async fn set(State(silences): State<Silences>, posted: Result<Json<Posted>, JsonRejection>) -> Response {
    let wanted = match posted {
        Ok(Json(posted)) => posted
            .silence(clock::now().seconds())
            .map_err(|error| (StatusCode::BAD_REQUEST, error.to_string())),
        Err(error) => Err((error.status(), error.body_text())),
    };
    let stored = match wanted {
        Ok(silence) => silences.with(async move |outbox| put(outbox, silence).await).await,
        Err(refusal) => Err(refusal),
    };
    answer(stored.map(|silence| (StatusCode::CREATED, Json(silence))))
}

async fn end(State(silences): State<Silences>, Path(id): Path<String>) -> Response {
    let ended = silences.with(async move |outbox| {
        let ended = outbox.end_silence(&id, clock::now().seconds()).await.map_err(|error| refused(&error))?;
        let unknown = || (StatusCode::NOT_FOUND, format!("there is no active silence {id:?}"));
        ended.then_some(serde_json::json!({ "ended": id })).ok_or_else(unknown)
    });
    answer(ended.await.map(Json))
}

impl Silences {
    /// Runs `work` on a thread of its own: an embedded store blocks.
    async fn with<T: Send + 'static, W>(&self, work: W) -> Result<T, Refusal>
    where
        W: AsyncFnOnce(&mut OutboxStore) -> Result<T, Refusal> + Send + 'static,
    {
        let _turn = self.turn.lock().await;
        let (open, handle) = (Arc::clone(&self.open), Handle::current());
        let run = move || {
            let mut outbox = open().map_err(|error| refused(&error))?;
            handle.block_on(work(&mut outbox))
        };
        let failed = |error: tokio::task::JoinError| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
        spawn_blocking(run).await.map_err(failed)?
    }
}

async fn put(outbox: &mut OutboxStore, silence: AlertSilence) -> Result<AlertSilence, Refusal> {
    let active = outbox.silences(clock::now().seconds()).await.map_err(|error| refused(&error))?;
    if active.len() >= SILENCES_MAX {
        let text =
            format!("there are {} silences, at most {SILENCES_MAX} are allowed: end some", active.len());
        return Err((StatusCode::CONFLICT, text));
    }
    outbox.put_silence(&silence).await.map_err(|error| refused(&error))?;
    Ok(silence)
}

fn refused(error: &OutboxError) -> Refusal {
    let status = match error {
        OutboxError::Retry(_) => StatusCode::SERVICE_UNAVAILABLE,
        OutboxError::Denied(_) => StatusCode::FORBIDDEN,
        OutboxError::Stop(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, format!("the silence was not stored: {error}"))
}

fn answer(result: Result<impl IntoResponse, Refusal>) -> Response {
    match result {
        Ok(done) => done.into_response(),
        Err((status, error)) => (status, Json(serde_json::json!({ "error": error }))).into_response(),
    }
}
