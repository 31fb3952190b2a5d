//! Leaders and copies of a topic's partitions, judged.

use crate::facts::kafka::TopicFacts;
use crate::finding::Notes;
use crate::words::many;

/// Partitions without a leader, or whose copies lag.
pub(super) fn leaders(topic: &TopicFacts, notes: &mut Notes) {
    let dead = topic.partitions.iter().filter(|partition| !partition.led).count();
    if dead > 0 {
        notes.error(
            format!(
                "topic {}: {} without a leader, nothing can be read or written there",
                topic.name,
                many(dead, "partition")
            ),
            "start the brokers that hold them: kafka-topics.sh --describe --unavailable-partitions",
        );
    }
    let behind = topic.partitions.iter().filter(|p| p.led && p.in_sync < p.replicas).count();
    if behind > 0 {
        notes.warn(
            format!(
                "topic {}: {} with copies that are not up to date",
                topic.name,
                many(behind, "partition")
            ),
            "look at the brokers: kafka-topics.sh --describe --under-replicated-partitions",
        );
    }
}
