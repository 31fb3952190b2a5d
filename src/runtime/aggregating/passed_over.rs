//! Raw messages that the aggregator passes over, as they are kept in `rejected_messages`. Rows of raw topics that cannot be
//! decoded are counted by reason instead: there may be many, and they stay in their topic.

use super::outlet::TooLarge;
use super::raw::RawPartition;
use rdkafka::Message;
use rdkafka::error::KafkaError;
use schemas::rejected::head_of;
use schemas::{DropReason, RejectReason, RejectedMessage, wire};
use stages::stage::BadMessage;

/// A message of a job topic that is refused, with why.
pub(super) fn bad_job(
    raw: &RawPartition,
    offset: i64,
    payload: &[u8],
    (reason, refusal): (DropReason, &str),
) -> RejectedMessage {
    let place = (raw.topic.as_str(), raw.partition, offset);
    rejected(place, payload, RejectReason::BadMessage, format!("{}: {refusal}", reason.name()))
}

/// A message of `tailback.jobs` that none of Tailback's processes wrote, with why.
pub(super) fn forged(raw: &RawPartition, offset: i64, payload: &[u8], why: &BadMessage) -> RejectedMessage {
    let place = (raw.topic.as_str(), raw.partition, offset);
    rejected(place, payload, RejectReason::Forged, why.to_string())
}

/// A message of which something is too large for a message of the counters.
pub(super) fn too_large(
    raw: &RawPartition,
    offset: i64,
    payload: &[u8],
    too_large: TooLarge,
) -> RejectedMessage {
    let place = (raw.topic.as_str(), raw.partition, offset);
    rejected(place, payload, RejectReason::TooLarge, detail(too_large))
}

/// A message that the broker refused for its length after the client had taken it: it stands for the raw row that it was made
/// of.
pub(super) fn refused(message: &impl Message, code_bytes: usize, error: &KafkaError) -> RejectedMessage {
    let payload = message.payload().unwrap_or_default();
    let content = &payload[..payload.len().saturating_sub(code_bytes)];
    let place = match wire::read(content) {
        Ok(wire::Message::Counters(row)) => (row.origin.topic, row.origin.partition, row.origin.offset),
        Ok(wire::Message::Jobs(topic, partition, rows)) => {
            (topic, partition, rows.first().map_or(0, |row| row.offset))
        }
        _ => (message.topic(), message.partition(), message.offset().max(0)),
    };
    let detail = format!("a message of {} bytes to {}: {error}", payload.len(), message.topic());
    rejected(place, payload, RejectReason::TooLarge, detail)
}

fn detail(too_large: TooLarge) -> String {
    let (what, bytes) = match too_large {
        TooLarge::Row { bytes } => ("the row", bytes),
        TooLarge::Job { bytes } => ("the job with its nodes", bytes),
    };
    format!("{what} fills a message of {bytes} bytes, more than kafka.message_max_bytes")
}

fn rejected(
    (topic, partition, offset): (&str, i32, i64),
    payload: &[u8],
    reason: RejectReason,
    detail: String,
) -> RejectedMessage {
    RejectedMessage {
        stage: "aggregator".to_string(),
        topic: topic.to_string(),
        partition,
        offset,
        written: false,
        reason,
        detail,
        key: String::new(),
        size: payload.len() as u64,
        head: head_of(payload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_job_keeps_its_place_and_head() {
        let detail = detail(TooLarge::Job { bytes: 2_000_000 });
        let kept = rejected(("tailback.jobs", 0, 9), &[b'{'; 5_000], RejectReason::TooLarge, detail);
        assert_eq!((kept.topic.as_str(), kept.partition, kept.offset), ("tailback.jobs", 0, 9));
        assert_eq!((kept.size, kept.head.len()), (5_000, schemas::rejected::HEAD_BYTES_MAX));
        assert!(kept.detail.contains("2000000 bytes"), "{}", kept.detail);
    }
}
