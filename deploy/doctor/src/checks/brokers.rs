//! Brokers, judged.

use crate::facts::kafka::KafkaFacts;
use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many, span};
use configuration::kafka::{advertised, remedy};
use std::time::Duration;

/// Brokers: how many, where, and whether their advertised addresses can be reached from here.
pub fn answering(facts: &KafkaFacts, unreachable: &[(String, String)]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Kafka, "brokers");
    let addresses: Vec<&str> = facts.brokers.iter().map(|(_, address)| address.as_str()).collect();
    let verb = if addresses.len() == 1 { "answers" } else { "answer" };
    let cluster = facts.cluster.as_deref().map_or(String::new(), |id| format!(", cluster {id}"));
    notes.ok(format!("{} {verb} ({}){cluster}", many(addresses.len(), "broker"), few(&addresses, 5)));
    for (address, why) in unreachable {
        notes.error(
            format!("broker {address}, as the brokers call it, cannot be reached from here: {why}"),
            "start that broker; if it runs, correct `advertised.listeners` in its server.properties, or the name service here",
        );
    }
    notes.done()
}

/// What to do where brokers name an address that cannot be reached.
const ADVERTISED: &str =
    "correct `advertised.listeners` in the broker's server.properties, or the name service here";

/// What to do about an error of librdkafka.
fn remedy_of(why: &str) -> &'static str {
    if why.contains("Failed to resolve") {
        "correct the host names in kafka.brokers, or the name service here"
    } else if let Some(remedy) = remedy(why) {
        remedy
    } else if ["Disconnected", "closed by peer"].iter().any(|word| why.contains(word)) {
        "correct security.protocol in [kafka.librdkafka], or the port in kafka.brokers: the listener may want TLS or a password, or none"
    } else {
        "start the broker, or correct kafka.brokers"
    }
}

/// What it means that no broker answers at `brokers` within `timeout`.
pub fn silent(brokers: &[String], timeout: Duration, why: &str) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Kafka, "brokers");
    let (list, within) = (brokers.join(", "), span(timeout.as_secs_f64()));
    if let Some((why, remedy)) = why.split_once("; ").filter(|_| why.starts_with("the token endpoint")) {
        notes.error(why, remedy);
        notes.unknown("brokers and topics, since they demand a token");
        return notes.done();
    }
    match advertised(why).filter(|named| !brokers.iter().any(|broker| broker == named)) {
        Some(named) => notes.error(
            format!("a broker answers at {list}, but calls itself {named}, which cannot be reached from here: {why}"),
            ADVERTISED,
        ),
        None => notes.error(format!("no broker answers at {list} within {within}: {why}"), remedy_of(why)),
    }
    notes.unknown("topics, since the broker does not answer");
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_fits_the_reason_why_no_broker_answers() {
        let brokers = ["127.0.0.1:9092".to_string()];
        for (why, mend) in [
            (
                "127.0.0.1:9092/bootstrap: Connect to ipv4#127.0.0.1:9092 failed: Connection refused",
                "start the broker",
            ),
            (
                "kafka/bootstrap: Failed to resolve 'kafka:9092': Name or service not known",
                "host names in kafka.brokers",
            ),
            ("kafka-0.svc:9092/1: Failed to resolve 'kafka-0.svc:9092'", "advertised.listeners"),
            (
                "127.0.0.1:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused",
                "start the broker",
            ),
            ("x: SSL handshake failed: certificate verify failed: broker certificate", "ssl.ca.location"),
            ("x: SSL handshake failed: tlsv13 alert certificate required", "ssl.certificate.location"),
            (
                "x: SASL authentication error: Authentication failed during authentication",
                "sasl_password_file",
            ),
            ("x: SSL handshake failed: wrong version number", "security.protocol"),
        ] {
            let found = silent(&brokers, Duration::from_secs(5), why);
            let error = found.iter().find(|finding| !finding.mend.is_empty()).unwrap();
            assert!(error.mend.contains(mend), "{why}: {error:?}");
        }
    }
}
