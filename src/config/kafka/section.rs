//! The section as a type. What a key means, its unit and its range stand in `default.toml`.

#![allow(missing_docs, reason = "default.toml documents every key; a copy here would drift")]

use super::{Properties, TopicNames};
use schemas::secret::Redacted;
use serde::Deserialize;
use std::path::PathBuf;

/// `[kafka]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kafka {
    pub brokers: Vec<String>,
    pub client_id: String,
    pub raw_topics: Vec<String>,
    pub slurm_topics: Vec<String>,
    pub home_cluster: String,
    pub group: String,
    pub counters_topic: String,
    pub jobs_topic: String,
    pub progress_topic: String,
    pub partials_topic: String,
    pub verdicts_topic: String,
    pub create_topics: bool,
    pub partitions: i32,
    pub replication: i32,
    pub counters_retention_h: u32,
    pub jobs_retention_h: u32,
    pub progress_retention_h: u32,
    pub partials_retention_h: u32,
    pub verdicts_retention_h: u32,
    pub message_max_bytes: u32,
    pub sasl_password_file: PathBuf,
    pub sasl_oauthbearer_client_secret_file: PathBuf,
    pub ssl_key_password_file: PathBuf,
    pub message_key_file: PathBuf,
    #[serde(default)]
    pub librdkafka: Properties,
    #[serde(default)]
    pub consumer: Properties,
    #[serde(default)]
    pub producer: Properties,
    /// Content of `sasl_password_file`.
    #[serde(skip)]
    pub sasl_password: Option<Redacted>,
    /// Content of `sasl_oauthbearer_client_secret_file`.
    #[serde(skip)]
    pub sasl_oauthbearer_client_secret: Option<Redacted>,
    /// Content of `ssl_key_password_file`.
    #[serde(skip)]
    pub ssl_key_password: Option<Redacted>,
    /// Content of `message_key_file`.
    #[serde(skip)]
    pub message_key: Option<Redacted>,
}

impl Kafka {
    /// Topics with rows: `raw_topics`, and `progress_topic` unless they have it. One that a name and a pattern have would be read twice.
    pub fn row_topics(&self) -> Vec<String> {
        let mut topics = self.raw_topics.clone();
        if !TopicNames::of(&topics).has(&self.progress_topic) {
            topics.push(self.progress_topic.clone());
        }
        topics
    }
}

#[cfg(test)]
mod tests {
    use crate::RunConfig;

    #[test]
    fn progress_is_read_once_whatever_the_raw_topics_are() {
        let mut kafka = RunConfig::load(None).unwrap().kafka;
        assert_eq!(kafka.row_topics(), ["^ldms\\..*"]);
        kafka.progress_topic = "progress".to_string();
        assert_eq!(kafka.row_topics(), ["^ldms\\..*", "progress"]);
        kafka.raw_topics = vec!["progress".to_string()];
        assert_eq!(kafka.row_topics(), ["progress"]);
    }
}
