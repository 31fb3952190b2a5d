//! The aggregator stage: raw topics to `tailback.counters`.
//!
//! It is stateless: what it knows (layouts, sources, schemas) only makes it faster. Offsets of the raw topics are committed
//! once everything made of them has arrived, so a row may be sent twice but is never left out. Detectors recognise repeats
//! by the row's raw topic, partition and offset.

mod avro_schemas;
mod committing;
mod deliveries;
mod end_state;
mod ends;
mod job_updates;
mod outlet;
mod passed_over;
mod raw;
mod unassigned;

use super::clock::now;
use super::http::Health;
use super::kafka::{self, Change, Listener};
use super::lag::Lag;
use super::rejected;
use super::stage_metrics::StageMetrics;
use super::stop::{Control, Restart};
use super::topic_names::TopicNames;
use crate::config::RunConfig;
use crate::config::kafka::Role;
use crate::config::sections::Stage;
use aggregator::{Decoded, Decoder, Outcome};
use anyhow::Context;
use avro_schemas::{Offer, Schemas};
use deliveries::{CHUNKS, Deliveries};
use end_state::EndEvent;
use ends::EndChecks;
use outlet::{Rekeyed, TooLarge};
use raw::{Pending, RawPartition};
use rdkafka::Offset;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::BorrowedMessage;
use rdkafka::{Message, TopicPartitionList};
use schemas::{DropReason, Time};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unassigned::Unassigned;

/// Messages taken from one raw partition before the next one's turn.
const TURN: usize = 256;
/// Time between two announcements of the progress while rows flow, and while none do.
const ANNOUNCE_BUSY: Duration = Duration::from_millis(50);
const ANNOUNCE_IDLE: Duration = Duration::from_millis(500);
/// Time for which an idle loop waits.
const IDLE: Duration = Duration::from_millis(20);
/// Seconds by which a raw partition may be ahead of the slowest before it waits.
const AHEAD_S: f64 = 5.0;
/// A raw partition that gave nothing for so long is not waited for here, and whether it ended is doubted.
const STALLED: Duration = Duration::from_secs(2);
/// A first message that Kafka did not accept for so long is reported as a problem.
const FIRST_SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// A raw partition without an answer of a broker for so long is not announced; detectors wait for it half a minute longer.
const UNREACHABLE: Duration = Duration::from_secs(60);
/// Seconds by which Kafka's clock may be ahead.
const KAFKA_AHEAD_S: f64 = 1.0;

/// Runs the stage until a stop is requested.
///
/// # Errors
/// Errors that end the stage; it may be started again, and continues from the committed offsets.
pub fn run(
    config: &RunConfig,
    partitions: i32,
    control: &Control,
    health: &Health,
    metrics: &StageMetrics,
    handle: &tokio::runtime::Handle,
) -> anyhow::Result<()> {
    let mut stage = Aggregating::start(config, partitions, metrics, handle, control)?;
    let turned = stage.open(config, health).and_then(|()| stage.turns(health));
    stage.end(turned, config.run.drain(), config.run.close_timeout())
}

struct Aggregating<'a> {
    consumer: Arc<BaseConsumer<Listener>>,
    raws: Vec<RawPartition>,
    decoder: Decoder,
    decoded: Decoded,
    schemas: Schemas,
    job_topics: TopicNames,
    unassigned: Unassigned,
    end_checks: EndChecks,
    out: Rekeyed,
    instance: String,
    announced: Instant,
    rows_since_announced: usize,
    /// Chunks on their way, with the offsets to commit once they have arrived.
    chunks: VecDeque<(usize, TopicPartitionList)>,
    chunk: usize,
    lag: Lag,
    metrics: &'a StageMetrics,
    control: Control,
    brokers: Vec<String>,
}

impl<'a> Aggregating<'a> {
    fn start(
        config: &RunConfig,
        partitions: i32,
        metrics: &'a StageMetrics,
        handle: &tokio::runtime::Handle,
        control: &Control,
    ) -> anyhow::Result<Aggregating<'a>> {
        let own = [
            ("enable.partition.eof", "true"),
            ("partition.assignment.strategy", "cooperative-sticky"),
            ("topic.metadata.refresh.interval.ms", "10000"),
        ];
        let role = Role::Consumer(Stage::Aggregator);
        let job_topics = || config.kafka.slurm_topics.iter().chain([&config.kafka.jobs_topic]);
        let listener = Listener::new(Box::new(|_, _| {}), true);
        let consumer: BaseConsumer<Listener> = kafka::client(config, role, &own, listener)?;
        Ok(Aggregating {
            consumer: Arc::new(consumer),
            raws: Vec::new(),
            decoder: Decoder::default(),
            decoded: Decoded::default(),
            job_topics: TopicNames::of(job_topics()),
            unassigned: Unassigned::new(TopicNames::of(config.kafka.raw_topics.iter().chain(job_topics()))),
            schemas: Schemas::new(&config.schema_registry, handle.clone())?,
            out: Rekeyed::new(
                kafka::client(config, Role::Producer, &[kafka::NO_AUTO_CREATION], Deliveries::new())?,
                &config.kafka,
                partitions,
                control,
            ),
            end_checks: EndChecks::new(&config.kafka_properties(role)),
            instance: config.run.instance.clone(),
            announced: Instant::now(),
            rows_since_announced: 0,
            chunks: VecDeque::new(),
            chunk: 0,
            lag: Lag::default(),
            metrics,
            control: control.clone(),
            brokers: config.kafka.brokers.clone(),
        })
    }

    /// Waits until Kafka took a first word in each partition of the counters, then begins to read. It goes alone, as
    /// [`kafka::ONE_BY_ONE`] explains why: from then on brokers know this producer's numbers, and take nothing before what they
    /// refused.
    fn open(&mut self, config: &RunConfig, health: &Health) -> anyhow::Result<()> {
        self.out.send_first(self.chunk, &self.instance, now())?;
        while !self.out.arrived(self.chunk) && !self.control.stopping() {
            health.alive("aggregator");
            if self.announced.elapsed() > FIRST_SEND_TIMEOUT {
                health.report("aggregator", Some("Kafka accepts no counters".to_string()));
            }
            self.out.wait();
        }
        health.report("aggregator", None);
        self.chunk += 1;
        self.nothing_failed()?;
        let raw_topics = config.kafka.raw_topics.iter().map(String::as_str);
        let topics: Vec<&str> = raw_topics.chain(self.job_topics.names()).collect();
        self.consumer.subscribe(&topics).context("failed to subscribe to the raw topics")
    }

    fn look_at_lag(&mut self) {
        let position =
            |raw: &RawPartition| (raw.topic.clone(), raw.partition, raw.position.next.unwrap_or(0));
        let newest = self.raws.iter().filter_map(|raw| raw.position.reached).max();
        let positions = self.raws.iter().map(position);
        self.lag.look("aggregator", &self.consumer, positions, newest.map(Time::seconds), self.metrics);
    }

    /// Lets librdkafka do its work; messages that come this way were fetched before their partition had a queue
    /// of its own. Whether there was one: they are earlier than those of that queue.
    fn serve(&mut self, wait: Duration) -> anyhow::Result<bool> {
        let consumer = Arc::clone(&self.consumer);
        let polled = consumer.poll(wait);
        self.follow_changes()?;
        let Some(polled) = polled else { return Ok(false) };
        if let Ok(message) = polled {
            let of_it = |raw: &RawPartition| raw.is(message.topic(), message.partition());
            if let Some(at) = self.raws.iter().position(of_it) {
                self.take(at, &message)?;
            }
        }
        // The event that a partition ended may arrive here too, but without its topic; the silence shows it.
        Ok(true)
    }

    fn follow_changes(&mut self) -> anyhow::Result<()> {
        for change in self.consumer.context().changes() {
            match change {
                Change::Revoked(gone) => {
                    self.raws.retain(|raw| !gone.iter().any(|(topic, partition)| raw.is(topic, *partition)));
                }
                Change::Assigned(new) => {
                    let mut list = TopicPartitionList::new();
                    for (topic, partition) in &new {
                        let queue = self.consumer.split_partition_queue(topic, *partition);
                        let queue = queue.with_context(|| format!("{topic}/{partition} has no queue"))?;
                        let mut raw = RawPartition::new(topic, *partition, queue);
                        if self.end_checks.is_aftermath() {
                            raw.end.note(EndEvent::BrokerReturned, Instant::now());
                        }
                        self.raws.push(raw);
                        list.add_partition(topic, *partition);
                    }
                    self.consumer.resume(&list).context("failed to resume raw partitions")?;
                    self.unassigned.assigned();
                    tracing::info!(partitions = new.len(), "raw partitions assigned");
                }
            }
        }
        Ok(())
    }

    /// Takes some rows of each raw partition that is not ahead of the others; whether there were any.
    fn turn(&mut self) -> anyhow::Result<bool> {
        while self.serve(Duration::ZERO)? {}
        if !self.unassigned.look(&self.consumer) {
            return Ok(false);
        }
        let limit = self.slowest().map(|time| time.plus_seconds(AHEAD_S));
        let mut busy = false;
        for at in 0..self.raws.len() {
            if limit.is_some_and(|limit| self.raws[at].position.reached > Some(limit)) {
                self.raws[at].end.note(EndEvent::Skipped, Instant::now());
                continue;
            }
            for _ in 0..TURN {
                if !self.next(at)? {
                    break;
                }
                busy = true;
            }
        }
        Ok(busy)
    }

    /// How far the slowest raw partition is that has more to read. One that waits for a schema delays no other.
    fn slowest(&self) -> Option<Time> {
        let now = Instant::now();
        self.raws
            .iter()
            .filter(|raw| {
                !raw.end.is_reached() && raw.pending.is_empty() && !raw.end.is_stalled(STALLED, now)
            })
            .filter_map(|raw| raw.position.reached)
            .min()
    }

    /// Takes the next message of a raw partition; whether there was one.
    fn next(&mut self, at: usize) -> anyhow::Result<bool> {
        if !self.raws[at].pending.is_empty() {
            return self.retry(at);
        }
        let queue = Arc::clone(&self.raws[at].queue);
        match queue.poll(Duration::ZERO) {
            None => Ok(false),
            Some(Ok(message)) => {
                self.take(at, &message)?;
                Ok(true)
            }
            Some(Err(KafkaError::PartitionEOF(_))) => {
                self.raws[at].end.note(EndEvent::Eof, Instant::now());
                Ok(false)
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "failed to read a raw partition; retrying");
                Ok(false)
            }
        }
    }

    fn take(&mut self, at: usize, message: &BorrowedMessage<'_>) -> anyhow::Result<()> {
        let arrived = arrived(message.timestamp().to_millis(), now());
        let (offset, payload) = (message.offset(), message.payload().unwrap_or_default());
        let pending = &mut self.raws[at].pending;
        if !pending.is_empty() {
            pending.push_back(Pending { offset, arrived, payload: payload.to_vec() });
            return Ok(());
        }
        self.offer(at, offset, arrived, payload)
    }

    /// Decodes a row and sends on what came of it. One whose schema is not known yet waits in its raw partition.
    fn offer(&mut self, at: usize, offset: i64, arrived: Time, payload: &[u8]) -> anyhow::Result<()> {
        self.decoded.clear();
        let raw = &mut self.raws[at];
        let offered = match self.job_topics.has(&raw.topic) {
            true => Offer::Done(self.decoder.job_message(payload, arrived, &mut self.decoded)),
            false => self.schemas.decode(&mut self.decoder, &raw.topic, payload, &mut self.decoded)?,
        };
        match offered {
            Offer::Wait => {
                raw.wait_for_schema(Pending { offset, arrived, payload: payload.to_vec() });
                return Ok(());
            }
            Offer::Done(outcome) => {
                self.metrics.row(outcome);
                raw.done(offset, outcome);
                if let Outcome::Dropped(reason) = outcome
                    && self.job_topics.has(&raw.topic)
                {
                    let message = passed_over::bad_job(raw, offset, payload, reason);
                    rejected::count(&message);
                    self.out.reject(self.chunk, &message)?;
                }
            }
        }
        let too_large = self.out.send(self.chunk, raw, offset, arrived, &self.decoder, &self.decoded)?;
        if let Some(too_large) = too_large {
            let message = passed_over::too_large(raw, offset, payload, too_large);
            // A row's message was counted where Kafka refused it.
            if matches!(too_large, TooLarge::Job { .. }) {
                raw.done(offset, Outcome::Dropped(DropReason::BadJob));
                rejected::count(&message);
            }
            self.out.reject(self.chunk, &message)?;
        }
        let time = self.decoded.counters.rows().map(|(_, time, _)| time).next();
        raw.position.reached = Some(time.map_or(arrived, |time| time.min(arrived)));
        self.rows_since_announced += 1;
        Ok(())
    }

    /// Offers the first message that waits again; whether it waits no longer.
    fn retry(&mut self, at: usize) -> anyhow::Result<bool> {
        let waiting = self.raws[at].pending.len();
        let Some(Pending { offset, arrived, payload }) = self.raws[at].pending.pop_front() else {
            return Ok(false);
        };
        self.offer(at, offset, arrived, &payload)?;
        Ok(self.raws[at].pending.len() < waiting)
    }

    /// Announces to every partition of the counters how far this aggregator has read, and closes the chunk.
    fn announce(&mut self) -> anyhow::Result<()> {
        let wait = if self.rows_since_announced > 0 { ANNOUNCE_BUSY } else { ANNOUNCE_IDLE };
        let full = self.rows_since_announced >= 20_000;
        if self.announced.elapsed() < wait && !full || !self.unassigned.are_known() {
            return Ok(());
        }
        // Before the ends are looked at: what comes meanwhile is no reason to believe in a later end.
        let now = now();
        self.end_checks.check(&self.consumer, &mut self.raws);
        let checked = Instant::now();
        let reachable = self.raws.iter_mut().filter(|raw| !raw.end.is_unreachable(UNREACHABLE, checked));
        let mut reached: Vec<_> = reachable.map(|raw| raw.progress(now, checked)).collect();
        reached.extend(self.unassigned.take(&self.raws));
        self.out.announce(self.chunk, &mut self.raws, &self.instance, now, &reached)?;
        let mut offsets = TopicPartitionList::new();
        for raw in &self.raws {
            if let Some(next) = raw.position.next {
                offsets
                    .add_partition_offset(&raw.topic, raw.partition, Offset::Offset(next))
                    .context("invalid offset")?;
            }
        }
        self.chunks.push_back((self.chunk, offsets));
        self.metrics.rows_read(self.rows_since_announced);
        (self.announced, self.rows_since_announced) = (Instant::now(), 0);
        self.chunk += 1;
        // At a stop what did not arrive is left: it is read again.
        while self.chunks.len() >= CHUNKS && !self.control.stopping() {
            self.out.wait();
            self.commit()?;
        }
        Ok(())
    }

    fn nothing_failed(&self) -> anyhow::Result<()> {
        match self.out.failed() {
            true => Err(Restart("failed to write counters to Kafka".into()).into()),
            false => Ok(()),
        }
    }

    /// Adds the configured brokers again to a client that lost all of them.
    fn restore_brokers(&self) {
        self.consumer.context().lost().add_again(self.consumer.client(), &self.brokers);
        self.out.restore_brokers();
    }
}

/// Kafka's timestamp of a message, so that a replay has the same one. A timestamp in the future counts as now.
fn arrived(kafka_ms: Option<i64>, now: Time) -> Time {
    let said = kafka_ms.map(|ms| Time(ms.saturating_mul(1000)));
    said.filter(|said| *said <= now.plus_seconds(KAFKA_AHEAD_S)).unwrap_or(now)
}

#[cfg(test)]
mod tests;
