//! Messages to Kafka that are waited for.

use super::Answer;
use crate::runtime::kafka as runtime_kafka;
use crate::runtime::producer::{Awaited, Polled};
use axum::http::StatusCode;
use configuration::kafka::{Kafka, Role};
use rdkafka::producer::{BaseRecord, Producer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Milliseconds for which the brokers may take to have a message.
const DELIVERY_MS: u64 = 3_000;

/// Milliseconds for which a message waits for others: thousands of jobs that report fill few requests to the brokers, and each of them
/// gets its answer well within the 40 ms that the clients wait.
const LINGER_MS: &str = "5";

/// One producer for all that is posted.
pub(super) struct Writer {
    producer: Polled<Awaited>,
    brokers: Arc<[String]>,
    ready: AtomicBool,
}

impl Writer {
    /// A writer that writes nothing until [`Writer::open`].
    ///
    /// # Errors
    /// Invalid properties of librdkafka, or no thread.
    pub fn new(kafka: &Kafka) -> anyhow::Result<Writer> {
        let timeout = DELIVERY_MS.to_string();
        let own = [
            ("delivery.timeout.ms", timeout.as_str()),
            ("linger.ms", LINGER_MS),
            runtime_kafka::ONE_BY_ONE,
            runtime_kafka::NO_AUTO_CREATION,
        ];
        let producer = Polled::new(kafka.client(Role::Producer, &own, Awaited::default())?)?;
        Ok(Writer { producer, brokers: kafka.brokers.as_slice().into(), ready: AtomicBool::new(false) })
    }

    /// The topics are there.
    pub fn open(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Writes messages, a key and a payload each, and waits until the brokers have them.
    ///
    /// # Errors
    /// 503, with the reason.
    pub async fn write(&self, topic: &str, messages: &[(&str, Vec<u8>)]) -> Result<(), Answer> {
        let unavailable = |error: String| {
            (StatusCode::SERVICE_UNAVAILABLE, format!("Kafka did not accept what was posted: {error}\n"))
        };
        if !self.ready.load(Ordering::Relaxed) {
            return Err(unavailable(format!("topic {topic} does not exist yet")));
        }
        self.producer.context().0.add_again(self.producer.client(), &self.brokers);
        let sent = messages.iter().map(|(key, payload)| {
            let record =
                |waiting| BaseRecord::with_opaque_to(topic, waiting).key(*key).payload(payload.as_slice());
            self.producer.deliver(record, Duration::ZERO)
        });
        for delivery in futures::future::join_all(sent).await {
            delivery.map_err(|error| unavailable(error.to_string()))?;
        }
        Ok(())
    }
}
