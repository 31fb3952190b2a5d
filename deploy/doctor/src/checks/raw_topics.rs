//! Topics with rows of LDMS, judged.

use super::leaders::leaders;
use crate::facts::kafka::{KafkaFacts, TopicFacts, own_topics};
use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many};
use configuration::RunConfig;

/// Topics with rows of LDMS.
pub fn check(config: &RunConfig, facts: &KafkaFacts) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Kafka, "raw_topics");
    let own = own_topics(config);
    // Jobs may report no progress, and ldmsd does not publish it.
    let of_ldmsd = |topic: &&TopicFacts| topic.name != config.kafka.progress_topic;
    let topics: Vec<&TopicFacts> = facts.raw(&own).filter(of_ldmsd).collect();
    for name in config.kafka.raw_topics.iter().filter(|name| !name.starts_with('^')) {
        if facts.topic(name).is_none() {
            notes.error(
                format!("raw topic {name} does not exist"),
                "correct kafka.raw_topics, or let ldmsd publish it",
            );
        }
    }
    let patterns = config.kafka.raw_topics.join(", ");
    if topics.is_empty() {
        notes.error(
            format!("no topic matches kafka.raw_topics ({patterns})"),
            "correct kafka.raw_topics, or let ldmsd publish: plugin store_kafka or store_avro_kafka",
        );
        return notes.done();
    }
    filled(&topics, &patterns, &mut notes);
    topics.iter().for_each(|topic| leaders(topic, &mut notes));
    notes.done()
}

/// Which topics have rows, and which are empty.
fn filled(topics: &[&TopicFacts], patterns: &str, notes: &mut Notes) {
    let (full, empty): (Vec<&TopicFacts>, Vec<&TopicFacts>) =
        topics.iter().partition(|topic| topic.messages() > 0);
    if full.is_empty() {
        notes.error(
            format!("{} match {patterns}, and all are empty", many(topics.len(), "raw topic")),
            "look at the log of ldmsd's store; rows older than the topic's retention.ms are deleted",
        );
        return;
    }
    let named = |topic: &&TopicFacts| {
        let messages = many(topic.messages() as usize, "message");
        format!("{} ({messages} in {})", topic.name, many(topic.partitions.len(), "partition"))
    };
    notes.ok(format!("{} with rows: {}", many(full.len(), "raw topic"), few(full.iter().map(named), 8)));
    if !empty.is_empty() {
        notes.warn(
            format!("empty raw topics: {}", few(empty.iter().map(|topic| &topic.name), 8)),
            "delete them if nothing publishes there any more",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::kafka::PartitionFacts;
    use crate::finding::Level;

    fn topic(name: &str) -> TopicFacts {
        let partition =
            |number| PartitionFacts { number, led: true, replicas: 1, in_sync: 1, low: 0, high: 10 };
        TopicFacts { name: name.into(), partitions: (0..12).map(partition).collect(), settings: None }
    }

    fn facts(topics: Vec<TopicFacts>) -> KafkaFacts {
        KafkaFacts { topics, ..KafkaFacts::default() }
    }

    fn config() -> RunConfig {
        RunConfig::load(None).unwrap()
    }

    #[test]
    fn raw_topics_must_be_there_and_hold_rows() {
        assert_eq!(check(&config(), &facts(vec![]))[0].level, Level::Error);
        assert_eq!(check(&config(), &facts(vec![topic("ldms.tailback_progress")]))[0].level, Level::Error);
        let mut empty = topic("ldms.old");
        empty.partitions.iter_mut().for_each(|partition| partition.high = 0);
        let found = check(&config(), &facts(vec![topic("ldms.x"), empty]));
        assert_eq!(found[0].what, "1 raw topic with rows: ldms.x (120 messages in 12 partitions)");
        assert_eq!(found[1].what, "empty raw topics: ldms.old");
    }

    #[test]
    fn a_partition_without_leader_is_an_error() {
        let mut x = topic("ldms.x");
        x.partitions[3].led = false;
        assert!(check(&config(), &facts(vec![x])).iter().any(|finding| finding.level == Level::Error));
    }
}
