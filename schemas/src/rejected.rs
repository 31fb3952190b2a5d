//! Messages and rows that a stage passed over: what is kept of them, for a person to look at.

use serde::{Deserialize, Serialize};

/// Bytes kept of a content.
pub const HEAD_BYTES_MAX: usize = 4_096;
/// Messages that one partition keeps between two commits; more are counted only.
pub const KEPT_MAX: usize = 1_000;

/// Why a message or a row was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectReason {
    /// It was read and cannot be decoded.
    BadMessage,
    /// Kafka refused to take it for its length.
    TooLarge,
    /// PostgreSQL refused it with a data error.
    RefusedRow,
    /// Its code shows that none of Tailback's processes wrote it.
    Forged,
}

impl RejectReason {
    /// Every reason, in the order of their numbers in messages.
    pub const ALL: [RejectReason; 4] =
        [RejectReason::BadMessage, RejectReason::TooLarge, RejectReason::RefusedRow, RejectReason::Forged];

    /// The word in tables and metrics.
    pub fn name(self) -> &'static str {
        match self {
            RejectReason::BadMessage => "bad_message",
            RejectReason::TooLarge => "too_large",
            RejectReason::RefusedRow => "refused_row",
            RejectReason::Forged => "forged",
        }
    }
}

/// A message or a row that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedMessage {
    /// The stage that passed it over.
    pub stage: String,
    /// Kafka topic; of a refused row the table.
    pub topic: String,
    /// Partition of the stage's input.
    pub partition: i32,
    /// Offset in that partition: of the message, or with `written` of the commit's end.
    pub offset: i64,
    /// Whether Tailback wrote it; several such may have one offset.
    pub written: bool,
    /// Why.
    pub reason: RejectReason,
    /// The error in words.
    pub detail: String,
    /// Kafka's key; empty where there is none.
    pub key: String,
    /// Bytes of the content.
    pub size: u64,
    /// The first [`HEAD_BYTES_MAX`] bytes of the content.
    pub head: Vec<u8>,
}

/// The first [`HEAD_BYTES_MAX`] bytes.
pub fn head_of(content: &[u8]) -> Vec<u8> {
    content[..content.len().min(HEAD_BYTES_MAX)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_bounded() {
        assert_eq!(head_of(b"ab"), b"ab");
        assert_eq!(head_of(&[7; 100_000]), vec![7; HEAD_BYTES_MAX]);
    }
}
