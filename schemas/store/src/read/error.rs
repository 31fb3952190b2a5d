//! Why a question has no answer.

use schemas::NameError;
use std::time::Duration;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The embedded store cannot be read.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The server refuses the query, or does not answer.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// A column has JSON or a word that this program does not know.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A column has a name that is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A result that always has a row has none.
    #[error("the result has no row")]
    NoRow,
    /// The server sent nothing for so long.
    #[error("no response for {} s", .0.as_secs())]
    Silent(Duration),
}
