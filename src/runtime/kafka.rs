//! Connections to Kafka: assignments of consumers, properties of producers, offsets.

use super::brokers::Lost;
use super::outage;
use configuration::kafka::{Kafka, advertised, remedy};
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{Offset, TopicPartitionList};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Bytes that a message is longer than its content.
const MESSAGE_EXTRA_BYTES: usize = 1_024;

/// For producers whose messages are few: one request at a time. With several in flight, a broker that just became leader of
/// a partition may refuse the first and take the second, because it has no sequence numbers of this producer yet;
/// librdkafka then counts the first as written, too.
pub const ONE_BY_ONE: (&str, &str) = ("max.in.flight.requests.per.connection", "1");

/// For producers to Tailback's own topics: a broker would create one that was deleted with partitions of its own choice.
pub const NO_AUTO_CREATION: (&str, &str) = ("allow.auto.create.topics", "false");

/// Whether a message, or the batch that it is in, is longer than the client or the broker takes: to try again changes nothing.
pub fn is_too_large(error: &KafkaError) -> bool {
    error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageSizeTooLarge)
}

/// Counts and logs a message that is passed over.
pub fn too_large(topic: &str, bytes: usize) {
    metrics::counter!("tailback_rejected_messages_total", "topic" => topic.to_string(), "reason" => "too_large")
        .increment(1);
    tracing::error!(
        topic,
        bytes,
        "message dropped: too large for Kafka; raise kafka.message_max_bytes and max.message.bytes of the topic"
    );
}

/// What happened to the assignment, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Partitions came.
    Assigned(Vec<(String, i32)>),
    /// Partitions went.
    Revoked(Vec<(String, i32)>),
}

/// Says where reading of newly assigned partitions begins, by setting offsets in the list.
pub type Begin = Box<dyn Fn(&BaseConsumer<Listener>, &mut TopicPartitionList) + Send + Sync>;

/// A consumer's context: assignments, logs, errors.
pub struct Listener {
    begin: Begin,
    /// Whether partitions wait, paused, until their reader is ready.
    paused: bool,
    changes: Mutex<Vec<Change>>,
    troubles: AtomicU64,
    lost: Lost,
}

impl Listener {
    /// Assigned partitions begin at the offset of `begin`; if `paused`, when they are resumed.
    pub fn new(begin: Begin, paused: bool) -> Listener {
        Listener {
            begin,
            paused,
            changes: Mutex::new(Vec::new()),
            troubles: AtomicU64::new(0),
            lost: Lost::default(),
        }
    }

    /// What changed since the last call.
    pub fn changes(&self) -> Vec<Change> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How often something was wrong with a broker, or the way to it.
    pub fn troubles(&self) -> u64 {
        self.troubles.load(Ordering::Relaxed)
    }

    /// Whether all brokers were lost.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    fn note(&self, change: Change) {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).push(change);
    }
}

fn named(list: &TopicPartitionList) -> Vec<(String, i32)> {
    list.elements().iter().map(|e| (e.topic().to_string(), e.partition())).collect()
}

impl ClientContext for Listener {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        log(level, facility, text);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        match error.rdkafka_error_code() {
            // Updates for its reader, not for the log.
            Some(RDKafkaErrorCode::PartitionEOF) => return,
            // A topic that does not exist yet is no broker error.
            Some(RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) => {}
            _ => {
                self.troubles.fetch_add(1, Ordering::Relaxed);
                self.lost.note_error(&error);
            }
        }
        outage::kafka_failed(&error, reason);
    }
}

impl ConsumerContext for Listener {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, err: RDKafkaRespErr, list: &mut TopicPartitionList) {
        let done = if err == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            (self.begin)(consumer, list);
            let done = consumer.incremental_assign(list);
            if self.paused && consumer.pause(list).is_err() {
                tracing::warn!("failed to pause partitions");
            }
            self.note(Change::Assigned(named(list)));
            done
        } else {
            self.note(Change::Revoked(named(list)));
            consumer.incremental_unassign(list)
        };
        if let Err(error) = done {
            tracing::error!(%error, "failed to change the assignment");
        }
    }
}

/// Facilities of librdkafka's log lines about connections.
const OF_CONNECTIONS: [&str; 4] = ["FAIL", "ERROR", "REQTMOUT", "SESSTMOUT"];

/// What librdkafka logs, in the log of this program. Lines about connections belong to an outage.
pub(super) fn log(level: RDKafkaLogLevel, facility: &str, text: &str) {
    use RDKafkaLogLevel::{Debug, Info, Notice, Warning};
    let is_serious = !matches!(level, Info | Debug);
    match level {
        _ if is_serious && OF_CONNECTIONS.contains(&facility) => {
            // `[thrd:127.0.0.1:9092/bootstrap]: ` in front is of no use to a person.
            let text = text.split_once("]: ").map_or(text, |(_, rest)| rest);
            let remedy = match advertised(text).filter(|_| text.contains("Failed to resolve")) {
                Some(_) => Some(
                    "a broker calls itself so: correct its advertised.listeners, or the name service here",
                ),
                None => remedy(text),
            };
            match remedy {
                Some(remedy) => outage::KAFKA.failed(&format!("{text}; {remedy}")),
                None => outage::KAFKA.failed(text),
            }
        }
        _ if is_serious && outage::KAFKA.is_open() => tracing::debug!(target: "librdkafka", "{text}"),
        Debug => tracing::debug!(target: "librdkafka", "{text}"),
        Info => tracing::info!(target: "librdkafka", "{text}"),
        Warning | Notice => tracing::warn!(target: "librdkafka", "{text}"),
        _ => tracing::error!(target: "librdkafka", "{text}"),
    }
}

/// Offsets of partitions, fetched in one request: `at` is [`Offset::End`] or [`Offset::Beginning`]. `None` for those that
/// the brokers do not know.
///
/// # Errors
/// Brokers that do not answer within `timeout`.
pub fn offsets<'a, C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    partitions: impl Iterator<Item = (&'a str, i32)> + Clone,
    at: Offset,
    timeout: Duration,
) -> Result<Vec<Option<i64>>, KafkaError> {
    let mut asked = TopicPartitionList::new();
    for (topic, partition) in partitions.clone() {
        // Kafka's request takes -1 and -2 for the end and the beginning where it takes a time else.
        asked.add_partition_offset(topic, partition, at)?;
    }
    let found = consumer.offsets_for_times(asked, timeout)?;
    Ok(partitions.map(|(topic, partition)| known(&found, topic, partition)).collect())
}

/// Largest content of a message, in bytes.
pub fn content_bytes_max(kafka: &Kafka) -> usize {
    kafka.message_max_bytes as usize - MESSAGE_EXTRA_BYTES
}

/// The offset of a partition in an answer, if it is there.
pub fn known(found: &TopicPartitionList, topic: &str, partition: i32) -> Option<i64> {
    let element = found.find_partition(topic, partition)?;
    match (element.error(), element.offset()) {
        (Ok(()), Offset::Offset(offset)) => Some(offset),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
