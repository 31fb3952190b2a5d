//! Brokers, judged.

use crate::facts::kafka::KafkaFacts;
use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many, span};
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

/// What it means that no broker answers at `brokers` within `timeout`.
pub fn silent(brokers: &[String], timeout: Duration, why: &str) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Kafka, "brokers");
    let (brokers, within) = (brokers.join(", "), span(timeout.as_secs_f64()));
    notes.error(
        format!("no broker answers at {brokers} within {within}: {why}"),
        "start the broker, or correct kafka.brokers; with TLS or SASL see [kafka.librdkafka]",
    );
    notes.unknown("topics, since the broker does not answer");
    notes.done()
}
