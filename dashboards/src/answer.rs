//! How the API answers: errors as `{"error": "..."}` with their status, query parameters checked.

use axum::Json;
use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use schemas::Name;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::io;
use std::iter::successors;

const SEARCH_BYTES_MAX: usize = 128;

/// Why a request gets no answer.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A parameter is wrong; the text says which and why.
    #[error("{0}")]
    BadRequest(String),
    /// There is no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The store has nothing to read yet.
    #[error("no data yet: {0}")]
    Waiting(String),
    /// The store could not be read.
    #[error("the store could not be read: {0}")]
    Store(Box<dyn Error + Send + Sync>),
    /// The database does not answer; the text says why.
    #[error("the database does not answer: {0}")]
    Away(String),
    /// A query ended without an answer.
    #[error("the query was interrupted")]
    Interrupted,
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> ApiError {
        ApiError::Store(error.into())
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> ApiError {
        ApiError::Store(error.into())
    }
}

impl From<tokio_postgres::Error> for ApiError {
    /// What passes by itself is told apart from what does not.
    fn from(error: tokio_postgres::Error) -> ApiError {
        let Some(said) = error.as_db_error() else {
            let mut causes = successors(error.source(), |&cause| cause.source());
            return match error.is_closed() || causes.any(|cause| cause.is::<io::Error>()) {
                true => {
                    ApiError::Away("the connection to it broke; the next question makes a new one".into())
                }
                false => ApiError::Store(whole(&error).into()),
            };
        };
        let text = format!("PostgreSQL says {}: {}", said.code().code(), said.message());
        match said.code().code() {
            // Stopped, as by the limit of time; shut down; out of resources; locked.
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

/// An error with its causes: those of the driver stand behind it.
fn whole(error: &dyn Error) -> String {
    let causes = successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |told, cause| match cause.to_string() {
        cause if told.contains(&cause) => told,
        cause => format!("{told}: {cause}"),
    })
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            ApiError::BadRequest(_) => StatusCode::BAD_REQUEST,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::Waiting(_) | ApiError::Away(_) => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Store(_) | ApiError::Interrupted => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.to_string() });
        (self.status(), Json(body)).into_response()
    }
}

/// What every handler returns.
pub type Answer<T> = Result<Json<T>, ApiError>;

/// Query parameters that were parsed; whatever is wrong with them becomes a 400 in JSON.
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

/// The number of rows asked for, `standard` if none was named.
///
/// # Errors
/// Zero and more than `most` are refused.
pub fn checked_limit(asked: Option<u32>, standard: u32, most: u32) -> Result<u32, ApiError> {
    match asked.unwrap_or(standard) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => Err(ApiError::BadRequest(format!("limit is {limit}; it may be 1 to {most}"))),
    }
}

/// A part of a name that is looked for.
///
/// # Errors
/// More than 128 bytes are refused, and the zero character.
pub fn checked_search(text: Option<&str>) -> Result<(), ApiError> {
    match text {
        Some(text) if text.len() > SEARCH_BYTES_MAX => {
            Err(ApiError::BadRequest(format!("search is longer than {SEARCH_BYTES_MAX} bytes")))
        }
        Some(text) if text.contains('\0') => {
            Err(ApiError::BadRequest("search holds a zero character, which no name has".to_string()))
        }
        _ => Ok(()),
    }
}

/// The number of an episode or a region, from outside.
///
/// # Errors
/// What is no such number is refused.
pub fn checked_number(whose: &str, text: &str) -> Result<i64, ApiError> {
    match text.parse() {
        Ok(number) if number >= 0 => Ok(number),
        _ => Err(ApiError::BadRequest(format!("{whose} id is a number"))),
    }
}

/// Episodes that one partition of a database may number; an answer's id is the partition times this, and the number in it.
pub const EPISODES_OF_PARTITION: i64 = 1_000_000_000_000;

/// An episode from outside: its id, or in a database `partition:number`.
///
/// # Errors
/// What is neither is refused.
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

/// A job id from outside.
///
/// # Errors
/// What is no [`Name`] is refused.
pub fn checked_job_id(text: &str) -> Result<Name, ApiError> {
    Name::parse(text).map_err(|why| ApiError::BadRequest(format!("not a job id: {why}")))
}

/// A series name from outside: `<metric>/<component>[/<part>]`.
///
/// # Errors
/// Anything else is refused.
pub fn checked_series_name(text: &str) -> Result<String, ApiError> {
    let words: Vec<&str> = text.split('/').collect();
    let shaped = (2..=3).contains(&words.len());
    if shaped && words.iter().all(|word| Name::parse(word).is_ok()) {
        return Ok(text.to_string());
    }
    Err(ApiError::BadRequest("not a series name: it has the form metric/component/part".to_string()))
}

/// A time in seconds from outside.
///
/// # Errors
/// Infinities, NaN and times outside of 1970 to 2255 are refused.
pub fn checked_time(what: &str, seconds: f64) -> Result<f64, ApiError> {
    if (0.0..=9e9).contains(&seconds) {
        return Ok(seconds);
    }
    Err(ApiError::BadRequest(format!("{what} is no time in seconds since the epoch")))
}
