//! A savepoint: the states of all partitions with their positions, in one file that describes itself.
//!
//! The file is lines of JSON. The first is the [`Head`]. Each [`StateHead`] is followed by as many bytes as it names: the state
//! as the database has it, compressed with zstd. The last line holds the number of states and the checksum of all lines before
//! it, which hold those of the states. A reader reports the end only after it has checked everything: what is written by then can
//! still be rolled back.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::SavepointReader;
pub use write::SavepointWriter;

use crate::postgres::PgError;
use serde::{Deserialize, Serialize};
use std::io;

/// Version of the file's layout.
pub const FORMAT: u32 = 1;
/// Longest line, in bytes.
const LINE_MAX: u64 = 1 << 20;

/// What a savepoint is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// [`FORMAT`].
    pub tailback_savepoint: u32,
    /// Version of the program that wrote it.
    pub written_by: String,
    /// When it was written, in seconds since the epoch.
    pub time_s: f64,
    /// Generation of the states (`tailback migrate --forget-positions` begins one).
    pub generation: i64,
    /// What each stage reads.
    pub inputs: Vec<Input>,
}

/// What a stage reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The stage.
    pub stage: String,
    /// Its topic; none for the aggregator, whose topics are the site's.
    pub topic: Option<String>,
    /// Its consumer group; Kafka has the aggregator's offsets under this name.
    pub group: String,
}

/// The state of one partition, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHead {
    /// The stage.
    pub stage: String,
    /// Partition of its topic.
    pub partition: i32,
    /// Version of the state; `None` for a partition of which no state was stored yet.
    pub version: Option<u32>,
    /// The next message for this state.
    pub position: i64,
    /// Kafka's offset of a message is its position less this.
    pub offset_base: i64,
    /// Kafka's identity of the topic, where brokers have one.
    pub topic_id: Option<String>,
    /// Compressed bytes.
    pub bytes: u64,
    /// Checksum (SHA-256) of them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

/// A state with its compressed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedState {
    /// What it is of; checksum and length are those of `content`.
    pub head: StateHead,
    /// Its bytes, compressed.
    pub content: Vec<u8>,
}

/// The last line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct End {
    states: u64,
    sha256: String,
}

/// Why a savepoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SavepointError {
    /// The disk refuses.
    #[error("{0}")]
    File(#[from] io::Error),
    /// Another file.
    #[error("it is no savepoint of Tailback")]
    NotOurs,
    /// A later layout.
    #[error("a newer Tailback ({written_by}) wrote it: import it with that version")]
    Newer {
        /// Version of the program that wrote it.
        written_by: String,
    },
    /// It ends too early.
    #[error("it is truncated; copy it again from where it was exported")]
    Truncated,
    /// Bytes differ from what was written.
    #[error("it was altered ({0}); copy it again from where it was exported")]
    Altered(String),
    /// It does not fit, or the database is in use; the text contains the remedy.
    #[error("{0}")]
    Refused(String),
    /// The database refuses.
    #[error(transparent)]
    Database(#[from] PgError),
}

/// A checksum in hexadecimal digits.
fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
