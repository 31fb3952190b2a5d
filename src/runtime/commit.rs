//! The end of a stage: results, input offsets and state go to the database in one transaction, after the messages
//! for the stages behind were taken by Kafka.
//!
//! Claims go the same way, so that a partition is never claimed while results of it are on their way.

use super::generation;
use super::http::Health;
use super::kafka;
use super::message_code::{ANY_PARTITION, MessageKeys, Spot};
use super::outage;
use super::producer::{Awaited, Delivery, Polled};
use super::rejected;
use super::stage_metrics::StageMetrics;
use super::stop::Control;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{BaseRecord, Producer};
use schemas::rejected::KEPT_MAX;
use schemas::{RejectedMessage, ResultBatch, SeriesTable};
use stages::messages::{Content, OutTopic, Outgoing};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};
use store::postgres::{Claim, CommitMetrics, PartCommit, PgError, PgStore};
use store::storage_policy::StoredRows;
use tokio::sync::{mpsc, oneshot};

/// Longest wait between two tries.
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// Time after which it is looked at whether messages that Kafka did not take have any broker to go to.
const BROKERS_CHECKED_AFTER: Duration = Duration::from_secs(1);
/// Length of a transaction that is worth a line.
const SLOW: Duration = Duration::from_millis(300);

/// Results of one partition.
#[derive(Debug)]
pub struct Part {
    /// The partition.
    pub partition: i32,
    /// The epoch of the claim.
    pub epoch: i64,
    /// Offset that the database has.
    pub from: Option<i64>,
    /// Offset that it shall have.
    pub to: i64,
    /// Results in between.
    pub results: ResultBatch,
    /// Of their signals, what is kept.
    pub stored: StoredRows,
    /// The state at `to`, with its version.
    pub snapshot: Option<(u32, Vec<u8>)>,
}

/// A message for the stages behind.
#[derive(Debug)]
pub struct Addressed {
    /// Partition of the input that it is made from.
    pub partition: i32,
    /// Generation of the state that made it.
    pub generation: i64,
    /// The message.
    pub message: Outgoing,
}

impl Addressed {
    /// A message of a partition and a generation, in as many parts as [`Content::encoded`] makes of it.
    ///
    /// # Errors
    /// What cannot be encoded.
    pub fn of(
        (partition, generation): (i32, i64),
        content: Content,
        bytes_max: usize,
    ) -> anyhow::Result<Vec<Addressed>> {
        let addressed = |message| Addressed { partition, generation, message };
        Ok(content.encoded(bytes_max)?.into_iter().map(addressed).collect())
    }
}

/// Requests to the writer.
pub enum Request {
    /// Partitions to own from now on, and the identity of their topic if it is known.
    Claim(Vec<i32>, Option<String>, oneshot::Sender<Vec<(i32, Claim)>>),
    /// Results to write, and messages to send before.
    Commit(Vec<Part>, Vec<Addressed>, SyncSender<Committed>),
    /// Partitions with another owner now.
    Release(Vec<i32>),
}

/// Outcome of a commit.
#[derive(Debug, Default)]
pub struct Committed {
    /// Partitions with another owner: nothing of them was written.
    pub fenced: Vec<i32>,
    /// Whether the rest was written; if not, the stage stops.
    pub written: bool,
    /// Why it was not written.
    pub trouble: String,
    /// Whether to start the stage again: a topic is gone, which the start creates.
    pub topic_is_gone: bool,
}

/// Writes for one stage.
pub struct Writer {
    /// The database.
    pub store: PgStore,
    /// For messages to the stages behind.
    pub producer: Polled<Awaited>,
    /// The brokers of the configuration.
    pub brokers: Vec<String>,
    /// Keys of their codes.
    pub keys: MessageKeys,
    /// Their topics.
    pub topics: BTreeMap<OutTopic, String>,
    /// Whose results.
    pub stage: &'static str,
    /// Name of this process.
    pub owner: String,
    /// When to give up.
    pub control: Control,
    /// What is measured.
    pub metrics: StageMetrics,
    /// Receives problems.
    pub health: Health,
    /// Series of each partition, by number.
    pub tables: BTreeMap<i32, SeriesTable>,
}

impl Writer {
    /// Answers requests until the channel is closed.
    pub async fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        while let Some(request) = requests.recv().await {
            match request {
                Request::Claim(partitions, topic_id, done) => {
                    let _ = done.send(self.claim(&partitions, topic_id.as_deref()).await);
                }
                Request::Release(partitions) => {
                    for partition in partitions {
                        self.store.forget_partition(self.stage, partition);
                        self.tables.remove(&partition);
                    }
                }
                Request::Commit(parts, messages, done) => {
                    let _ = done.send(self.commit(parts, &messages).await);
                }
            }
        }
    }

    /// Claims partitions; none come back if that cannot be.
    async fn claim(&mut self, partitions: &[i32], topic_id: Option<&str>) -> Vec<(i32, Claim)> {
        let mut found = Vec::new();
        for partition in partitions {
            self.tables.remove(partition);
            let mut backoff = Backoff::new(self.control.clone());
            loop {
                match self.store.claim(self.stage, *partition, &self.owner, topic_id).await {
                    Ok(claim) => {
                        found.push((*partition, claim));
                        break;
                    }
                    Err(error) if error.is_retryable() && backoff.wait(self, &error).await => {}
                    Err(error) => {
                        tracing::error!(%error, stage = self.stage, partition, "failed to claim partition");
                        return Vec::new();
                    }
                }
            }
        }
        found
    }

    async fn commit(&mut self, mut parts: Vec<Part>, messages: &[Addressed]) -> Committed {
        self.learn(&parts);
        match self.publish(messages).await {
            Ok(too_large) => too_large.into_iter().for_each(|message| keep_rejected(&mut parts, message)),
            Err((trouble, topic_is_gone)) => {
                return Committed { trouble, topic_is_gone, ..Committed::default() };
            }
        }
        let mut committed = Committed::default();
        let mut backoff = Backoff::new(self.control.clone());
        loop {
            let begun = Instant::now();
            match self.write(&parts).await {
                Ok(written) => {
                    let signals = parts.iter().map(|part| &part.stored.passed);
                    outage::DATABASE.works();
                    self.metrics.committed(begun.elapsed().as_secs_f64(), written.signals, signals);
                    self.log_slow(begun.elapsed(), &written);
                    written.refused.iter().for_each(|refused| rejected::log_refused(self.stage, refused));
                    self.report(&parts);
                    committed.written = true;
                    return committed;
                }
                Err(PgError::Fenced { partition }) => {
                    parts.retain(|part| part.partition != partition);
                    committed.fenced.push(partition);
                    committed.written = parts.is_empty();
                    if parts.is_empty() {
                        return committed;
                    }
                }
                Err(error) => {
                    self.metrics.commit_failed();
                    if !(error.is_retryable() && backoff.wait(self, &error).await) {
                        tracing::error!(%error, stage = self.stage, "failed to write results");
                        committed.trouble = error.to_string();
                        return committed;
                    }
                }
            }
        }
    }

    async fn write(&mut self, parts: &[Part]) -> Result<CommitMetrics, PgError> {
        const NONE: &SeriesTable = &Vec::new();
        let tables = &self.tables;
        let commits: Vec<PartCommit<'_>> = parts
            .iter()
            .map(|part| PartCommit {
                partition: part.partition,
                epoch: part.epoch,
                from_position: part.from,
                to_position: part.to,
                results: &part.results,
                stored: &part.stored,
                table: tables.get(&part.partition).unwrap_or(NONE),
                snapshot: part.snapshot.as_ref().map(|(version, bytes)| (*version, bytes.as_slice())),
            })
            .collect();
        self.store.commit(self.stage, &commits).await
    }

    /// Keeps the series that are new, or have the number of one that was forgotten.
    fn learn(&mut self, parts: &[Part]) {
        for part in parts {
            let table = self.tables.entry(part.partition).or_default();
            for (series, info) in &part.results.series {
                let count = table.len();
                match table.get_mut(series.at()) {
                    Some(known) if known != info => {
                        *known = info.clone();
                        self.store.forget_number(self.stage, part.partition, *series);
                    }
                    Some(_) => {}
                    None if series.at() == count => table.push(info.clone()),
                    None => {}
                }
            }
        }
    }

    /// A transaction that took long, with its content: a reason for late rows.
    fn log_slow(&self, took: Duration, written: &CommitMetrics) {
        if took < SLOW {
            return;
        }
        let CommitMetrics { signals, buckets, snapshot_bytes, .. } = written;
        let seconds = took.as_secs_f64();
        tracing::debug!(stage = self.stage, seconds, signals, buckets, snapshot_bytes, "slow transaction");
    }

    fn report(&self, parts: &[Part]) {
        self.health.report(self.stage, None);
        for part in parts {
            self.metrics.drops(part.partition, &part.results.drops);
            if let Some((_, bytes)) = &part.snapshot {
                self.metrics.state(part.partition, bytes.len());
            }
        }
    }

    /// Gives messages to Kafka and waits until it has them; it tries for as long as the process is not to stop. Returns those
    /// that are too large for Kafka, which are counted and passed over.
    ///
    /// # Errors
    /// Why Kafka does not take one of the others, and whether because its topic is gone.
    async fn publish(&self, messages: &[Addressed]) -> Result<Vec<RejectedMessage>, (String, bool)> {
        let topic = |message: &Addressed| self.topics.get(&message.message.to).map(String::as_str);
        let addressed: Vec<(&str, &Addressed)> =
            messages.iter().filter_map(|message| Some((topic(message)?, message))).collect();
        let mut refused = Vec::new();
        for (at, delivery) in self.deliver(&addressed).await.into_iter().enumerate() {
            match delivery {
                Ok(_) => {}
                Err(error) if kafka::is_too_large(&error) => refused.push(addressed[at]),
                Err(error) => return Err(self.failed_delivery(addressed[at].0, &error)),
            }
        }
        let mut too_large = Vec::new();
        // A broker refuses a batch as a whole: alone, most of its messages are short enough.
        for (topic, message) in refused {
            for delivery in self.deliver(&[(topic, message)]).await {
                match delivery {
                    Ok(_) => {}
                    Err(error) if kafka::is_too_large(&error) => {
                        kafka::too_large(topic, message.message.payload.len());
                        too_large.push(rejected::too_large(self.stage, topic, message, &error));
                    }
                    Err(error) => return Err(self.failed_delivery(topic, &error)),
                }
            }
        }
        Ok(too_large)
    }

    /// The sentence about a message that Kafka does not take.
    fn failed_delivery(&self, topic: &str, error: &KafkaError) -> (String, bool) {
        tracing::error!(%error, stage = self.stage, topic, "message delivery to Kafka failed");
        let trouble = format!("message delivery to topic {topic} failed: {error}");
        let is_gone = matches!(
            error.rdkafka_error_code(),
            Some(
                RDKafkaErrorCode::UnknownTopic
                    | RDKafkaErrorCode::UnknownTopicOrPartition
                    | RDKafkaErrorCode::UnknownPartition
                    // The client dropped a partition of the deleted topic while messages waited in it.
                    | RDKafkaErrorCode::BrokerDestroy
            )
        );
        (trouble, is_gone)
    }

    /// Sends messages of a topic each, and waits for their outcomes.
    async fn deliver<'m>(&self, messages: &[(&str, &'m Addressed)]) -> Vec<Delivery> {
        let sealed = |(topic, addressed): &(&str, &'m Addressed)| {
            let Addressed { generation, message, .. } = addressed;
            let spot = Spot { topic, partition: ANY_PARTITION, generation: *generation };
            match message.to {
                OutTopic::Partials => self.keys.sealed(spot, &message.payload),
                OutTopic::Verdicts => Cow::Borrowed(message.payload.as_slice()),
            }
        };
        let payloads: Vec<Cow<'_, [u8]>> = messages.iter().map(sealed).collect();
        let sent = messages.iter().zip(&payloads).map(|((topic, addressed), payload)| {
            let Addressed { generation, message, .. } = addressed;
            let headers = generation::header(*generation);
            let record = move |waiting| {
                let record = BaseRecord::with_opaque_to(topic, waiting);
                let record = record.key(message.key.as_str()).payload(payload.as_ref());
                BaseRecord { headers, ..record }
            };
            self.producer.deliver(record, Duration::from_secs(60))
        });
        let mut delivered = pin!(futures::future::join_all(sent));
        loop {
            match tokio::time::timeout(BROKERS_CHECKED_AFTER, &mut delivered).await {
                Ok(deliveries) => return deliveries,
                Err(_) => self.producer.context().0.add_again(self.producer.client(), &self.brokers),
            }
        }
    }
}

/// Adds what Kafka refused to the results of the partition that it is made from.
fn keep_rejected(parts: &mut [Part], message: RejectedMessage) {
    let part = parts.iter_mut().find(|part| part.partition == message.partition);
    if let Some(part) = part.filter(|part| part.results.rejected.len() < KEPT_MAX) {
        part.results.rejected.push(RejectedMessage { offset: part.to, ..message });
    }
}

/// Waits longer and longer between tries.
struct Backoff {
    wait: Duration,
    control: Control,
    stop_requested: Option<Instant>,
}

impl Backoff {
    fn new(control: Control) -> Backoff {
        Backoff { wait: Duration::from_millis(50), control, stop_requested: None }
    }

    /// Waits before the next try; false if there shall be none.
    async fn wait(&mut self, writer: &Writer, error: &PgError) -> bool {
        outage::DATABASE.failed(&error.to_string());
        writer.health.report(writer.stage, Some(format!("database unavailable: {error}")));
        if self.control.stopping() {
            // One more chance within the time of a stop, not an endless one.
            let requested = *self.stop_requested.get_or_insert_with(Instant::now);
            if requested.elapsed() > Duration::from_secs(5) {
                return false;
            }
        }
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(BACKOFF_MAX);
        true
    }
}
