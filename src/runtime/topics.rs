//! Tailback's own topics: created at the start where they are missing.

use super::brokers::Lost;
use super::topic_id::{self, TopicId};
use configuration::RunConfig;
use configuration::kafka::{Client, ClientError, ErrorLog, Kafka, Role, remedy};
use configuration::stage::Stage;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication, TopicResult};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::time::{Duration, Instant};

/// Time for which brokers may take to answer one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which a request for metadata is repeated, and librdkafka's errors are read.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Time in which a created topic usually appears in the broker metadata.
const LISTED_WITHIN: Duration = Duration::from_secs(5);

/// Why the topics are not there.
#[derive(Debug, thiserror::Error)]
pub enum TopicsError {
    /// Retry: no broker answers.
    #[error("the Kafka brokers do not answer{reason}: {source}")]
    Unreachable {
        /// What librdkafka logged, in parentheses; may be empty.
        reason: String,
        /// Error of the request.
        source: KafkaError,
    },
    /// Retry: as a broker answers while it starts, or while it has lost its controller.
    #[error("topic {topic} cannot be created yet: {code}")]
    NotCreatedYet {
        /// Its name.
        topic: String,
        /// Answer of the broker.
        code: RDKafkaErrorCode,
    },
    /// Retry: a broker under load lists a new topic late.
    #[error("topic {0} was created but is missing from the broker metadata")]
    NotListedYet(String),
    /// Stop: the credentials are refused.
    #[error("the Kafka brokers do not let Tailback in; {remedy}: {why}")]
    Refused {
        /// Answer of the broker.
        why: String,
        /// What to correct.
        remedy: &'static str,
    },
    /// Stop: the configuration forbids to create them.
    #[error("topics {0} are missing and kafka.create_topics is false: create them")]
    Missing(String),
    /// Stop: the broker rejects the configured values.
    #[error("topic {topic} cannot be created: {code}; correct [kafka] or create it with other tools")]
    Rejected {
        /// Its name.
        topic: String,
        /// Answer of the broker.
        code: RDKafkaErrorCode,
    },
    /// Stop unless a token endpoint does not answer: librdkafka takes no such properties, or there is no token.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl TopicsError {
    /// Whether to try again: nothing has to be corrected.
    pub fn is_retryable(&self) -> bool {
        use TopicsError::{Client, NotCreatedYet, NotListedYet, Unreachable};
        match self {
            Client(error) => error.is_retryable(),
            _ => matches!(self, Unreachable { .. } | NotCreatedYet { .. } | NotListedYet(_)),
        }
    }

    fn unreachable(source: KafkaError) -> TopicsError {
        TopicsError::Unreachable { reason: String::new(), source }
    }
}

/// Creates the topics that are missing if the configuration allows it. Returns the number of partitions of the counters and
/// of the partials.
///
/// # Errors
/// [`TopicsError::is_retryable`] returns whether to call this again.
pub async fn ensure(config: &RunConfig) -> Result<(i32, i32), TopicsError> {
    config.kafka.wait_for_token(REQUEST_TIMEOUT)?;
    reach(config)?;
    let admin: Client<AdminClient<Lost>> = config.kafka.client(Role::Admin, &[], Lost::default())?;
    let kafka = &config.kafka;
    create(&admin, kafka).await?;
    Ok((listed(&admin, &kafka.counters_topic).await?, listed(&admin, &kafka.partials_topic).await?))
}

/// The partitions of a topic, 0 if there is none, and its identity.
///
/// # Errors
/// Brokers that do not answer.
pub fn look_up(config: &RunConfig, topic: &str) -> Result<(i32, TopicId), TopicsError> {
    reach(config)?;
    let admin: Client<AdminClient<Lost>> = config.kafka.client(Role::Admin, &[], Lost::default())?;
    Ok((partitions(&admin, topic)?, topic_id::of(admin.inner(), topic, REQUEST_TIMEOUT)))
}

/// Waits until the brokers answer. It uses a consumer, since an administrator's context gets no errors of librdkafka.
fn reach(config: &RunConfig) -> Result<(), TopicsError> {
    let (errors, begun) = (ErrorLog::default(), Instant::now());
    let role = Role::Consumer(Stage::Aggregator);
    let reader: Client<BaseConsumer<ErrorLog>> = config.kafka.client(role, &[], errors.clone())?;
    while let Err(source) = reader.fetch_metadata(None, RETRY_DELAY) {
        errors.poll(&reader);
        if let Some(why) = errors.refused() {
            return Err(TopicsError::Refused { why, remedy: config.kafka.credentials_remedy() });
        }
        if begun.elapsed() > REQUEST_TIMEOUT {
            let reason = errors.latest().unwrap_or_default();
            let reason = match (reason.as_str(), remedy(&reason)) {
                ("", _) => String::new(),
                (reason, None) => format!(" ({reason})"),
                (reason, Some(remedy)) => format!(" ({reason}; {remedy})"),
            };
            return Err(TopicsError::Unreachable { reason, source });
        }
    }
    Ok(())
}

async fn create(admin: &AdminClient<Lost>, kafka: &Kafka) -> Result<(), TopicsError> {
    let wanted = own_topics(kafka);
    let mut missing = Vec::new();
    for (topic, count, retention_ms) in &wanted {
        if partitions(admin, topic)? == 0 {
            missing.push((topic.as_str(), *count, retention_ms.as_str()));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    if !kafka.create_topics {
        let names: Vec<&str> = missing.iter().map(|(topic, ..)| *topic).collect();
        return Err(TopicsError::Missing(names.join(", ")));
    }
    let size = kafka.message_max_bytes.to_string();
    let new: Vec<NewTopic<'_>> = missing
        .iter()
        .map(|(topic, count, retention_ms)| {
            NewTopic::new(topic, *count, TopicReplication::Fixed(kafka.replication))
                .set("retention.ms", retention_ms)
                .set("max.message.bytes", &size)
        })
        .collect();
    let timeout = Some(REQUEST_TIMEOUT);
    let options = AdminOptions::new().operation_timeout(timeout).request_timeout(timeout);
    let created = admin.create_topics(&new, &options).await.map_err(TopicsError::unreachable)?;
    created.into_iter().try_for_each(check)
}

/// What a broker answers to the creation of one topic.
fn check(created: TopicResult) -> Result<(), TopicsError> {
    use RDKafkaErrorCode as Code;
    match created {
        Ok(topic) => tracing::info!(topic, "topic created"),
        Err((_, Code::TopicAlreadyExists)) => {}
        Err((
            topic,
            code @ (Code::RequestTimedOut
            | Code::OperationTimedOut
            | Code::NotController
            | Code::BrokerNotAvailable
            | Code::LeaderNotAvailable
            | Code::NetworkException
            // Too few brokers: those that are there may be starting, too.
            | Code::InvalidReplicationFactor),
        )) => return Err(TopicsError::NotCreatedYet { topic, code }),
        Err((topic, code)) => return Err(TopicsError::Rejected { topic, code }),
    }
    Ok(())
}

/// Partitions of a topic that was created, once the brokers list it.
async fn listed(admin: &AdminClient<Lost>, topic: &str) -> Result<i32, TopicsError> {
    let begun = Instant::now();
    loop {
        let found = partitions(admin, topic)?;
        if found > 0 {
            return Ok(found);
        }
        if begun.elapsed() > LISTED_WITHIN {
            return Err(TopicsError::NotListedYet(topic.to_string()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Partitions of `topic`; 0 if the brokers list no such topic.
fn partitions(admin: &AdminClient<Lost>, topic: &str) -> Result<i32, TopicsError> {
    let metadata = admin.inner().fetch_metadata(None, REQUEST_TIMEOUT).map_err(TopicsError::unreachable)?;
    let found = metadata.topics().iter().find(|t| t.name() == topic && t.error().is_none());
    Ok(found.map_or(0, |t| t.partitions().len() as i32))
}

/// Tailback's topics, with their partitions and for how many milliseconds they keep messages.
fn own_topics(kafka: &Kafka) -> [(&String, i32, String); 5] {
    let hours = |hours: u32| (u64::from(hours) * 3_600_000).to_string();
    [
        (&kafka.counters_topic, kafka.partitions, hours(kafka.counters_retention_h)),
        (&kafka.partials_topic, kafka.partitions, hours(kafka.partials_retention_h)),
        (&kafka.verdicts_topic, kafka.partitions, hours(kafka.verdicts_retention_h)),
        // Messages about jobs are few, and one partition keeps their order.
        (&kafka.jobs_topic, 1, hours(kafka.jobs_retention_h)),
        (&kafka.progress_topic, 1, hours(kafka.progress_retention_h)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_starting_broker_is_retried_and_a_rejection_is_not() {
        let of = |code| check(Err(("t".to_string(), code))).unwrap_err().is_retryable();
        assert!(of(RDKafkaErrorCode::InvalidReplicationFactor));
        assert!(of(RDKafkaErrorCode::NotController));
        assert!(!of(RDKafkaErrorCode::TopicAuthorizationFailed));
        assert!(!of(RDKafkaErrorCode::InvalidPartitions));
        check(Err(("t".to_string(), RDKafkaErrorCode::TopicAlreadyExists))).unwrap();
        assert!(TopicsError::NotListedYet("t".into()).is_retryable());
        assert!(!TopicsError::Missing("t".into()).is_retryable());
    }
}
