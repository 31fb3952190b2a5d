//! Messages of `tailback.counters`: two bytes, the [`Kind`] and its version, and the content in Avro's binary encoding. The
//! schemas of the contents are in `schemas/wire/`. Messages of `tailback.partials` begin with the same two bytes.
//!
//! | file | what it holds |
//! |---|---|
//! | `wire/kind.rs` | kinds of messages and their versions |
//! | `wire/primitive.rs` | Avro's integers and strings, written and read |
//! | `wire/write.rs` | messages to bytes |
//! | `wire/read.rs` | bytes to messages, without copies of what the hot path needs |
//! | `wire/partition.rs` | which partition a key belongs to |

mod kind;
mod partition;
mod primitive;
mod read;
mod write;

pub use kind::Kind;
pub use partition::{domain_key, partition_of};
pub use read::{CountersView, Message, read, read_source};
pub use write::{
    begin_job_rows, end_job_rows, put_job_row, write_counters, write_dropped, write_progress, write_rejected,
    write_source,
};

use crate::{DropReason, JobEvent, Time};

/// Where a raw row stood: its place tells a row that was sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Raw topic.
    pub topic: &'a str,
    /// Partition of it.
    pub partition: i32,
    /// Offset in the partition.
    pub offset: i64,
    /// When Kafka says that it was published.
    pub arrived: Time,
}

/// How far a raw partition was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Raw topic.
    pub topic: String,
    /// Partition of it.
    pub partition: i32,
    /// Time of the latest row read, or the reader's clock where the end was reached.
    pub time: Time,
}

/// What a raw message said about jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Its offset in its partition.
    pub offset: i64,
    /// When Kafka says that it was published.
    pub arrived: Time,
    /// What it said.
    pub events: Vec<JobEvent>,
}

/// A raw row that was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedRow {
    /// Its offset in its partition.
    pub offset: i64,
    /// Why.
    pub reason: DropReason,
}

/// Why a message cannot be read. It is counted and passed over: it is none of Tailback's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The first byte is no [`Kind`] of message of this topic.
    #[error("unknown kind of message on this topic: {0}")]
    UnknownKind(u8),
    /// The second byte is no version that this Tailback reads.
    #[error("unknown version of messages of kind {kind}: {version}")]
    UnknownVersion {
        /// Number of the [`Kind`].
        kind: u8,
        /// The second byte.
        version: u8,
    },
    /// It ends early, or has bytes after its end.
    #[error("the message is damaged: {0}")]
    Damaged(&'static str),
    /// A name in it is none.
    #[error("the message has a bad name: {0}")]
    Name(#[from] crate::NameError),
}

#[cfg(test)]
mod tests;
