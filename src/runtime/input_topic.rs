//! Whether the topic that a stage reads is still the one that it began to read.

use super::background_query::{BackgroundQuery, QueryResult};
use super::outage;
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
    /// Requests the identity as it is now; `None` if no broker answers in time.
    pub fn request<C: ConsumerContext>(consumer: &BaseConsumer<C>, topic: &str) -> Option<String> {
        topic_id::of(consumer.client(), topic, REQUEST_TIMEOUT).known()
    }

    /// Notes the identity to compare later ones with: the first one stays.
    pub fn claimed(&self, id: Option<String>) {
        let mut claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *claimed = claimed.take().or(id);
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
            return self.differs(value);
        }
        // Without a broker librdkafka looks for one in a loop without a pause, for as long as the request lasts.
        let is_due = Instant::now() >= self.due && !outage::KAFKA.is_open();
        if !self.query.is_running() && is_due {
            self.due = Instant::now() + INTERVAL;
            let (consumer, topic) = (Arc::clone(consumer), self.topic.clone());
            self.query.start(move |_| topic_id::of(consumer.client(), &topic, REQUEST_TIMEOUT));
        }
        false
    }

    fn differs(&self, now: TopicId) -> bool {
        match (now, self.claimed.get()) {
            (TopicId::Known(now), Some(claimed)) => now != claimed,
            (TopicId::Missing, Some(_)) => true,
            (TopicId::Known(now), None) => {
                // No broker answered at the claim, nor at any earlier one.
                self.claimed.claimed(Some(now));
                false
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &str) -> TopicId {
        TopicId::Known(id.to_string())
    }

    #[test]
    fn identity_of_the_claim_is_compared() {
        let claimed = ClaimedId::default();
        claimed.claimed(Some("a".to_string()));
        claimed.claimed(Some("b".to_string()));
        let input = InputTopic::new("t", claimed);
        assert!(!input.differs(known("a")));
        assert!(!input.differs(TopicId::Unknown));
        assert!(input.differs(known("b")));
        assert!(input.differs(TopicId::Missing));
    }

    #[test]
    fn first_identity_after_a_claim_without_one_is_compared() {
        let input = InputTopic::new("t", ClaimedId::default());
        assert!(!input.differs(TopicId::Missing));
        assert!(!input.differs(known("a")));
        assert!(input.differs(known("b")));
    }
}
