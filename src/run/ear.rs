//! What librdkafka complains about, remembered instead of printed: why brokers do not answer.

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A consumer's ear.
#[derive(Clone, Debug, Default)]
pub struct Ear(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    complaint: Option<String>,
    refusal: Option<String>,
}

impl Ear {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears what waits in the consumer's queue, where complaints stay until somebody asks for messages.
    pub fn listen(&self, reader: &BaseConsumer<Ear>) {
        for _ in 0..10 {
            drop(reader.poll(Duration::from_millis(5)));
        }
    }

    /// The latest complaint.
    pub fn complaint(&self) -> Option<String> {
        self.heard().complaint.clone()
    }

    /// That a broker did not take user and password, in librdkafka's words.
    pub fn refusal(&self) -> Option<String> {
        self.heard().refusal.clone()
    }
}

impl ClientContext for Ear {
    fn log(&self, level: RDKafkaLogLevel, _: &str, text: &str) {
        let serious =
            !matches!(level, RDKafkaLogLevel::Info | RDKafkaLogLevel::Debug | RDKafkaLogLevel::Notice);
        if serious {
            // `[thrd:127.0.0.1:9092/bootstrap]: ` in front is of no use to a person.
            let text = text.split_once("]: ").map_or(text, |(_, rest)| rest);
            self.heard().complaint = Some(text.to_string());
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::AllBrokersDown) => return,
            Some(RDKafkaErrorCode::Authentication) => self.heard().refusal = Some(reason.to_string()),
            _ => {}
        }
        self.heard().complaint = Some(reason.to_string());
    }
}

impl ConsumerContext for Ear {}
