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

/// The address in an error of librdkafka, where a broker answered and named it: only then its number stands behind it,
/// `kafka-0.example:9092/1: …`.
pub fn advertised(error: &str) -> Option<&str> {
    let (broker, _) = error.split_once(": ")?;
    let (address, number) = broker.rsplit_once('/')?;
    let address = address.rsplit_once("://").map_or(address, |(_, address)| address);
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let port = address.rsplit_once(':')?.1;
    (is_number && port.parse::<u16>().is_ok()).then_some(address)
}

/// Whether an error is the one with which a client reports that its token could not be renewed.
fn is_token_missing(error: &str) -> bool {
    error.starts_with("Failed to acquire SASL OAUTHBEARER token")
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
            Some(RDKafkaErrorCode::Authentication) if !is_token_missing(reason) => {
                self.errors().refused = Some(reason.to_string())
            }
            _ => {}
        }
        self.errors().latest = Some(reason.to_string());
    }
}

impl ConsumerContext for ErrorLog {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_that_a_broker_names_has_its_number() {
        for (error, address) in [
            (
                "kafka-0.kafka.svc:25092/1: Failed to resolve 'kafka-0.kafka.svc:25092'",
                Some("kafka-0.kafka.svc:25092"),
            ),
            ("sasl_ssl://10.0.0.7:9094/12: Connect to ipv4#10.0.0.7:9094 failed", Some("10.0.0.7:9094")),
            ("127.0.0.1:9092/bootstrap: Connect to ipv4#127.0.0.1:9092 failed: Connection refused", None),
            ("GroupCoordinator: 127.0.0.1:9092: Disconnected", None),
            ("1/1 brokers are down", None),
        ] {
            assert_eq!(advertised(error), address, "{error}");
        }
    }
}
