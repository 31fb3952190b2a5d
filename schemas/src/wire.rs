//! Messages of `tailback.counters`: two bytes, the [`Kind`] and its version, and the content in Avro's binary encoding. The
//! schemas of the contents are in `schemas/wire/`. Messages of `tailback.partials` begin with the same two bytes.
//!
//! | file | content |
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

/// Position of a raw row: a row with the same position was sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Raw topic.
    pub topic: &'a str,
    /// Partition of the topic.
    pub partition: i32,
    /// Offset in the partition.
    pub offset: i64,
    /// Kafka's timestamp of the message.
    pub arrived: Time,
}

/// How far a raw partition was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Raw topic.
    pub topic: String,
    /// Partition of the topic.
    pub partition: i32,
    /// Time of the latest row read, or the reader's clock where the end was reached.
    pub time: Time,
}

/// Job events of a raw message.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// Its offset in its partition.
    pub offset: i64,
    /// Kafka's timestamp of the message.
    pub arrived: Time,
    /// Whether a node's sampler of jobs sent it.
    pub sampled: bool,
    /// The job events.
    pub events: Vec<JobEvent>,
}

/// A raw row that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedRow {
    /// Its offset in its partition.
    pub offset: i64,
    /// The reason.
    pub reason: DropReason,
}

/// Why a message cannot be read. Such a message is counted and skipped: Tailback did not write it.
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
    /// It contains an invalid name.
    #[error("the message has a bad name: {0}")]
    Name(#[from] crate::NameError),
}

#[cfg(test)]
mod tests;
