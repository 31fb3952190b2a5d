//! A stage whose results, offsets and state go to the database together: the detector and the roll-up.
//!
//! The order of everything is in [`ExactlyOnce::run`]: messages → stage → (messages for others, then one transaction) →
//! next. While a transaction is pending the stage continues, up to its limit of memory; then it pauses reading until the
//! database answers.

mod committing;

use super::claims::{Claims, claim_and_seek};
use super::commit::{Committed, Request};
use super::commit_schedule::{CommitSchedule, LULL};
use super::generation;
use super::http::Health;
use super::input_topic::{ClaimedId, InputTopic};
use super::kafka::{Change, Listener};
use super::lag::Lag;
use super::message_code::{ANY_PARTITION, MessageKeys, Spot};
use super::outage;
use super::partition_state::{PartitionState, RestoreError};
use super::rejected;
use super::stage_error::{StageError, StageResult};
use super::stage_metrics::StageMetrics;
use super::stop::{Control, close_consumer};
use configuration::RunConfig;
use configuration::kafka::{Client, Role};
use configuration::stage::Stage as StageName;
use rdkafka::Message;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::BorrowedMessage;
use schemas::RejectReason;
use stages::stage::{BadMessage, Extent, Stage};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Messages taken before the stage looks at its commits.
const TURN: usize = 4_096;
/// Time for which a stage waits for a message while the database writes.
const PENDING: Duration = Duration::from_millis(20);
/// The same where no row came for long.
const IDLE: Duration = Duration::from_millis(200);
/// Time between two commits with the results of jobs.
const ALL: Duration = Duration::from_secs(2);

/// What a stage is given.
pub struct Setup<'a, S: Stage> {
    /// The configuration.
    pub config: &'a RunConfig,
    /// Which stage, for its consumer group.
    pub stage: StageName,
    /// Its topic.
    pub topic: String,
    /// What the stage is made from.
    pub settings: S::Settings,
    /// Where its results go.
    pub writer: mpsc::Sender<Request>,
    /// Stop and reload.
    pub control: Control,
    /// Receives signs of life.
    pub health: Health,
    /// Reads the settings again.
    pub reload: Box<dyn Fn() -> Option<S::Settings> + Send + 'a>,
    /// What is measured.
    pub metrics: StageMetrics,
}

/// Partitions with the offsets that a commit takes them to, and where its outcome comes.
type PendingCommit = (Vec<(i32, i64)>, std::sync::mpsc::Receiver<Committed>);

/// A running stage.
pub struct ExactlyOnce<'a, S: Stage> {
    setup: Setup<'a, S>,
    consumer: Client<Arc<BaseConsumer<Listener>>>,
    claims: Claims,
    /// Whether the database refused a claim.
    refused: Arc<AtomicBool>,
    held: BTreeMap<i32, PartitionState<S>>,
    pending: Option<PendingCommit>,
    schedule: CommitSchedule,
    all_taken_at: Instant,
    paused: bool,
    reloads: u64,
    lag: Lag,
    input: InputTopic,
    keys: MessageKeys,
}

/// The content of a message, if its code is right.
fn opened<'m, S: Stage>(
    keys: &MessageKeys,
    message: &'m BorrowedMessage<'_>,
) -> Result<&'m [u8], BadMessage> {
    // Clients choose the partitions of what states write; the aggregator chooses those of counters itself.
    let (partition, generation) = match S::READS_STATES {
        true => (ANY_PARTITION, generation::of(message.headers())),
        false => (message.partition(), 0),
    };
    keys.open(Spot { topic: message.topic(), partition, generation }, message.payload().unwrap_or_default())
}

impl<'a, S: Stage> ExactlyOnce<'a, S> {
    /// Joins the consumer group.
    ///
    /// # Errors
    /// Errors of Kafka.
    pub fn start(setup: Setup<'a, S>) -> StageResult<ExactlyOnce<'a, S>> {
        let claims = Claims::default();
        let poll_interval_ms = (setup.config.run.drain_s * 1000 + 3_600_000).to_string();
        let own = [
            ("partition.assignment.strategy", "cooperative-sticky"),
            // A database that is away for long must not cost the partitions.
            ("max.poll.interval.ms", poll_interval_ms.as_str()),
        ];
        let refused = Arc::new(AtomicBool::new(false));
        let (writer, control) = (setup.writer.clone(), setup.control.clone());
        let id = ClaimedId::default();
        let begin =
            claim_and_seek::<S>(writer, Arc::clone(&claims), id.clone(), control, Arc::clone(&refused));
        let listener = Listener::new(Box::new(begin), false);
        let consumer: Client<BaseConsumer<Listener>> =
            setup.config.kafka.client(Role::Consumer(setup.stage), &own, listener)?;
        consumer.subscribe(&[&setup.topic]).map_err(StageError::kafka("subscribe to the topic"))?;
        let now = Instant::now();
        let longest = Duration::from_millis(setup.config.database.commit_interval_ms);
        Ok(ExactlyOnce {
            lag: Lag::new(&setup.config.health),
            reloads: setup.control.reloads(),
            input: InputTopic::new(&setup.topic, id),
            keys: MessageKeys::of(&setup.config.kafka),
            setup,
            consumer: consumer.shared(),
            claims,
            refused,
            held: BTreeMap::new(),
            pending: None,
            schedule: CommitSchedule::new(longest, now),
            all_taken_at: now,
            paused: false,
        })
    }

    /// Runs until a stop is requested; then what is known is committed.
    ///
    /// # Errors
    /// Errors that end the stage.
    pub fn run(mut self) -> StageResult {
        let turned = self.turns();
        let begun = Instant::now();
        let drained = turned.and_then(|()| self.drain(begun + self.setup.config.run.drain()));
        let clean = drained.is_ok() && self.pending.is_none();
        let ExactlyOnce { setup, consumer, lag, input, .. } = self;
        // Questions to the brokers own the consumer, too.
        let left = close_consumer(begun + setup.config.run.close_timeout(), move || {
            drop((lag, input));
            consumer.unsubscribe();
        });
        tracing::info!(stage = S::STAGE, clean, left, "stopped");
        drained
    }

    /// Turns until a stop is requested.
    fn turns(&mut self) -> StageResult {
        while !self.setup.control.stopping() {
            self.messages()?;
            if self.refused.load(Ordering::Relaxed) {
                return Err(StageError::Claim(S::STAGE));
            }
            self.follow_changes()?;
            self.reload()?;
            self.check_commit(if self.must_commit() { IDLE } else { Duration::ZERO })?;
            let is_due = self.is_time_to_commit() || self.must_commit();
            if is_due && self.pending.is_none() {
                let jobs_are_due = self.all_taken_at.elapsed() >= ALL;
                self.commit(if jobs_are_due { Extent::AllJobs } else { Extent::Final })?;
            }
            self.keep_within_memory()?;
            self.look_at_lag();
            self.check_topic()?;
        }
        Ok(())
    }

    /// Starts the stage again where its topic was deleted or created again: the new one's first message follows the last one
    /// that is committed here.
    fn check_topic(&mut self) -> StageResult {
        if !self.input.was_replaced(&self.consumer) {
            return Ok(());
        }
        let topic = self.setup.topic.clone();
        metrics::counter!("tailback_topics_created_again_total", "topic" => topic.clone()).increment(1);
        self.drain(Instant::now() + self.setup.config.run.drain())?;
        Err(StageError::Restart(format!("the topic {topic} was deleted and created again")))
    }

    fn look_at_lag(&mut self) {
        let consumer = &self.consumer;
        consumer.context().lost().add_again(consumer.client(), &self.setup.config.kafka.brokers);
        self.setup.health.alive(S::STAGE);
        let positions =
            self.held.iter().map(|(p, held)| (self.setup.topic.clone(), *p, held.offset_of(held.position)));
        let newest_s = self.held.values().filter_map(|held| held.stage.load().newest_s).reduce(f64::max);
        self.lag.look(S::STAGE, &self.consumer, positions, newest_s, &self.setup.metrics);
    }

    /// Takes the messages that are there.
    fn messages(&mut self) -> StageResult {
        let mut wait = match self.pending {
            Some(_) => PENDING,
            None if self.schedule.is_idle(Instant::now()) => IDLE,
            None => LULL,
        };
        if self.must_commit() {
            return Ok(());
        }
        let consumer = Arc::clone(&self.consumer);
        for _ in 0..TURN {
            let Some(polled) = consumer.poll(wait) else { break };
            wait = Duration::ZERO;
            let message = match polled {
                Ok(message) => {
                    outage::KAFKA.works();
                    message
                }
                Err(error) => {
                    outage::kafka_failed(&error, &error.to_string());
                    break;
                }
            };
            let partition = message.partition();
            if !self.held.contains_key(&partition) {
                self.adopt(partition)?;
            }
            if let Some(held) = self.held.get_mut(&partition) {
                let is_of_before = S::READS_STATES && generation::of(message.headers()) < held.generation;
                let payload = (!is_of_before).then(|| opened::<S>(&self.keys, &message));
                let reason = match payload {
                    Some(Err(_)) => RejectReason::Forged,
                    _ => RejectReason::BadMessage,
                };
                match held.message(message.offset(), payload) {
                    Ok(Some(bad)) => held.reject(rejected::read(S::STAGE, &message, reason, &bad)),
                    Err(RestoreError::Recreated { .. }) if self.input.is_identified() => self.input.doubt(),
                    taken => drop(taken?),
                }
                if held.stage.must_be_taken() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether no message may be taken before what is known was given to the writer.
    fn must_commit(&self) -> bool {
        self.held.values().any(|held| held.stage.must_be_taken())
    }

    /// Makes a claimed partition one that is held: its state is read back.
    fn adopt(&mut self, partition: i32) -> StageResult {
        let claim = self.claims.lock().unwrap_or_else(PoisonError::into_inner).remove(&partition);
        if let Some(claim) = claim {
            let held = PartitionState::restore(partition, &claim, &self.setup.settings)?;
            tracing::debug!(
                stage = S::STAGE,
                partition,
                position = held.position,
                committed = held.committed,
                "partition claimed"
            );
            self.held.insert(partition, held);
        }
        Ok(())
    }

    fn follow_changes(&mut self) -> StageResult {
        for change in self.consumer.context().changes() {
            match change {
                Change::Assigned(new) => {
                    new.iter().try_for_each(|(_, partition)| self.adopt(*partition))?;
                    let of_topic = new.iter().map(|(_, partition)| partition);
                    let partitions: Vec<i32> =
                        of_topic.filter(|p| self.held.contains_key(p)).copied().collect();
                    tracing::info!(stage = S::STAGE, ?partitions, "partitions claimed");
                }
                Change::Revoked(gone) => {
                    let gone: Vec<i32> = gone.into_iter().map(|(_, partition)| partition).collect();
                    tracing::info!(stage = S::STAGE, ?gone, "partitions revoked");
                    gone.iter().for_each(|partition| drop(self.held.remove(partition)));
                    let _ = self.setup.writer.blocking_send(Request::Release(gone));
                }
            }
        }
        Ok(())
    }

    /// Reads thresholds again when requested. The state is written with them, so that a replay never crosses the change.
    fn reload(&mut self) -> StageResult {
        if self.setup.control.reloads() == self.reloads || self.held.values().any(PartitionState::replays) {
            return Ok(());
        }
        self.reloads = self.setup.control.reloads();
        let Some(settings) = (self.setup.reload)() else { return Ok(()) };
        for held in self.held.values_mut() {
            held.reload(&settings);
        }
        self.setup.settings = settings;
        tracing::info!(stage = S::STAGE, "thresholds reloaded");
        self.await_commit()?;
        // A stop came first: the drain commits what is known, in its order.
        if self.pending.is_some() { Ok(()) } else { self.commit(Extent::Everything) }
    }

    /// Pauses reading while results take too much memory, and resumes it afterwards.
    fn keep_within_memory(&mut self) -> StageResult {
        let bytes: usize = self.held.values().map(|held| held.stage.load().result_bytes).sum();
        let full = bytes > self.setup.config.run.max_buffer_mb * 1_000_000 / 2;
        if full == self.paused {
            return Ok(());
        }
        let assigned = self.consumer.assignment().map_err(StageError::kafka("read the assignment"))?;
        if full {
            self.consumer.pause(&assigned).map_err(StageError::kafka("pause reading"))?;
            tracing::warn!(
                stage = S::STAGE,
                megabytes = bytes / 1_000_000,
                "reading paused: the database is behind"
            );
        } else {
            self.consumer.resume(&assigned).map_err(StageError::kafka("resume reading"))?;
            tracing::info!(stage = S::STAGE, "reading resumed");
        }
        self.paused = full;
        Ok(())
    }
}
