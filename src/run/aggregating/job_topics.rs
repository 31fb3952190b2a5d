//! Which topics hold job events instead of rows: Slurm's, and the one that posted events are written to.

use crate::config::sections::Kafka;
use regex::Regex;

/// Names and regular expressions of topics.
pub(super) struct JobTopics {
    names: Vec<String>,
    patterns: Vec<Regex>,
}

impl JobTopics {
    /// Those of the configuration, which were checked with it.
    pub(super) fn of(kafka: &Kafka) -> JobTopics {
        let names: Vec<String> = kafka.slurm_topics.iter().chain([&kafka.jobs_topic]).cloned().collect();
        let patterns =
            names.iter().filter(|name| name.starts_with('^')).filter_map(|name| Regex::new(name).ok());
        JobTopics { patterns: patterns.collect(), names }
    }

    /// As librdkafka subscribes to them.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether messages of `topic` are job events.
    pub(super) fn has(&self, topic: &str) -> bool {
        self.names.iter().any(|name| name == topic)
            || self.patterns.iter().any(|pattern| pattern.is_match(topic))
    }
}
