//! Adds brokers again that librdkafka removed.
//!
//! librdkafka (2.10 to 2.13 at least, its issue 5301) removes every broker that a metadata answer does not name. A broker
//! that was away until its session ended names none at first, itself included. Then the client has no broker left and sends
//! no more requests.

use rdkafka::bindings::rd_kafka_brokers_add;
use rdkafka::client::{Client, ClientContext};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::ProducerContext;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times after the latest loss of all brokers at which they are added again: those that are there then may forget them once more.
const RETRY_DELAYS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
    Duration::from_secs(20),
    Duration::from_secs(60),
];

/// Whether a client lost all its brokers. Clones share the state.
#[derive(Clone, Debug, Default)]
pub struct Lost(Arc<Mutex<Option<(Instant, usize)>>>);

impl Lost {
    /// Notes an error that librdkafka reports.
    pub fn note_error(&self, error: &KafkaError) {
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown) {
            self.note(Instant::now());
        }
    }

    fn note(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, 0));
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((since, added)) = *lost else { return false };
        let due = RETRY_DELAYS.get(added).is_some_and(|after| now.duration_since(since) >= *after);
        if due {
            *lost = (added + 1 < RETRY_DELAYS.len()).then_some((since, added + 1));
        }
        due
    }

    /// Names `brokers` (host:port) to `client` again if it is time. To be called now and then.
    pub fn add_again<C: ClientContext>(&self, client: &Client<C>, brokers: &[String]) {
        if self.is_due(Instant::now()) {
            add(client, brokers);
        }
    }
}

/// Names `brokers` (host:port) to `client`, whether it knows them or not.
#[expect(unsafe_code, reason = "rdkafka has no safe call for it")]
pub fn add<C: ClientContext>(client: &Client<C>, brokers: &[String]) {
    let Ok(brokers) = CString::new(brokers.join(",")) else { return };
    // SAFETY: the client lives as long as the reference to it, and librdkafka copies the names before it returns.
    let added = unsafe { rd_kafka_brokers_add(client.native_ptr(), brokers.as_ptr()) };
    tracing::debug!(added, "all Kafka brokers lost; re-adding bootstrap brokers");
}

/// The context of a client that logs errors only.
impl ClientContext for Lost {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        super::kafka::log(level, facility, text);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        super::outage::kafka_failed(&error, reason);
        self.note_error(&error);
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
    fn lost_brokers_are_added_again_several_times() {
        let (lost, begun) = (Lost::default(), Instant::now());
        let added = |from: u64| -> Vec<u64> {
            (from..from + 200).filter(|second| lost.is_due(begun + Duration::from_secs(*second))).collect()
        };
        assert_eq!(added(0), [] as [u64; 0]);
        lost.clone().note(begun);
        assert_eq!(added(0), [1, 3, 8, 20, 60]);
        lost.note(begun + Duration::from_secs(200));
        assert_eq!(added(200), [201, 203, 208, 220, 260]);
        lost.note_error(&KafkaError::MessageConsumption(RDKafkaErrorCode::PartitionEOF));
        assert_eq!(added(400), [] as [u64; 0]);
    }
}
