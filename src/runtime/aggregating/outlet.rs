//! Rows to messages of `tailback.counters`, in the partition of their key.

use super::super::kafka;
use super::super::message_code::{MessageKeys, Spot};
use super::super::producer::Polled;
use super::super::stage_error::{StageError, StageResult};
use super::super::stop::Control;
use super::deliveries::Deliveries;
use super::job_updates::{JobUpdates, TooLong};
use super::raw::RawPartition;
use aggregator::{Decoded, Decoder};
use configuration::kafka::Kafka;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseRecord, Producer};
use schemas::wire::{self, Origin, Reached};
use schemas::{RejectedMessage, SourceIndex, Time};
use std::time::Duration;

/// The producer, and what it needs of each source.
pub(super) struct Rekeyed {
    producer: Polled<Deliveries>,
    keys: MessageKeys,
    topic: String,
    partitions: i32,
    sources: Vec<Option<Described>>,
    jobs: JobUpdates,
    buffer: Vec<u8>,
    control: Control,
    brokers: Vec<String>,
}

/// What of a raw message is too large for a message of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooLarge {
    /// A row.
    Row { bytes: usize },
    /// A job with its nodes.
    Job { bytes: usize },
}

/// A source, as encoded in messages.
struct Described {
    bytes: Vec<u8>,
    key: String,
    partition: i32,
}

impl Rekeyed {
    /// Sends to the `partitions` partitions of the counters.
    pub(super) fn new(
        producer: Polled<Deliveries>,
        keys: MessageKeys,
        kafka: &Kafka,
        partitions: i32,
        control: &Control,
    ) -> Rekeyed {
        Rekeyed {
            producer,
            keys,
            topic: kafka.counters_topic.clone(),
            partitions,
            sources: Vec::new(),
            jobs: JobUpdates::new(kafka::content_bytes_max(kafka)),
            buffer: Vec::new(),
            control: control.clone(),
            brokers: kafka.brokers.clone(),
        }
    }

    /// Sends what was decoded of one raw message; returns what is too large for a message.
    pub(super) fn send(
        &mut self,
        chunk: usize,
        raw: &RawPartition,
        offset: i64,
        arrived: Time,
        decoder: &Decoder,
        decoded: &Decoded,
    ) -> StageResult<Option<TooLarge>> {
        let mut too_large = None;
        let origin = Origin { topic: &raw.topic, partition: raw.partition, offset, arrived };
        if !decoded.counters.is_empty()
            && let Some(before) = self.jobs.of_raw(origin.topic, origin.partition)
        {
            self.send_jobs(chunk, &before)?;
        }
        for (source, time, counters) in decoded.counters.rows() {
            self.describe(source, decoder);
            let Some(Some(described)) = self.sources.get(source.at()) else { continue };
            wire::write_counters(&mut self.buffer, &origin, time, &described.bytes, counters);
            if !self.give(described.partition, &described.key, &self.buffer, chunk)? {
                too_large = Some(TooLarge::Row { bytes: self.buffer.len() });
            }
        }
        match self.jobs.take(&origin, decoded.has_sampled_jobs, &decoded.jobs) {
            Ok(full) => full.map_or(Ok(()), |full| self.send_jobs(chunk, &full))?,
            Err(TooLong { job, bytes }) => {
                tracing::error!(%job, bytes, "job dropped: its nodes do not fit into kafka.message_max_bytes");
                too_large = Some(TooLarge::Job { bytes });
            }
        }
        Ok(too_large)
    }

    /// Sources have other numbers from here on.
    pub(super) fn forget_sources(&mut self) {
        self.sources.clear();
        self.jobs.forget();
    }

    /// Sends what is known of a raw message that is passed over, for the table `rejected_messages`.
    pub(super) fn reject(&mut self, chunk: usize, message: &RejectedMessage) -> StageResult {
        let key = format!("{}/{}", message.topic, message.partition);
        let partition = wire::partition_of(key.as_bytes(), self.partitions);
        wire::write_rejected(&mut self.buffer, message);
        self.give(partition, &key, &self.buffer, chunk).map(drop)
    }

    /// Sends what is known of messages that the broker refused for their length: their chunk arrives with it.
    pub(super) fn keep_refused(&mut self) -> StageResult {
        for (chunk, message) in self.producer.context().take_refused() {
            self.reject(chunk, &message)?;
            self.producer.context().done(chunk);
        }
        Ok(())
    }

    fn send_jobs(&self, chunk: usize, message: &[u8]) -> StageResult {
        self.to_all(chunk, "jobs", message)
    }

    /// Sends waiting job updates, dropped rows, and how far raw partitions were read.
    pub(super) fn announce(
        &mut self,
        chunk: usize,
        raws: &mut [RawPartition],
        aggregator: &str,
        now: Time,
        reached: &[Reached],
    ) -> StageResult {
        for message in self.jobs.all() {
            self.send_jobs(chunk, &message)?;
        }
        for raw in raws {
            let dropped = std::mem::take(&mut raw.dropped);
            if !dropped.is_empty() {
                let key = format!("{}/{}", raw.topic, raw.partition);
                let partition = wire::partition_of(key.as_bytes(), self.partitions);
                wire::write_dropped(&mut self.buffer, &raw.topic, raw.partition, &dropped);
                self.give(partition, &key, &self.buffer, chunk)?;
            }
        }
        wire::write_progress(&mut self.buffer, aggregator, now, reached);
        self.to_all(chunk, "progress", &self.buffer)
    }

    /// Sends an empty progress message to each partition.
    pub(super) fn send_first(&mut self, chunk: usize, aggregator: &str, now: Time) -> StageResult {
        wire::write_progress(&mut self.buffer, aggregator, now, &[]);
        self.to_all(chunk, "progress", &self.buffer)
    }

    /// Whether all messages of `chunk` arrived.
    pub(super) fn arrived(&self, chunk: usize) -> bool {
        self.producer.context().arrived(chunk)
    }

    /// Whether the delivery of a message failed.
    pub(super) fn failed(&self) -> bool {
        self.producer.context().failed()
    }

    /// Waits a little for messages on their way.
    pub(super) fn wait(&self) {
        std::thread::sleep(Duration::from_millis(2));
        self.restore_brokers();
    }

    /// Adds the configured brokers again if the producer lost all of them.
    pub(super) fn restore_brokers(&self) {
        self.producer.context().lost().add_again(self.producer.client(), &self.brokers);
    }

    /// Gives a message to the producer, with its code; waits while that is full. False if the message is too large.
    fn give(&self, partition: i32, key: &str, message: &[u8], chunk: usize) -> StageResult<bool> {
        let message = self.keys.sealed(Spot { topic: &self.topic, partition, generation: 0 }, message);
        let message = message.as_ref();
        let record = BaseRecord::with_opaque_to(&self.topic, chunk).partition(partition);
        let mut record = record.key(key).payload(message);
        self.producer.context().sent(chunk);
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(true),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                    record = back;
                    if self.control.stopping() {
                        return Err(StageError::Restart("Kafka accepts no counters".into()));
                    }
                    self.wait();
                }
                Err((error, _)) if kafka::is_too_large(&error) => {
                    kafka::too_large(&self.topic, message.len());
                    self.producer.context().done(chunk);
                    return Ok(false);
                }
                Err((error, _)) => return Err(error).map_err(StageError::kafka("enqueue a message")),
            }
        }
    }

    fn to_all(&self, chunk: usize, key: &str, message: &[u8]) -> StageResult {
        (0..self.partitions).try_for_each(|partition| self.give(partition, key, message, chunk).map(drop))
    }

    fn describe(&mut self, source: SourceIndex, decoder: &Decoder) {
        if self.sources.len() <= source.at() {
            self.sources.resize_with(source.at() + 1, || None);
        }
        let Some(known) = decoder.sources().get(source).filter(|_| self.sources[source.at()].is_none())
        else {
            return;
        };
        let (mut bytes, key) = (Vec::new(), wire::domain_key(known));
        wire::write_source(&mut bytes, known);
        let partition = wire::partition_of(key.as_bytes(), self.partitions);
        self.sources[source.at()] = Some(Described { bytes, key, partition });
    }
}
