//! Whether the topic that a stage reads is still the one that it began to read.

use super::background_query::{BackgroundQuery, QueryResult};
use super::topic_id::{self, TopicId};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two requests for the identity.
const INTERVAL: Duration = Duration::from_secs(5);
/// Time for which brokers may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Identity of the topic at the claim of its partitions; the rebalance callback writes it.
#[derive(Clone, Debug, Default)]
pub struct ClaimedId(Arc<Mutex<Option<String>>>);

impl ClaimedId {
    /// Requests the identity as it is now. The first one is kept, for [`InputTopic`] to compare with.
    pub fn request<C: ConsumerContext>(&self, consumer: &BaseConsumer<C>, topic: &str) -> Option<String> {
        let now = topic_id::of(consumer.client(), topic, REQUEST_TIMEOUT).known();
        let mut claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *claimed = claimed.take().or_else(|| now.clone());
        now
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Compares the identity now with the claimed one, in the background.
#[derive(Debug)]
pub struct InputTopic {
    topic: String,
    claimed: ClaimedId,
    query: BackgroundQuery<TopicId>,
    due: Instant,
}

impl InputTopic {
    /// Nothing was requested yet.
    pub fn new(topic: &str, claimed: ClaimedId) -> InputTopic {
        let due = Instant::now() + INTERVAL;
        InputTopic { topic: topic.to_string(), claimed, query: BackgroundQuery::new("topic"), due }
    }

    /// The next request goes out at once: a message came from where none can come.
    pub fn doubt(&mut self) {
        self.due = self.due.min(Instant::now());
    }

    /// Whether the identity is known, so that a topic that was created again will be noticed.
    pub fn is_identified(&self) -> bool {
        self.claimed.get().is_some()
    }

    /// Whether the topic was deleted or created again since its partitions were claimed.
    pub fn was_replaced<C: ConsumerContext + 'static>(&mut self, consumer: &Arc<BaseConsumer<C>>) -> bool {
        if let Some(QueryResult { value, .. }) = self.query.result() {
            return match (value, self.claimed.get()) {
                (TopicId::Known(now), Some(claimed)) => now != claimed,
                (TopicId::Missing, Some(_)) => true,
                _ => false,
            };
        }
        if !self.query.is_running() && Instant::now() >= self.due {
            self.due = Instant::now() + INTERVAL;
            let (consumer, topic) = (Arc::clone(consumer), self.topic.clone());
            self.query.start(move |_| topic_id::of(consumer.client(), &topic, REQUEST_TIMEOUT));
        }
        false
    }
}
