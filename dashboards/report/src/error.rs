//! Why there is no report.

use crate::nearest_jobs::unknown_job;
use std::io;
use std::path::PathBuf;
use store::postgres::PgError;
use store::read::ReadError;
use store::sqlite::StoreError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The embedded store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A query of the embedded store fails.
    #[error("{}: {what} cannot be read", .path.display())]
    Unreadable {
        /// The store.
        path: PathBuf,
        /// What was to be read.
        what: String,
        /// The reason.
        source: ReadError,
    },
    /// No connection to the server.
    #[error(transparent)]
    Server(#[from] PgError),
    /// A query of the server fails.
    #[error(transparent)]
    Query(#[from] ReadError),
    /// The thread that serves the connection cannot start.
    #[error(transparent)]
    Thread(#[from] io::Error),
    /// The embedded store does not have the job.
    #[error("{}: {}", .path.display(), unknown_job(.job, .known))]
    UnknownJob {
        /// The store.
        path: PathBuf,
        /// The requested job.
        job: String,
        /// The jobs that it has, the newest first.
        known: Vec<String>,
    },
    /// The server does not have the job, or does not show it to this account.
    #[error("job {0:?} is not known, or not to this login")]
    HiddenJob(String),
    /// The text is no number of an episode.
    #[error("an episode is a number, or partition:number, not {0:?}")]
    NotAnEpisode(String),
    /// The embedded store does not have the episode.
    #[error("{}: episode {id} is not known", .path.display())]
    UnknownEpisode {
        /// The store.
        path: PathBuf,
        /// Number of the episode.
        id: i64,
    },
    /// The server does not have the episode.
    #[error("episode {partition}:{id} is not known")]
    UnknownEpisodeOfPartition {
        /// Partition of the episode.
        partition: i32,
        /// Its number in the partition.
        id: i64,
    },
    /// The facts are no JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
