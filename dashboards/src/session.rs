//! `/api/v1/session`: a browser logs in with a token, and out.

use crate::login::{Login, LoginError, Right, SESSION_LENGTH, cookie_name};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Longest body: a token.
const BODY_BYTES_MAX: usize = 64 << 10;

/// A server's login, and whether reading needs one.
#[derive(Clone)]
pub struct SessionState {
    /// Tokens and sessions.
    pub login: Arc<Login>,
    /// Whether reading needs a token or a session.
    pub is_needed: bool,
}

/// What a request without a token may know.
#[derive(Debug, Serialize)]
struct SessionAnswer {
    /// Reading needs a session or a token.
    needed: bool,
    /// A session may be made that may change state.
    can_change: bool,
    /// Seconds until the session of this request ends; `null` without one.
    ends_in_s: Option<u64>,
    /// The session of this request may change state.
    may_change: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    token: String,
}

/// The routes. They need no token.
pub fn router(state: SessionState) -> Router {
    Router::new()
        .route("/api/v1/session", get(session).post(log_in).delete(log_out))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(state)
}

async fn session(State(state): State<SessionState>, headers: HeaderMap) -> Response {
    let session = state.login.session_of(&headers);
    Json(SessionAnswer {
        needed: state.is_needed,
        can_change: state.login.highest_right() == Some(Right::Change),
        ends_in_s: session.map(|(_, left)| left.as_secs()),
        may_change: session.is_some_and(|(right, _)| right == Right::Change),
    })
    .into_response()
}

async fn log_in(State(state): State<SessionState>, headers: HeaderMap, Json(given): Json<Given>) -> Response {
    match state.login.start(&given.token) {
        Ok(id) => {
            (StatusCode::CREATED, [set_cookie(&headers, &id, SESSION_LENGTH.as_secs())]).into_response()
        }
        Err(error) => refusal(&error),
    }
}

async fn log_out(State(state): State<SessionState>, headers: HeaderMap) -> Response {
    state.login.end(&headers);
    (StatusCode::NO_CONTENT, [set_cookie(&headers, "", 0)]).into_response()
}

fn refusal(error: &LoginError) -> Response {
    let status = match error {
        LoginError::NoToken => StatusCode::FORBIDDEN,
        LoginError::Wrong => StatusCode::UNAUTHORIZED,
        LoginError::TooMany => StatusCode::TOO_MANY_REQUESTS,
        LoginError::Random(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, Json(serde_json::json!({ "error": error.to_string() }))).into_response()
}

fn set_cookie(headers: &HeaderMap, id: &str, seconds: u64) -> (header::HeaderName, HeaderValue) {
    // A proxy may end TLS: the browser names the scheme by which it reached the server.
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).unwrap_or_default();
    let secure = if origin.starts_with("https://") { "; Secure" } else { "" };
    let name = cookie_name(headers);
    let text = format!("{name}={id}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    // Digits and ASCII letters are always valid.
    (header::SET_COOKIE, HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("")))
}
