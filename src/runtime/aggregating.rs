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
mod forgetting;
mod job_updates;
mod outlet;
mod passed_over;
mod raw;
mod reading;
mod unassigned;

use super::clock::now;
use super::http::Health;
use super::kafka::{self, Change, Listener};
use super::lag::Lag;
use super::limits;
use super::message_code::MessageKeys;
use super::producer::Polled;
use super::settings;
use super::stage_error::{StageError, StageResult};
use super::stage_metrics::StageMetrics;
use super::stop::Control;
use aggregator::{Decoded, Decoder, NodeNaming};
use avro_schemas::Schemas;
use configuration::RunConfig;
use configuration::kafka::{Client, Role, TopicNames};
use configuration::stage::Stage;
use deliveries::{CHUNKS, Deliveries};
use end_state::EndEvent;
use ends::EndChecks;
use forgetting::Numbered;
use outlet::Rekeyed;
use raw::RawPartition;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Offset, TopicPartitionList};
use schemas::Time;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unassigned::Unassigned;

/// Time between two announcements of the progress while rows flow, and while none do.
const ANNOUNCE_BUSY: Duration = Duration::from_millis(50);
const ANNOUNCE_IDLE: Duration = Duration::from_millis(500);
/// A raw partition that gave nothing for so long is not waited for here, and whether it ended is doubted.
const STALLED: Duration = Duration::from_secs(2);
/// A first message that Kafka did not accept for so long is reported as a problem.
const FIRST_SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// A raw partition without an answer of a broker for so long is not announced; detectors wait for it half a minute longer.
const UNREACHABLE: Duration = Duration::from_secs(60);

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
) -> StageResult {
    let mut stage = Aggregating::start(config, partitions, metrics, handle, control)?;
    let turned = stage.open(config, health).and_then(|()| stage.turns(health));
    stage.end(turned, config.run.drain(), config.run.close_timeout())
}

struct Aggregating<'a> {
    consumer: Client<Arc<BaseConsumer<Listener>>>,
    raws: Vec<RawPartition>,
    decoder: Decoder,
    decoded: Decoded,
    numbered: Numbered,
    sources_max: usize,
    schemas: Schemas,
    job_topics: TopicNames,
    /// The topic of posted job events, whose messages have codes.
    jobs_topic: String,
    keys: MessageKeys,
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
    ) -> StageResult<Aggregating<'a>> {
        let own = [
            ("enable.partition.eof", "true"),
            ("partition.assignment.strategy", "cooperative-sticky"),
            ("topic.metadata.refresh.interval.ms", "10000"),
        ];
        let role = Role::Consumer(Stage::Aggregator);
        let job_topics = || config.kafka.slurm_topics.iter().chain([&config.kafka.jobs_topic]);
        let listener = Listener::new(Box::new(|_, _| {}), true);
        let consumer: Client<BaseConsumer<Listener>> = config.kafka.client(role, &own, listener)?;
        let keys = MessageKeys::of(&config.kafka);
        let deliveries = Deliveries::new(keys.extra_bytes());
        let producer = config.kafka.client(Role::Producer, &[kafka::NO_AUTO_CREATION], deliveries)?;
        let mut decoder = Decoder::new(NodeNaming::default(), config.limits.sources);
        decoder.set_naming(settings::naming(config));
        decoder.set_home_cluster(&config.kafka.home_cluster);
        Ok(Aggregating {
            consumer: consumer.shared(),
            raws: Vec::new(),
            decoder,
            decoded: Decoded::default(),
            numbered: Numbered::new(),
            sources_max: config.limits.sources,
            job_topics: TopicNames::of(job_topics()),
            jobs_topic: config.kafka.jobs_topic.clone(),
            keys: keys.clone(),
            unassigned: Unassigned::new(TopicNames::of(config.kafka.row_topics().iter().chain(job_topics()))),
            schemas: Schemas::new(&config.schema_registry, handle.clone())?,
            out: Rekeyed::new(Polled::new(producer)?, keys, &config.kafka, partitions, control),
            end_checks: EndChecks::new(&config.kafka.properties(role)),
            instance: config.run.instance.clone(),
            announced: Instant::now(),
            rows_since_announced: 0,
            chunks: VecDeque::new(),
            chunk: 0,
            lag: Lag::new(&config.health),
            metrics,
            control: control.clone(),
            brokers: config.kafka.brokers.clone(),
        })
    }

    /// Waits until Kafka took a first word in each partition of the counters, then begins to read. It goes alone, as
    /// [`kafka::ONE_BY_ONE`] explains why: from then on brokers know this producer's numbers, and take nothing before what they
    /// refused.
    fn open(&mut self, config: &RunConfig, health: &Health) -> StageResult {
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
        let row_topics = config.kafka.row_topics();
        let row_topics = row_topics.iter().map(String::as_str);
        let topics: Vec<&str> = row_topics.chain(self.job_topics.names()).collect();
        self.consumer.subscribe(&topics).map_err(StageError::kafka("subscribe to the raw topics"))
    }

    fn look_at_lag(&mut self) {
        // Of a partition without a message it is known once the brokers were queried where reading began.
        let position = |raw: &RawPartition| {
            let next = raw.position.next.or(raw.position.begin)?;
            Some((raw.topic.clone(), raw.partition, next))
        };
        let newest = self.raws.iter().filter_map(|raw| raw.position.reached).max();
        let positions = self.raws.iter().filter_map(position);
        self.lag.look("aggregator", &self.consumer, positions, newest.map(Time::seconds), self.metrics);
    }

    fn follow_changes(&mut self) -> StageResult {
        for change in self.consumer.context().changes() {
            match change {
                Change::Revoked(gone) => {
                    self.raws.retain(|raw| !gone.iter().any(|(topic, partition)| raw.is(topic, *partition)));
                }
                Change::Assigned(new) => {
                    let mut list = TopicPartitionList::new();
                    for (topic, partition) in &new {
                        let queue = self.consumer.split_partition_queue(topic, *partition);
                        let mut queue = queue.ok_or_else(|| {
                            StageError::Restart(format!("{topic}/{partition} has no queue"))
                        })?;
                        let reader = std::thread::current();
                        queue.set_nonempty_callback(move || reader.unpark());
                        let mut raw = RawPartition::new(topic, *partition, queue);
                        if self.end_checks.is_aftermath() {
                            raw.end.note(EndEvent::BrokerReturned, Instant::now());
                        }
                        self.raws.push(raw);
                        list.add_partition(topic, *partition);
                    }
                    self.consumer.resume(&list).map_err(StageError::kafka("resume raw partitions"))?;
                    self.unassigned.assigned();
                    tracing::info!(partitions = new.len(), "raw partitions assigned");
                }
            }
        }
        Ok(())
    }

    /// Time between two announcements.
    fn announcement_wait(&self) -> Duration {
        if self.rows_since_announced > 0 { ANNOUNCE_BUSY } else { ANNOUNCE_IDLE }
    }

    /// Announces to every partition of the counters how far this aggregator has read, and closes the chunk.
    fn announce(&mut self) -> StageResult {
        let wait = self.announcement_wait();
        let full = self.rows_since_announced >= 20_000;
        let is_due = self.announced.elapsed() >= wait || full || !self.unassigned.are_announced();
        if !is_due || !self.unassigned.are_known() {
            return Ok(());
        }
        // Before the ends are looked at: what comes meanwhile is no reason to believe in a later end.
        let now = now();
        self.end_checks.check(&self.consumer, &mut self.raws);
        if let Some(partition) = self.end_checks.stuck() {
            return Err(StageError::Restart(format!(
                "{partition} gives no messages although the broker has more, and seeking did not help"
            )));
        }
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
                    .map_err(StageError::kafka("list an offset"))?;
            }
        }
        self.chunks.push_back((self.chunk, offsets));
        self.metrics.rows_read(self.rows_since_announced);
        limits::note("sources", self.decoder.sources().as_slice().len(), self.sources_max);
        (self.announced, self.rows_since_announced) = (Instant::now(), 0);
        self.chunk += 1;
        // At a stop what did not arrive is left: it is read again.
        while self.chunks.len() >= CHUNKS && !self.control.stopping() {
            self.out.wait();
            self.commit()?;
        }
        Ok(())
    }

    fn nothing_failed(&self) -> StageResult {
        match self.out.failed() {
            true => Err(StageError::Restart("failed to write counters to Kafka".into())),
            false => Ok(()),
        }
    }

    /// Adds the configured brokers again to a client that lost all of them.
    fn restore_brokers(&self) {
        self.consumer.context().lost().add_again(self.consumer.client(), &self.brokers);
        self.out.restore_brokers();
    }
}

#[cfg(test)]
mod tests;
