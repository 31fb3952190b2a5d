//! Messages and rows that a stage passes over: counted, logged, kept in `rejected_messages`.

use super::commit::Addressed;
use super::outage;
use rdkafka::Message;
use rdkafka::error::KafkaError;
use schemas::rejected::head_of;
use schemas::{RejectReason, RejectedMessage};
use stages::labels;
use stages::stage::BadMessage;
use store::postgres::RefusedRows;

/// Counter of what was passed over, by topic (of a refused row the table) and reason.
const COUNTER: &str = "tailback_rejected_messages_total";

/// A message that was read and is forged or cannot be decoded.
pub fn read(stage: &str, message: &impl Message, reason: RejectReason, bad: &BadMessage) -> RejectedMessage {
    let payload = message.payload().unwrap_or_default();
    RejectedMessage {
        stage: stage.to_string(),
        topic: message.topic().to_string(),
        partition: message.partition(),
        offset: message.offset(),
        written: false,
        reason,
        detail: bad.to_string(),
        key: String::from_utf8_lossy(message.key().unwrap_or_default()).into_owned(),
        size: payload.len() as u64,
        head: head_of(payload),
    }
}

/// A message that is too large for Kafka.
pub fn too_large(stage: &str, topic: &str, sent: &Addressed, error: &KafkaError) -> RejectedMessage {
    let payload = &sent.message.payload;
    RejectedMessage {
        stage: stage.to_string(),
        topic: topic.to_string(),
        partition: sent.partition,
        offset: 0,
        written: true,
        reason: RejectReason::TooLarge,
        detail: error.to_string(),
        key: sent.message.key.clone(),
        size: payload.len() as u64,
        head: head_of(payload),
    }
}

/// Counts a message that was passed over.
pub fn count(message: &RejectedMessage) {
    let (topic, reason) = (labels::of(&message.topic), message.reason.name());
    metrics::counter!(COUNTER, "topic" => topic, "reason" => reason).increment(1);
}

/// Counts a message that cannot be used, and logs it: one a minute of a topic and reason. All of a cluster's may be refused
/// alike.
pub fn count_and_log(message: &RejectedMessage) {
    count(message);
    let RejectedMessage { stage, topic, partition, offset, reason, detail, .. } = message;
    let (topic, reason) = (topic.as_str(), reason.name());
    if outage::is_line_due(&format!("{stage} rejects messages of {topic}: {reason}")) {
        tracing::error!(
            stage,
            topic,
            partition,
            offset,
            reason,
            error = detail,
            "message cannot be used; kept in rejected_messages"
        );
    }
}

/// Counts and logs rows that PostgreSQL refused.
pub fn log_refused(stage: &str, refused: &RefusedRows) {
    let RefusedRows { table, rows, error } = refused;
    let reason = RejectReason::RefusedRow.name();
    metrics::counter!(COUNTER, "topic" => *table, "reason" => reason).increment(*rows);
    tracing::error!(stage, table, rows, error, "PostgreSQL refuses rows; they are kept in rejected_messages");
}

#[cfg(test)]
mod tests {
    use super::*;
    use rdkafka::message::{OwnedMessage, Timestamp};

    #[test]
    fn rejected_message_keeps_place_key_size_and_head() {
        let payload = vec![0xC3; 10_000];
        let key = Some(b"n\xFF1".to_vec());
        let message = OwnedMessage::new(
            Some(payload),
            key,
            "tailback.counters".into(),
            Timestamp::NotAvailable,
            3,
            77,
            None,
        );
        let rejected = read("detector", &message, RejectReason::BadMessage, &BadMessage("damaged".into()));
        assert_eq!(
            (rejected.topic.as_str(), rejected.partition, rejected.offset),
            ("tailback.counters", 3, 77)
        );
        assert_eq!((rejected.size, rejected.head.len()), (10_000, schemas::rejected::HEAD_BYTES_MAX));
        assert_eq!((rejected.key.as_str(), rejected.detail.as_str()), ("n\u{fffd}1", "damaged"));
    }
}
