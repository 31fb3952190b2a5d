//! What the log has of lasting failures: outages of this process, and errors of Kafka's clients.

use super::housekeeping;
use super::stop::Control;
use configuration::kafka::TokenError;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::collections::VecDeque;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
pub use store::outage::DATABASE;
use store::outage::{LINE_EVERY, Outage};

/// Texts that are remembered to be logged once a minute.
const TEXTS_MAX: usize = 64;
/// Time between two looks at what lasts.
const LOOK: Duration = Duration::from_secs(5);

/// Connections to the brokers. One broker of several may be away while others answer: its clients try again within a second.
pub static KAFKA: Outage = Outage::new("Kafka: connection").quiet_for(Duration::from_secs(5));
/// Requests to the token endpoint of Kafka's brokers.
pub static TOKENS: Outage = Outage::new("token endpoint: connection");
/// Requests of Avro schemas.
pub static SCHEMA_REGISTRY: Outage = Outage::new("schema registry").quiet_for(Duration::from_secs(5));

/// Writes the line of each minute of what lasts, until the process stops.
pub async fn watch(control: Control) {
    let lasting = [&KAFKA, &TOKENS, &DATABASE, &SCHEMA_REGISTRY].into_iter().chain(housekeeping::OUTAGES);
    let lasting: Vec<&Outage> = lasting.collect();
    while control.waited(LOOK).await {
        lasting.iter().for_each(|outage| outage.look());
    }
}

/// Texts of the last minute.
#[derive(Debug)]
struct Repeats(Mutex<VecDeque<(u64, Instant)>>);

static REPEATS: Repeats = Repeats(Mutex::new(VecDeque::new()));

impl Repeats {
    /// Whether the text is not one of the last minute.
    fn is_due(&self, text: &str, now: Instant) -> bool {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(text);
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|(_, at)| now.duration_since(*at) < LINE_EVERY);
        let is_due = texts.iter().all(|(known, _)| *known != hash);
        if is_due {
            texts.truncate(TEXTS_MAX - 1);
            texts.push_front((hash, now));
        }
        is_due
    }
}

/// Whether a line about the same was not written in the last minute. `text` names what the line is about.
pub fn is_line_due(text: &str) -> bool {
    REPEATS.is_due(text, Instant::now())
}

/// Notes what became of a request for a token.
pub fn token_requested(outcome: Result<(), &TokenError>) {
    match outcome {
        Ok(()) => TOKENS.works(),
        Err(error) => TOKENS.failed(&error.to_string()),
    }
}

/// Logs an error that a client of Kafka reports: as an outage if a connection failed, else once a minute.
pub fn kafka_failed(error: &KafkaError, why: &str) {
    if TOKENS.is_open() && error.rdkafka_error_code() == Some(RDKafkaErrorCode::Authentication) {
        // Each client reports that its token could not be renewed: the outage has the reason.
    } else if is_connection(error) {
        KAFKA.failed(why);
    } else if is_line_due(why) {
        match error.rdkafka_error_code() {
            // Topics of other programs appear when those first write.
            Some(RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) => {
                tracing::info!(%error, "Kafka: {why}");
            }
            _ => tracing::warn!(%error, "Kafka: {why}"),
        }
    }
}

/// Whether an error comes from the way to the brokers, or from a cluster that is not ready.
fn is_connection(error: &KafkaError) -> bool {
    use RDKafkaErrorCode as Code;
    let code = error.rdkafka_error_code();
    code.is_some_and(|code| {
        matches!(
            code,
            Code::AllBrokersDown
                | Code::Authentication
                | Code::BrokerTransportFailure
                | Code::BrokerNotAvailable
                | Code::Resolve
                | Code::NetworkException
                | Code::OperationTimedOut
                | Code::RequestTimedOut
                | Code::MessageTimedOut
                | Code::TimedOutQueue
                | Code::WaitingForCoordinator
                | Code::LeaderNotAvailable
                | Code::NotLeaderForPartition
                | Code::CoordinatorNotAvailable
                | Code::CoordinatorLoadInProgress
                | Code::NotCoordinator
                | Code::NotEnoughReplicas
                | Code::NotEnoughReplicasAfterAppend
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_logged_once_a_minute() {
        let (repeats, begun) = (Repeats(Mutex::new(VecDeque::new())), Instant::now());
        let due = |text: &str, second: u64| repeats.is_due(text, begun + Duration::from_secs(second));
        let seen = [due("a", 0), due("a", 1), due("b", 2), due("a", 59), due("a", 60), due("a", 61)];
        assert_eq!(seen, [true, false, true, false, true, false]);
        assert!((0..200).all(|number| due(&number.to_string(), 62)));
        assert_eq!(repeats.0.lock().unwrap().len(), TEXTS_MAX);
    }
}
