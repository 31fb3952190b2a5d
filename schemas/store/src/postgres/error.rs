//! Why the server's store refuses, by what to do next.

use super::cause::{Cause, sentence};
use std::fmt;
use std::ops::Deref;
use tokio_postgres::error::SqlState;

/// What failed, in one sentence, and its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    text: String,
    /// The cause, which has the remedy.
    pub cause: Cause,
}

impl Deref for Failure {
    type Target = str;

    /// The sentence without the remedy.
    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause.remedy() {
            "" => f.write_str(&self.text),
            remedy => write!(f, "{}; {remedy}", self.text),
        }
    }
}

/// What failed, in one sentence; the kind determines what to do.
#[derive(Debug, thiserror::Error)]
pub enum PgError {
    /// The server or the way to it is gone or busy: the same call may succeed later, on a new connection.
    #[error("the database does not answer: {0}")]
    Retry(Failure),
    /// Another owner claimed the partition, or the server lost the last commits in a crash. The state in memory is invalid.
    /// Claim the partition again and continue from the position and the state that the claim returns.
    #[error("partition {partition} was taken over or set back; claim it again")]
    Fenced {
        /// The partition.
        partition: i32,
    },
    /// The server refuses a row for what it contains. A commit leaves such rows out.
    #[error("{0}")]
    Refused(String),
    /// Retrying does not help; the message contains the remedy.
    #[error("{0}")]
    Stop(Failure),
}

impl PgError {
    /// Whether the same call may succeed later without intervention.
    pub fn is_retryable(&self) -> bool {
        matches!(self, PgError::Retry(_))
    }

    /// Retrying does not help; `text` contains the remedy.
    pub(crate) fn stop(text: impl Into<String>) -> PgError {
        PgError::of(Cause::Other, text)
    }

    /// Retrying helps.
    pub(crate) fn retry(text: impl Into<String>) -> PgError {
        PgError::of(Cause::Passing, text)
    }

    /// A failure of a known cause; its remedy is added to `text`.
    pub(crate) fn of(cause: Cause, text: impl Into<String>) -> PgError {
        let failure = Failure { text: text.into(), cause };
        if cause.may_pass() { PgError::Retry(failure) } else { PgError::Stop(failure) }
    }

    /// What failed, without the remedy, and what to do about it; the latter is empty where the former contains it.
    pub fn parts(&self) -> (String, &'static str) {
        match self {
            PgError::Retry(failure) => {
                (format!("the database does not answer: {}", failure.text), failure.cause.remedy())
            }
            PgError::Stop(failure) => (failure.text.clone(), failure.cause.remedy()),
            PgError::Fenced { .. } | PgError::Refused(_) => (self.to_string(), ""),
        }
    }

    /// What an error of the server or of the connection amounts to.
    pub(super) fn from_server(error: &tokio_postgres::Error) -> PgError {
        let cause = Cause::of(error);
        let Some(said) = error.as_db_error() else {
            let refused = super::tls::TlsError::of(error).map(ToString::to_string);
            return PgError::of(cause, refused.unwrap_or_else(|| sentence(error)));
        };
        let text = format!("PostgreSQL says {}: {}", said.code().code(), said.message());
        if is_of_data(said.code()) {
            return PgError::Refused(
                said.detail().map_or(text.clone(), |detail| format!("{text}; {detail}")),
            );
        }
        PgError::of(cause, text)
    }
}

/// Whether a state of SQL is about what a row contains: values (22), constraints (23), rows that are alike (21), views with a
/// check (44), limits of the server such as an index row's length (54), a trigger that raises (P0001).
fn is_of_data(code: &SqlState) -> bool {
    let code = code.code();
    ["21", "22", "23", "44", "54"].iter().any(|class| code.starts_with(class)) || code == "P0001"
}

impl From<tokio_postgres::Error> for PgError {
    fn from(error: tokio_postgres::Error) -> PgError {
        PgError::from_server(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cause::passes;
    use super::*;

    #[test]
    fn data_errors_are_neither_retried_nor_final() {
        for (code, data, passing) in [
            ("23514", true, false),
            ("22003", true, false),
            ("54000", true, false),
            ("P0001", true, false),
            ("40001", false, true),
            ("40P01", false, true),
            ("08006", false, true),
            ("53100", false, true),
            ("42P01", false, false),
            ("28P01", false, false),
        ] {
            let code = SqlState::from_code(code);
            assert_eq!((is_of_data(&code), passes(code.code())), (data, passing), "{}", code.code());
        }
    }
}
