//! Responses of the API: errors as `{"error": "..."}` with their status, checked query parameters.

use axum::Json;
use axum::extract::{FromRequestParts, Query, Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use schemas::Name;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::io;
use std::iter::successors;
use std::sync::Arc;
use store::outage::{LINE_EVERY, Outage};
use store::read::ReadError;
use store::read::episodes::EPISODES_OF_PARTITION;
use store::sqlite::is_of_other_build;

const SEARCH_BYTES_MAX: usize = 128;
/// Maximum of jobs or episodes whose loss by a time is requested: each needs its episodes.
pub const AT_MAX: u32 = 100;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A parameter is invalid; the text names it and the reason.
    #[error("{0}")]
    BadRequest(String),
    /// This server does not show it; the text has what it needs.
    #[error("{0}")]
    Forbidden(String),
    /// The requested object does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The store does not exist yet or has no tables.
    #[error("no data yet: {0}")]
    Waiting(String),
    /// The store could not be read.
    #[error("the store could not be read: {0}")]
    Store(Box<dyn Error + Send + Sync>),
    /// The database does not answer; the text has the reason.
    #[error("the database does not answer: {0}")]
    Away(String),
    /// A query ended without a result.
    #[error("the query was interrupted")]
    Interrupted,
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> ApiError {
        if is_of_other_build(&error) {
            let text = "it was written by another build of Tailback: replay the rows again, or serve it with that build";
            return ApiError::Store(format!("{error}; {text}").into());
        }
        ApiError::Store(error.into())
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> ApiError {
        match error {
            ReadError::Sqlite(error) => error.into(),
            ReadError::Postgres(error) => error.into(),
            ReadError::Json(error) => error.into(),
            ReadError::Silent(_) => ApiError::Away(error.to_string()),
            ReadError::Name(_) | ReadError::NoRow => ApiError::Store(error.into()),
        }
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> ApiError {
        ApiError::Store(error.into())
    }
}

impl From<tokio_postgres::Error> for ApiError {
    /// Transient errors become [`ApiError::Away`], others [`ApiError::Store`].
    fn from(error: tokio_postgres::Error) -> ApiError {
        let Some(said) = error.as_db_error() else {
            let mut causes = successors(error.source(), |&cause| cause.source());
            return match error.is_closed() || causes.any(|cause| cause.is::<io::Error>()) {
                true => ApiError::Away("connection lost; the next request reconnects".into()),
                false => ApiError::Store(whole(&error).into()),
            };
        };
        let text = format!("PostgreSQL error {}: {}", said.code().code(), said.message());
        match said.code().code() {
            // Statement timeout or shutdown; connection failure; out of resources; serialization failure; lock timeout.
            code if ["57", "08", "53", "40", "55"].iter().any(|class| code.starts_with(class)) => {
                ApiError::Away(text)
            }
            "42501" => {
                ApiError::Store(format!("{text}; grant the account the role `tailback_reader`").into())
            }
            _ => ApiError::Store(text.into()),
        }
    }
}

/// An error with its causes, which the driver reports as sources.
fn whole(error: &dyn Error) -> String {
    let causes = successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| match cause.to_string() {
        cause if text.contains(&cause) => text,
        cause => format!("{text}: {cause}"),
    })
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            ApiError::BadRequest(_) => StatusCode::BAD_REQUEST,
            ApiError::Forbidden(_) => StatusCode::FORBIDDEN,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::Waiting(_) | ApiError::Away(_) => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Store(_) | ApiError::Interrupted => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.to_string() });
        let mut response = (self.status(), Json(body)).into_response();
        if matches!(self, ApiError::Store(_) | ApiError::Away(_) | ApiError::Interrupted) {
            response.extensions_mut().insert(Failure(self.to_string()));
        }
        response
    }
}

/// A query that failed through no fault of the client; travels with the response to [`log_failures`].
#[derive(Clone)]
struct Failure(String);

/// Queries that fail, of all clients of a server. One may fail while others work: all of a minute share a line.
pub fn failed_queries() -> Arc<Outage> {
    Arc::new(Outage::new("query of the page or the API").quiet_for(LINE_EVERY))
}

/// Logs queries that fail. A client sees the error, too, but may be a program that drops it.
pub async fn log_failures(State(queries): State<Arc<Outage>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_string();
    let response = next.run(request).await;
    match response.extensions().get() {
        Some(Failure(error)) => queries.failed(&format!("{path}: {error}")),
        None => queries.works(),
    }
    response
}

/// The result of every handler.
pub type Answer<T> = Result<Json<T>, ApiError>;

/// Parsed query parameters; errors in them become a 400 with JSON.
pub struct Checked<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Checked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Checked(value)),
            Err(rejection) => Err(ApiError::BadRequest(rejection.body_text())),
        }
    }
}

/// The requested number of rows, or `standard` without one.
///
/// # Errors
/// Refuses zero and numbers above `most`.
pub fn checked_limit(limit: Option<u32>, standard: u32, most: u32) -> Result<u32, ApiError> {
    match limit.unwrap_or(standard) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => Err(ApiError::BadRequest(format!("limit is {limit}; it may be 1 to {most}"))),
    }
}

/// The part of a name to search for.
///
/// # Errors
/// Refuses more than 128 bytes, and the zero character.
pub fn checked_search(text: Option<&str>) -> Result<(), ApiError> {
    match text {
        Some(text) if text.len() > SEARCH_BYTES_MAX => {
            Err(ApiError::BadRequest(format!("search is longer than {SEARCH_BYTES_MAX} bytes")))
        }
        Some(text) if text.contains('\0') => {
            Err(ApiError::BadRequest("search contains a zero character".to_string()))
        }
        _ => Ok(()),
    }
}

/// The number of an episode or a region in a request.
///
/// # Errors
/// Refuses other text.
pub fn checked_number(whose: &str, text: &str) -> Result<i64, ApiError> {
    match text.parse() {
        Ok(number) if number >= 0 => Ok(number),
        _ => Err(ApiError::BadRequest(format!("{whose} id must be a number"))),
    }
}

/// The episode of a request: its id, or in a database `partition:number`.
///
/// # Errors
/// Refuses other text.
pub fn checked_episode(text: &str) -> Result<i64, ApiError> {
    let Some((partition, number)) = text.split_once(':') else {
        return checked_number("an episode's", text);
    };
    let (partition, number) = (
        checked_number("an episode's partition, before the colon,", partition)?,
        checked_number("an episode's", number)?,
    );
    match partition.checked_mul(EPISODES_OF_PARTITION) {
        Some(first) if number < EPISODES_OF_PARTITION && partition <= i64::from(i32::MAX) => {
            Ok(first + number)
        }
        _ => Err(ApiError::BadRequest(format!("there is no episode {text}"))),
    }
}

/// The job id of a request.
///
/// # Errors
/// Refuses text that is no [`Name`].
pub fn checked_job_id(text: &str) -> Result<Name, ApiError> {
    Name::parse(text).map_err(|why| ApiError::BadRequest(format!("not a job id: {why}")))
}

/// The series name of a request: `<metric>/<component>[/<part>]`.
///
/// # Errors
/// Refuses other text.
pub fn checked_series_name(text: &str) -> Result<String, ApiError> {
    let words: Vec<&str> = text.split('/').collect();
    let shaped = (2..=3).contains(&words.len());
    if shaped && words.iter().all(|word| Name::parse(word).is_ok()) {
        return Ok(text.to_string());
    }
    Err(ApiError::BadRequest("invalid series name: the form is metric/component/part".to_string()))
}

/// A span of time of a request.
///
/// # Errors
/// Refuses one that ends before it begins, or is longer than `longest_s`.
pub fn checked_span(from: f64, to: f64, longest_s: f64) -> Result<(), ApiError> {
    if from > to {
        return Err(ApiError::BadRequest("from is after to".to_string()));
    }
    if to - from > longest_s {
        return Err(ApiError::BadRequest(format!(
            "the range is longer than {longest_s} s; request parts of it"
        )));
    }
    Ok(())
}

/// The two optional ends of the time that a list is limited to: rows that touch it are listed.
pub type Between = [Option<f64>; 2];

/// The ends of a request.
///
/// # Errors
/// As [`checked_time`], and refuses one that ends before it begins.
pub fn checked_between(from: Option<f64>, to: Option<f64>) -> Result<Between, ApiError> {
    let from = from.map(|from| checked_time("from", from)).transpose()?;
    let to = to.map(|to| checked_time("to", to)).transpose()?;
    if let (Some(from), Some(to)) = (from, to) {
        checked_span(from, to, f64::INFINITY)?;
    }
    Ok([from, to])
}

/// A time of a request in seconds.
///
/// # Errors
/// Refuses infinities, NaN and times outside of 1970 to 2255.
pub fn checked_time(what: &str, seconds: f64) -> Result<f64, ApiError> {
    if (0.0..=9e9).contains(&seconds) {
        return Ok(seconds);
    }
    Err(ApiError::BadRequest(format!("{what} must be a time in seconds since the epoch")))
}
