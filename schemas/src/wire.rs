//! Messages of `tailback.counters`: Avro, single-object encoding (two bytes of mark, eight of the schema's
//! fingerprint, the body). The schemas stand in `schemas/wire/`.
//!
//! | file | what it holds |
//! |---|---|
//! | `wire/primitive.rs` | Avro's integers and strings, written and read |
//! | `wire/write.rs` | messages to bytes |
//! | `wire/read.rs` | bytes to messages, without copies of what the hot path needs |
//! | `wire/partition.rs` | which partition a key belongs to |

mod partition;
mod primitive;
mod read;
mod write;

pub use partition::{domain_key, partition_of};
pub use read::{CountersView, Message, read, read_source};
pub use write::{
    begin_job_rows, end_job_rows, put_job_row, write_counters, write_dropped, write_progress, write_rejected,
    write_source,
};

use crate::{DropReason, JobEvent, Time};

/// First bytes of every message in single-object encoding, version 1.
const MARK: [u8; 2] = [0xC3, 0x01];

/// CRC-64-AVRO of the canonical forms of the schemas, as they stand in the messages (little endian).
const COUNTERS: u64 = 0x1692_3A7C_E4AF_70D2;
const JOB_ROWS: u64 = 0xA96E_30BA_3810_3316;
/// One raw message's news of jobs, as they were written before [`JOB_ROWS`]: read, and written no more.
const JOBS: u64 = 0xFB40_FE9F_F964_C892;
const DROPPED: u64 = 0x88E4_D551_C85A_28F0;
const PROGRESS: u64 = 0xBD8B_4B84_49B8_ED1E;
const REJECTED: u64 = 0xB666_0C67_91AE_CF65;

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
    /// No message of a schema that this version knows.
    #[error("the message is of no schema that this version of Tailback knows")]
    UnknownSchema,
    /// It ends early, or goes on after its end.
    #[error("the message is damaged: {0}")]
    Damaged(&'static str),
    /// A name in it is none.
    #[error("the message has a bad name: {0}")]
    Name(#[from] crate::NameError),
}

#[cfg(test)]
mod tests;
