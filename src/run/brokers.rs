//! Brokers that librdkafka forgot are named to it again.
//!
//! librdkafka (2.10 to 2.13 at least, its issue 5301) lets go of every broker that an answer does not name. One that was away
//! for so long that its session ended names none at first, itself included: a client is left without any broker, and then it
//! asks nobody any more, for ever.

use rdkafka::bindings::rd_kafka_brokers_add;
use rdkafka::client::{Client, ClientContext};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::ProducerContext;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times after the latest loss of all brokers at which they are named again: those that are there then may forget them once more.
const AGAIN: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
    Duration::from_secs(20),
    Duration::from_secs(60),
];

/// Whether a client lost all its brokers. A clone hears of the same client.
#[derive(Clone, Debug, Default)]
pub struct Lost(Arc<Mutex<Option<(Instant, usize)>>>);

impl Lost {
    /// Hears what librdkafka says is wrong.
    pub fn hear(&self, error: &KafkaError) {
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown) {
            self.note(Instant::now());
        }
    }

    fn note(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, 0));
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((since, named)) = *lost else { return false };
        let due = AGAIN.get(named).is_some_and(|after| now.duration_since(since) >= *after);
        if due {
            *lost = (named + 1 < AGAIN.len()).then_some((since, named + 1));
        }
        due
    }

    /// Names `brokers` (host:port) to `client` again if it is time. To be called now and then.
    pub fn name_again<C: ClientContext>(&self, client: &Client<C>, brokers: &[String]) {
        if self.is_due(Instant::now()) {
            name(client, brokers);
        }
    }
}

/// Names `brokers` (host:port) to `client`, whether it knows them or not.
#[expect(unsafe_code, reason = "rdkafka has no safe call for it")]
pub fn name<C: ClientContext>(client: &Client<C>, brokers: &[String]) {
    let Ok(brokers) = CString::new(brokers.join(",")) else { return };
    // SAFETY: the client lives as long as the reference to it, and librdkafka copies the names before it returns.
    let named = unsafe { rd_kafka_brokers_add(client.native_ptr(), brokers.as_ptr()) };
    tracing::info!(named, "Kafka's brokers were all lost; they are named again");
}

/// The ear of a client that has nothing else to hear.
impl ClientContext for Lost {
    fn log(&self, level: RDKafkaLogLevel, _: &str, text: &str) {
        super::kafka::log(level, text);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::warn!(%error, "Kafka: {reason}");
        self.hear(&error);
    }
}

impl ProducerContext for Lost {
    type DeliveryOpaque = ();

    fn delivery(&self, _: &DeliveryResult<'_>, (): ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_are_named_again_some_times_after_each_loss() {
        let (lost, begun) = (Lost::default(), Instant::now());
        let named = |from: u64| -> Vec<u64> {
            (from..from + 200).filter(|second| lost.is_due(begun + Duration::from_secs(*second))).collect()
        };
        assert_eq!(named(0), [] as [u64; 0]);
        lost.clone().note(begun);
        assert_eq!(named(0), [1, 3, 8, 20, 60]);
        lost.note(begun + Duration::from_secs(200));
        assert_eq!(named(200), [201, 203, 208, 220, 260]);
        lost.hear(&KafkaError::MessageConsumption(RDKafkaErrorCode::PartitionEOF));
        assert_eq!(named(400), [] as [u64; 0]);
    }
}
