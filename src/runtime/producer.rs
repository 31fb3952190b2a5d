//! Producers whose events a thread of their own takes.
//!
//! rdkafka spends the last millisecond of each poll in a busy loop. Its own threads poll ten times a second: a percent of a
//! core for each producer of an idle process.

use super::brokers::Lost;
use configuration::kafka::Client;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext, PurgeConfig};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Time of one poll: the thread of a producer that is dropped ends after it.
const POLL: Duration = Duration::from_secs(5);
/// Wait before a message is offered again to a producer that is full.
const FULL_DELAY: Duration = Duration::from_millis(50);

/// A producer with its thread. When it is dropped nothing more is sent.
pub struct Polled<C: ProducerContext + 'static> {
    producer: Arc<Client<BaseProducer<C>>>,
    is_stopping: Arc<AtomicBool>,
}

impl<C: ProducerContext + 'static> Polled<C> {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new(producer: Client<BaseProducer<C>>) -> std::io::Result<Polled<C>> {
        let (producer, is_stopping) = (Arc::new(producer), Arc::new(AtomicBool::new(false)));
        let (polled, ends) = (Arc::clone(&producer), Arc::clone(&is_stopping));
        let poll = move || {
            while !ends.load(Ordering::Relaxed) {
                polled.poll(POLL);
            }
        };
        Builder::new().name("kafka producer".to_string()).spawn(poll)?;
        Ok(Polled { producer, is_stopping })
    }
}

impl<C: ProducerContext + 'static> Deref for Polled<C> {
    type Target = BaseProducer<C>;

    fn deref(&self) -> &BaseProducer<C> {
        &self.producer
    }
}

impl<C: ProducerContext + 'static> Drop for Polled<C> {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.producer.purge(PurgeConfig::default().queue().inflight());
    }
}

/// What became of a message.
pub type Delivery = Result<(), KafkaError>;

/// The context of a producer whose messages are waited for.
#[derive(Clone, Debug, Default)]
pub struct Awaited(pub Lost);

impl ClientContext for Awaited {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, text: &str) {
        self.0.log(level, facility, text);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.0.error(error, reason);
    }
}

impl ProducerContext for Awaited {
    type DeliveryOpaque = Box<oneshot::Sender<Delivery>>;

    fn delivery(&self, result: &DeliveryResult<'_>, waiting: Box<oneshot::Sender<Delivery>>) {
        let delivery = result.as_ref().map(|_| ()).map_err(|(error, _)| error.clone());
        // Its future may be gone.
        drop(waiting.send(delivery));
    }
}

impl Polled<Awaited> {
    /// Sends what `record` makes of the message's opaque value, and waits for the brokers. A producer that is full is
    /// offered the message again for `longest`.
    ///
    /// # Errors
    /// Why the message was not delivered.
    pub async fn deliver<'r>(
        &self,
        record: impl FnOnce(
            Box<oneshot::Sender<Delivery>>,
        ) -> BaseRecord<'r, str, [u8], Box<oneshot::Sender<Delivery>>>,
        longest: Duration,
    ) -> Delivery {
        let (done, delivery) = oneshot::channel();
        let (mut record, begun) = (record(Box::new(done)), Instant::now());
        loop {
            let (error, back) = match self.send(record) {
                Ok(()) => break,
                Err(refused) => refused,
            };
            let is_full = error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull);
            if !is_full || begun.elapsed() >= longest {
                return Err(error);
            }
            record = back;
            tokio::time::sleep(FULL_DELAY).await;
        }
        delivery.await.unwrap_or(Err(KafkaError::Canceled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rdkafka::ClientConfig;
    use rdkafka::mocking::MockCluster;
    use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};

    fn send(refused: bool) -> Delivery {
        let cluster = MockCluster::new(1).unwrap();
        cluster.create_topic("jobs", 1, 1).unwrap();
        if refused {
            let refusal = RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
            cluster.request_errors(RDKafkaApiKey::Produce, &[refusal]);
        }
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", cluster.bootstrap_servers());
        let producer: BaseProducer<Awaited> = config.create_with_context(Awaited::default()).unwrap();
        let producer = Polled::new(producer.into()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let record = |waiting| BaseRecord::with_opaque_to("jobs", waiting).key("7").payload(&b"{}"[..]);
        runtime.block_on(producer.deliver(record, Duration::ZERO))
    }

    #[test]
    fn delivery_is_what_the_broker_answered() {
        assert_eq!(send(false), Ok(()));
        let error = send(true).unwrap_err();
        assert_eq!(error.rdkafka_error_code(), Some(RDKafkaErrorCode::MessageSizeTooLarge));
    }
}
