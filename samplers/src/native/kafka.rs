//! Rows to Kafka, topic by schema, with a null key as LDMS's store publishes them.

use super::{Event, Kind, Sink, TickRows};
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A producer that is polled for delivery reports once a tick, without a thread of its own.
pub struct KafkaSink<P> {
    producer: P,
    topics: [(Kind, String); Kind::ALL.len()],
    brokers: String,
    dropped: u64,
    /// Rows dropped since the queue became full; `None` while it is not.
    full_since: Option<u64>,
    events: Vec<Event>,
    /// Whether the last deliveries succeeded; `None` before the first.
    works: Option<bool>,
}

/// The producer's context: counts delivered and failed rows; keeps the last error.
#[derive(Default)]
pub struct DeliveryReports {
    delivered: AtomicU64,
    failed: AtomicU64,
    error: Mutex<Option<String>>,
}

impl ClientContext for DeliveryReports {
    fn log(&self, _: RDKafkaLogLevel, _: &str, text: &str) {
        // Brokers that are away fill lines and lines: what matters comes as an error.
        tracing::debug!(target: "librdkafka", "{text}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, "Kafka: {reason}");
        let sentence = if reason.is_empty() { error.to_string() } else { reason.to_string() };
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
    }
}

impl ProducerContext for DeliveryReports {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        match result {
            Ok(_) => self.delivered.fetch_add(1, Ordering::Relaxed),
            Err((error, _)) => {
                *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                self.failed.fetch_add(1, Ordering::Relaxed)
            }
        };
    }
}

impl<P: Deref<Target = BaseProducer<DeliveryReports>>> KafkaSink<P> {
    /// Publishes with `producer`, whose queue limits the rows that wait, to topics that begin with `prefix`.
    /// Events name its `brokers`.
    pub fn new(producer: P, brokers: String, prefix: &str) -> KafkaSink<P> {
        let topic = |kind: Kind| (kind, format!("{prefix}{}", kind.schema()));
        KafkaSink {
            producer,
            topics: Kind::ALL.map(topic),
            brokers,
            dropped: 0,
            full_since: None,
            events: Vec::new(),
            works: None,
        }
    }

    fn send(&mut self, kind: Kind, line: &[u8]) {
        let Some((_, topic)) = self.topics.iter().find(|(of, _)| *of == kind) else { return };
        match self.producer.send(BaseRecord::<(), [u8]>::to(topic).payload(line)) {
            Ok(()) => {
                if let Some(dropped) = self.full_since.take() {
                    self.events.push(Event::BufferFree(dropped));
                }
            }
            Err((error, _)) => self.refused(&error),
        }
    }

    fn refused(&mut self, error: &KafkaError) {
        self.dropped += 1;
        if let Some(dropped) = &mut self.full_since {
            *dropped += 1;
            return;
        }
        self.full_since = Some(1);
        self.events.push(match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::QueueFull) => Event::BufferFull,
            _ => Event::OutputFails(self.name(), error.to_string()),
        });
    }

    fn name(&self) -> String {
        format!("Kafka at {}", self.brokers)
    }

    /// Polls delivery reports. Adds one event when deliveries begin to work, and one when they stop.
    fn poll_deliveries(&mut self) {
        self.producer.poll(Duration::ZERO);
        let reports = self.producer.context();
        let delivered = reports.delivered.swap(0, Ordering::Relaxed);
        self.dropped += reports.failed.swap(0, Ordering::Relaxed);
        let error = reports.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        if delivered > 0 && self.works != Some(true) {
            self.works = Some(true);
            self.events.push(Event::OutputReady(self.name()));
        } else if let Some(error) = error
            && delivered == 0
            && self.works != Some(false)
        {
            self.works = Some(false);
            self.events.push(Event::OutputFails(self.name(), error));
        }
    }
}

impl<P: Deref<Target = BaseProducer<DeliveryReports>>> Sink for KafkaSink<P> {
    fn take(&mut self, rows: &TickRows) {
        for (kind, line) in rows.lines() {
            self.send(kind, line);
        }
    }

    fn drain_events(&mut self, events: &mut Vec<Event>) {
        self.poll_deliveries();
        events.append(&mut self.events);
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }

    fn is_over(&self) -> bool {
        false
    }

    fn finish(&mut self, timeout: Duration) {
        // What did not leave in time is counted below.
        let _ = self.producer.flush(timeout);
        self.poll_deliveries();
        self.dropped += self.producer.in_flight_count().max(0) as u64;
    }
}
