//! What became of messages that the aggregator gave to Kafka.

use super::passed_over;
use crate::runtime::brokers::Lost;
use crate::runtime::kafka::{self, is_too_large};
use crate::runtime::outage;
use rdkafka::Message;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::ProducerContext;
use schemas::RejectedMessage;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Chunks of messages that may be on their way at once.
pub const CHUNKS: usize = 64;

/// Length above which a message is in a batch of its own, or nearly.
const LONE_BYTES: usize = 64 * 1024;

/// Refused messages that wait to be kept; more are counted only.
const REFUSED_MAX: usize = 64;

/// A producer's context: counts undelivered messages, by chunk.
#[derive(Debug, Default)]
pub struct Deliveries {
    on_their_way: Vec<AtomicI64>,
    failed: AtomicBool,
    refused: Mutex<Vec<(usize, RejectedMessage)>>,
    lost: Lost,
    /// Bytes of the code at the end of each message.
    code_bytes: usize,
}

impl Deliveries {
    /// Nothing on its way; each message ends with a code of `code_bytes`.
    pub fn new(code_bytes: usize) -> Deliveries {
        let on_their_way = (0..CHUNKS).map(|_| AtomicI64::new(0)).collect();
        Deliveries { on_their_way, code_bytes, ..Deliveries::default() }
    }

    /// Notes that a message of `chunk` was given to the producer.
    pub fn sent(&self, chunk: usize) {
        self.on_their_way[chunk % CHUNKS].fetch_add(1, Ordering::Relaxed);
    }

    /// Whether all messages of `chunk` arrived, and those that the broker refused are kept.
    pub fn arrived(&self, chunk: usize) -> bool {
        self.on_their_way[chunk % CHUNKS].load(Ordering::Acquire) == 0
    }

    /// Notes that a message of `chunk` is done.
    pub fn done(&self, chunk: usize) {
        self.on_their_way[chunk % CHUNKS].fetch_sub(1, Ordering::Release);
    }

    /// Messages that the broker refused for their length since the last call, with their chunks. The caller keeps each, then
    /// reports it [`done`](Deliveries::done).
    pub fn take_refused(&self) -> Vec<(usize, RejectedMessage)> {
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether all brokers were lost.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// Whether the delivery of a message failed.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Leaves a refused message to the caller of [`take_refused`](Deliveries::take_refused); false if too many wait.
    fn keep(&self, chunk: usize, message: RejectedMessage) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = refused.len() < REFUSED_MAX;
        if has_room {
            refused.push((chunk, message));
        }
        has_room
    }
}

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        kafka::log(level, facility, text);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        outage::kafka_failed(&error, reason);
        self.lost.note_error(&error);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, chunk: usize) {
        match result {
            Ok(_) => {}
            // Brokers refuse a batch as a whole: of messages that fill none alone, others may be to blame.
            Err((error, message)) if is_too_large(error) && message.payload_len() > LONE_BYTES => {
                kafka::too_large(message.topic(), message.payload_len());
                if self.keep(chunk, passed_over::refused(message, self.code_bytes, error)) {
                    return;
                }
            }
            Err((error, message)) => {
                let topic = message.topic();
                // One is enough: the stage restarts, and sends all of them again.
                match self.failed.swap(true, Ordering::Relaxed) {
                    false => tracing::error!(%error, topic, "message delivery failed"),
                    true => tracing::debug!(%error, topic, "message delivery failed"),
                }
            }
        }
        self.done(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::producer::Polled;
    use rdkafka::ClientConfig;
    use rdkafka::mocking::MockCluster;
    use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
    use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
    use schemas::wire::{self, Origin};
    use schemas::{Metric, Name, RejectReason, Source, Time};
    use std::time::Duration;

    const TIMEOUT: Duration = Duration::from_secs(30);
    /// Chunk of the messages.
    const CHUNK: usize = 3;

    fn tile_source() -> Source {
        let name = |text: &str| Name::parse(text).unwrap();
        Source {
            schema: name("aries_rtr"),
            producer: name("nid1"),
            metrics: vec![Metric::from_name("aries_stall_ratio").unwrap()],
            component: name("c0-0c0s0"),
            set: None,
            parts: vec![name("r0c0")],
            rank: 0,
            by_job: false,
        }
    }

    /// A producer that was refused one message with this payload for its length.
    fn refused(payload: &[u8]) -> Polled<Deliveries> {
        let cluster = MockCluster::new(1).unwrap();
        cluster.create_topic("counters", 1, 1).unwrap();
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", cluster.bootstrap_servers());
        let producer: BaseProducer<Deliveries> = config.create_with_context(Deliveries::new(0)).unwrap();
        let producer = Polled::new(producer.into()).unwrap();
        producer.client().fetch_metadata(Some("counters"), TIMEOUT).unwrap();
        let refusal = RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
        cluster.request_errors(RDKafkaApiKey::Produce, &[refusal]);
        producer.context().sent(CHUNK);
        let record = BaseRecord::<[u8], [u8], usize>::with_opaque_to("counters", CHUNK);
        producer.send(record.partition(0).payload(payload)).unwrap();
        producer.flush(TIMEOUT).unwrap();
        producer
    }

    #[test]
    fn refused_row_is_kept_before_its_chunk_arrives() {
        let origin = Origin { topic: "ldms.x", partition: 2, offset: 41, arrived: Time(0) };
        let (mut source, mut payload) = (Vec::new(), Vec::new());
        wire::write_source(&mut source, &tile_source());
        wire::write_counters(&mut payload, &origin, Time(1), &source, &[1 << 60; 20_000]);
        let producer = refused(&payload);
        let deliveries = producer.context();
        assert!(!deliveries.failed() && !deliveries.arrived(CHUNK));
        let kept = deliveries.take_refused();
        let [(CHUNK, message)] = kept.as_slice() else { panic!("{kept:?}") };
        assert_eq!((message.topic.as_str(), message.partition, message.offset), ("ldms.x", 2, 41));
        assert_eq!((message.reason, message.size), (RejectReason::TooLarge, payload.len() as u64));
        deliveries.done(CHUNK);
        assert!(deliveries.arrived(CHUNK));
    }

    #[test]
    fn refused_batch_of_short_messages_is_sent_again() {
        // Which of the batch's messages was too long is unknown: none of them may be lost.
        let producer = refused(&[7; 1_000]);
        assert!(producer.context().failed() && producer.context().take_refused().is_empty());
    }
}
