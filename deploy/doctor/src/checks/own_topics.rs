//! Topics that Tailback writes, judged.

use super::leaders::leaders;
use crate::facts::kafka::{KafkaFacts, TopicFacts};
use crate::finding::{Finding, Group, Notes};
use crate::words::{bytes, many, span};
use configuration::RunConfig;
use std::collections::BTreeMap;

/// Topics that Tailback writes.
pub fn check(config: &RunConfig, facts: &KafkaFacts) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Kafka, "own_topics");
    let kafka = &config.kafka;
    let wanted = [
        (&kafka.counters_topic, kafka.counters_retention_h, "kafka.counters_retention_h"),
        (&kafka.partials_topic, kafka.partials_retention_h, "kafka.partials_retention_h"),
        (&kafka.verdicts_topic, kafka.verdicts_retention_h, "kafka.verdicts_retention_h"),
    ];
    for (name, hours, key) in wanted {
        match facts.topic(name) {
            Some(topic) => own_topic(config, facts, topic, (hours, key), &mut notes),
            None if kafka.create_topics => {
                notes.warn(format!("topic {name} does not exist yet"), "start `tailback run`: it makes the topic");
            }
            None => notes.error(
                format!("topic {name} does not exist, and kafka.create_topics is false"),
                format!(
                    "kafka-topics.sh --bootstrap-server {} --create --topic {name} --partitions {} --replication-factor {} \
                     --config retention.ms={} --config max.message.bytes={}",
                    broker(config), kafka.partitions, kafka.replication, milliseconds(hours), kafka.message_max_bytes
                ),
            ),
        }
    }
    notes.done()
}

fn own_topic(
    config: &RunConfig,
    facts: &KafkaFacts,
    topic: &TopicFacts,
    (hours, key): (u32, &str),
    notes: &mut Notes,
) {
    let before = notes.problems();
    let name = &topic.name;
    leaders(topic, notes);
    layout(config, facts, topic, notes);
    let Some(settings) = &topic.settings else {
        notes.unknown(&format!("the brokers do not return the settings of {name} (right DESCRIBE_CONFIGS)"));
        return;
    };
    keeping(config, topic, settings, (hours, key), notes);
    taking(config, topic, settings, notes);
    if notes.problems() == before {
        let keep = number(settings, "retention.ms");
        let kept = keep
            .filter(|ms| *ms >= 0)
            .map_or("for ever".to_string(), |ms| format!("for {}", span(ms as f64 / 1e3)));
        let copies = topic.copies();
        let copies = if copies == 1 { "1 copy".to_string() } else { format!("{copies} copies") };
        notes.ok(format!(
            "topic {name}: {}, {copies}, kept {kept}",
            many(topic.partitions.len(), "partition")
        ));
    }
}

/// Partitions and copies.
fn layout(config: &RunConfig, facts: &KafkaFacts, topic: &TopicFacts, notes: &mut Notes) {
    let name = &topic.name;
    let count = topic.partitions.len() as i32;
    if count < config.kafka.partitions {
        notes.warn(
            format!("topic {name} has {count} partitions, kafka.partitions is {}", config.kafka.partitions),
            "more processes than partitions cannot share the load; adding partitions moves components, so stop all \
             stages first, or set kafka.partitions to what there is",
        );
    }
    let copies = topic.copies();
    if copies == 1 && facts.brokers.len() > 1 {
        notes.warn(
            format!(
                "topic {name} has one copy although there are {} brokers: a lost broker loses rows",
                facts.brokers.len()
            ),
            "kafka-reassign-partitions.sh with 3 replicas each; set kafka.replication = 3 for topics to come",
        );
    }
}

type Settings = BTreeMap<String, String>;

/// For how long messages are kept.
fn keeping(
    config: &RunConfig,
    topic: &TopicFacts,
    settings: &Settings,
    (hours, key): (u32, &str),
    notes: &mut Notes,
) {
    let name = &topic.name;
    let keep = number(settings, "retention.ms");
    if let Some(ms) = keep.filter(|ms| (0..milliseconds(hours)).contains(ms)) {
        let (has, wants) = (span(ms as f64 / 1e3), span(f64::from(hours) * 3_600.0));
        notes.warn(
            format!("topic {name} keeps messages for {has}, {key} is {wants}: a longer outage loses rows"),
            alter(config, name, &format!("retention.ms={}", milliseconds(hours))),
        );
    }
    if let Some(most) = number(settings, "retention.bytes").filter(|most| *most >= 0) {
        notes.warn(
            format!("topic {name} deletes messages above {} a partition, whatever {key} is", bytes(most)),
            alter(config, name, "retention.bytes=-1"),
        );
    }
}

/// Which messages are taken, and what becomes of them.
fn taking(config: &RunConfig, topic: &TopicFacts, settings: &Settings, notes: &mut Notes) {
    let (name, copies) = (&topic.name, topic.copies());
    if let Some(most) =
        number(settings, "max.message.bytes").filter(|most| *most < i64::from(config.kafka.message_max_bytes))
    {
        let wants = config.kafka.message_max_bytes;
        notes.error(
            format!("topic {name} refuses messages above {most} bytes, kafka.message_max_bytes is {wants}"),
            alter(config, name, &format!("max.message.bytes={wants}")),
        );
    }
    if let Some(policy) = settings.get("cleanup.policy").filter(|policy| policy.contains("compact")) {
        notes.error(
            format!("topic {name} has cleanup.policy={policy}: older rows of a component are thrown away"),
            alter(config, name, "cleanup.policy=delete"),
        );
    }
    if let Some(least) = number(settings, "min.insync.replicas").filter(|least| *least > copies as i64) {
        notes.error(
            format!(
                "topic {name} wants {least} copies of each message and has {copies}: nothing can be written"
            ),
            alter(config, name, &format!("min.insync.replicas={copies}")),
        );
    }
}

fn number(settings: &Settings, name: &str) -> Option<i64> {
    settings.get(name)?.parse().ok()
}

/// The command that changes a setting of a topic.
fn alter(config: &RunConfig, topic: &str, setting: &str) -> String {
    format!(
        "kafka-configs.sh --bootstrap-server {} --alter --entity-type topics --entity-name {topic} --add-config {setting}",
        broker(config)
    )
}

fn broker(config: &RunConfig) -> &str {
    config.kafka.brokers.first().map_or("<broker>", String::as_str)
}

fn milliseconds(hours: u32) -> i64 {
    i64::from(hours) * 3_600_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::kafka::PartitionFacts;
    use crate::finding::Level;

    fn topic(name: &str, settings: &[(&str, &str)]) -> TopicFacts {
        let partition =
            |number| PartitionFacts { number, led: true, replicas: 1, in_sync: 1, low: 0, high: 10 };
        TopicFacts {
            name: name.into(),
            partitions: (0..12).map(partition).collect(),
            settings: Some(settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()),
        }
    }

    fn facts(topics: Vec<TopicFacts>, brokers: usize) -> KafkaFacts {
        let brokers = (0..brokers).map(|i| (i as i32, format!("k{i}:9092"))).collect();
        KafkaFacts { topics, brokers, ..KafkaFacts::default() }
    }

    fn config() -> RunConfig {
        RunConfig::load(None).unwrap()
    }

    #[test]
    fn settings_that_lose_rows_are_found_with_the_command_to_mend() {
        let counters = topic(
            "tailback.counters",
            &[("retention.ms", "3600000"), ("cleanup.policy", "compact"), ("max.message.bytes", "1000")],
        );
        let found = check(&config(), &facts(vec![counters], 3));
        let levels: Vec<Level> = found.iter().map(|finding| finding.level).collect();
        assert_eq!(
            levels,
            [Level::Warn, Level::Warn, Level::Error, Level::Error, Level::Warn, Level::Warn],
            "{found:#?}"
        );
        assert!(found[1].mend.ends_with("--add-config retention.ms=86400000"), "{found:#?}");
    }

    #[test]
    fn a_topic_as_it_should_be_is_one_line() {
        let names = ["tailback.counters", "tailback.partials", "tailback.verdicts"];
        let topics = names.map(|name| topic(name, &[("retention.ms", "604800000")]));
        let found = check(&config(), &facts(topics.to_vec(), 1));
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].what, "topic tailback.counters: 12 partitions, 1 copy, kept for 7 days");
    }
}
