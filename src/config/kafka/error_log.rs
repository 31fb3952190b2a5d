//! Keeps the latest errors of librdkafka: why brokers do not answer.

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Latest errors of a client: the context of consumers and administrators.
#[derive(Clone, Debug, Default)]
pub struct ErrorLog(Arc<Mutex<Errors>>);

#[derive(Debug, Default)]
struct Errors {
    latest: Option<String>,
    refused: Option<String>,
}

impl ErrorLog {
    fn errors(&self) -> MutexGuard<'_, Errors> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls the consumer's queue, where errors stay until it is polled.
    pub fn poll(&self, reader: &BaseConsumer<ErrorLog>) {
        for _ in 0..10 {
            drop(reader.poll(Duration::from_millis(5)));
        }
    }

    /// The latest error.
    pub fn latest(&self) -> Option<String> {
        self.errors().latest.clone()
    }

    /// That a broker did not take user and password, in librdkafka's words.
    pub fn refused(&self) -> Option<String> {
        self.errors().refused.clone()
    }
}

impl ClientContext for ErrorLog {
    fn log(&self, level: RDKafkaLogLevel, _: &str, text: &str) {
        let serious =
            !matches!(level, RDKafkaLogLevel::Info | RDKafkaLogLevel::Debug | RDKafkaLogLevel::Notice);
        if serious {
            // `[thrd:127.0.0.1:9092/bootstrap]: ` in front is of no use to a person.
            let text = text.split_once("]: ").map_or(text, |(_, rest)| rest);
            self.errors().latest = Some(text.to_string());
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::AllBrokersDown) => return,
            Some(RDKafkaErrorCode::Authentication) => self.errors().refused = Some(reason.to_string()),
            _ => {}
        }
        self.errors().latest = Some(reason.to_string());
    }
}

impl ConsumerContext for ErrorLog {}
