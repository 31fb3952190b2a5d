//! Raw partitions that this aggregator is not assigned: other aggregators read them, or will after the next rebalance.
//!
//! Detectors release a row once every raw partition that they know was read up to its time. A partition that no aggregator
//! has announced holds back no row, and its own rows would arrive too late. So all partitions of the subscription are
//! announced before anything is read of a new assignment.

use super::super::background_query::BackgroundQuery;
use super::super::kafka::Listener;
use super::super::outage;
use super::raw::RawPartition;
use configuration::kafka::TopicNames;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::metadata::MetadataTopic;
use schemas::Time;
use schemas::wire::Reached;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time in which a broker must list its topics.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Wait before a failed request is repeated.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A topic and its number of partitions.
type Listed = Vec<(String, i32)>;

/// The partitions of the subscription, as far as they are known.
pub(super) struct Unassigned {
    subscribed: TopicNames,
    query: BackgroundQuery<Result<Listed, KafkaError>>,
    /// When partitions were assigned last, until the topics were listed after that.
    assigned_at: Option<Instant>,
    retry_at: Option<Instant>,
    /// What is to be announced.
    listed: Listed,
}

impl Unassigned {
    /// Nothing is assigned yet.
    pub(super) fn new(subscribed: TopicNames) -> Unassigned {
        let query = BackgroundQuery::new("topics");
        Unassigned { subscribed, query, assigned_at: None, retry_at: None, listed: Vec::new() }
    }

    /// Partitions were assigned: the topics are listed again.
    pub(super) fn assigned(&mut self) {
        (self.assigned_at, self.retry_at) = (Some(Instant::now()), None);
    }

    /// Whether the topics were listed since the latest assignment.
    pub(super) fn are_known(&self) -> bool {
        self.assigned_at.is_none()
    }

    /// Whether all partitions were announced since the latest assignment: before that nothing is read.
    pub(super) fn are_announced(&self) -> bool {
        self.are_known() && self.listed.is_empty()
    }

    /// Starts or looks at the request; whether the topics are known.
    pub(super) fn look(&mut self, consumer: &Arc<BaseConsumer<Listener>>) -> bool {
        let Some(assigned_at) = self.assigned_at else { return true };
        if let Some(result) = self.query.result() {
            match result.value {
                Ok(topics) if result.started >= assigned_at => {
                    self.listed =
                        topics.into_iter().filter(|(topic, _)| self.subscribed.has(topic)).collect();
                    self.assigned_at = None;
                    return true;
                }
                Ok(_) => {}
                Err(error) => {
                    outage::kafka_failed(&error, &format!("failed to list raw topics: {error}"));
                    self.retry_at = Some(Instant::now() + RETRY_DELAY);
                }
            }
        }
        if !self.query.is_running() && self.retry_at.is_none_or(|at| Instant::now() >= at) {
            let consumer = Arc::clone(consumer);
            self.query.start(move |_| list(&consumer));
        }
        false
    }

    /// The partitions that are not among `raws`, once: nothing of them was read here.
    pub(super) fn take(&mut self, raws: &[RawPartition]) -> Vec<Reached> {
        let own: BTreeSet<(&str, i32)> = raws.iter().map(|raw| (raw.topic.as_str(), raw.partition)).collect();
        let mut unassigned = Vec::new();
        for (topic, partitions) in std::mem::take(&mut self.listed) {
            for partition in (0..partitions).filter(|partition| !own.contains(&(topic.as_str(), *partition)))
            {
                unassigned.push(Reached { topic: topic.clone(), partition, time: Time::MIN });
            }
        }
        unassigned
    }
}

/// All topics of the brokers. One without a leader has its partitions all the same.
fn list(consumer: &BaseConsumer<Listener>) -> Result<Listed, KafkaError> {
    let metadata = consumer.fetch_metadata(None, REQUEST_TIMEOUT)?;
    let partitions = |topic: &MetadataTopic| (topic.name().to_string(), topic.partitions().len() as i32);
    Ok(metadata.topics().iter().map(partitions).collect())
}
