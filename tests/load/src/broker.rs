//! Raw topics, and rows into them as ldmsd's store sends them: no key, any partition, lz4.

use crate::feed::{Row, SCHEMAS};
use crate::rng::Rng;
use anyhow::{Context, Result, bail};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use rdkafka::{ClientContext, Statistics};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long the broker may take for a request, and for the last rows.
const REQUEST: Duration = Duration::from_secs(30);
const FLUSH: Duration = Duration::from_secs(120);
/// Interval of librdkafka's statistics.
const STATISTICS_MS: u64 = 500;

/// Counts of bytes sent and of rows that failed.
#[derive(Debug, Default)]
struct Watch {
    failed: AtomicU64,
    sent_bytes: AtomicU64,
}

impl ClientContext for Watch {
    fn stats(&self, statistics: Statistics) {
        let sent: u64 = statistics.brokers.values().map(|broker| broker.txbytes).sum();
        self.sent_bytes.store(sent, Ordering::Relaxed);
    }
}

impl ProducerContext for Watch {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if result.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A connection that rows are sent over.
pub struct Broker {
    producer: BaseProducer<Watch>,
    /// Topic and number of partitions, for each schema.
    topics: [(String, u32); SCHEMAS.len()],
    /// Chooses each row's partition; without it librdkafka does.
    partition: Option<Rng>,
}

impl Broker {
    /// Connects and creates missing topics; existing topics keep their partitions and rows.
    /// With `at_once` rows leave as they do from ldmsd's store, without waiting for others: librdkafka chooses a partition for
    /// all rows of ten milliseconds (`sticky.partitioning.linger.ms`). Else each row has one by `seed`.
    ///
    /// # Errors
    /// If the broker does not answer, or refuses.
    pub fn open(brokers: &str, partitions: u32, at_once: bool, seed: u64) -> Result<Broker> {
        let names = SCHEMAS.map(|schema| format!("ldms.{}", schema.name()));
        create(brokers, &names, partitions)?;
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", brokers)
            .set("compression.type", "lz4")
            // A retry must not duplicate a row: the count of rows is measured too.
            .set("enable.idempotence", "true")
            .set("linger.ms", if at_once { "5" } else { "100" })
            .set("batch.size", "900000")
            .set("queue.buffering.max.kbytes", "262144")
            .set("queue.buffering.max.messages", "1000000")
            .set("delivery.report.only.error", "true")
            .set("statistics.interval.ms", STATISTICS_MS.to_string());
        let producer: BaseProducer<Watch> = config.create_with_context(Watch::default())?;
        let mut topics = names.map(|name| (name, 0));
        for (name, count) in &mut topics {
            let metadata = producer.client().fetch_metadata(Some(name), REQUEST)?;
            *count = metadata.topics().first().map_or(0, |topic| topic.partitions().len() as u32);
            if *count == 0 {
                bail!("topic {name} has no partitions yet: try again, or look at the broker's log");
            }
        }
        Ok(Broker { producer, topics, partition: (!at_once).then(|| Rng::new(seed, 7)) })
    }

    /// Queues a row; waits when the queue is full.
    ///
    /// # Errors
    /// If a row cannot be sent at all.
    pub fn send(&mut self, row: Row<'_>) -> Result<()> {
        let place = SCHEMAS.iter().position(|schema| *schema == row.schema).unwrap_or_default();
        let (topic, partitions) = &self.topics[place];
        let mut record = BaseRecord::<(), [u8]>::to(topic).payload(row.json).timestamp(row.published_ms);
        record.partition = self.partition.as_mut().map(|rng| rng.below(*partitions) as i32);
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), same)) => {
                    record = same;
                    self.producer.poll(Duration::from_millis(20));
                }
                Err((error, _)) => return Err(error).with_context(|| format!("cannot send to {topic}")),
            }
        }
    }

    /// Serves librdkafka's callbacks; call it regularly.
    ///
    /// # Errors
    /// If the broker refused rows.
    pub fn check(&self) -> Result<()> {
        self.producer.poll(Duration::ZERO);
        match self.producer.context().failed.load(Ordering::Relaxed) {
            0 => Ok(()),
            failed => bail!("the broker did not take {failed} rows: see its log and its disk"),
        }
    }

    /// Waits until the broker has all rows; gives the bytes sent, compressed.
    ///
    /// # Errors
    /// If it does not accept them.
    pub fn finish(self) -> Result<u64> {
        self.producer.flush(FLUSH).context("the broker does not take the last rows")?;
        // One more statistic, so that the bytes are those of all rows.
        self.producer.poll(Duration::from_millis(2 * STATISTICS_MS));
        self.check()?;
        Ok(self.producer.context().sent_bytes.load(Ordering::Relaxed))
    }
}

fn create(brokers: &str, names: &[String], partitions: u32) -> Result<()> {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", brokers).create()?;
    let count = i32::try_from(partitions).context("--partitions is too large")?;
    let topics: Vec<NewTopic<'_>> =
        names.iter().map(|name| NewTopic::new(name, count, TopicReplication::Fixed(1))).collect();
    let options = AdminOptions::new().operation_timeout(Some(REQUEST)).request_timeout(Some(REQUEST));
    let results = futures::executor::block_on(admin.create_topics(&topics, &options))
        .with_context(|| format!("no broker answers at {brokers}"))?;
    for result in results {
        match result {
            Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((name, code)) => bail!("cannot create topic {name}: {code}"),
        }
    }
    Ok(())
}
