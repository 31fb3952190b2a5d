//! First and last offsets of raw partitions, fetched from the brokers for all partitions in one request: one request a
//! partition would take longer than new rows take to arrive.

use super::super::background_query::{BackgroundQuery, QueryResult};
use super::super::clock::now;
use super::super::kafka::{self, Listener};
use super::super::outage;
use super::STALLED;
use super::end_state::{EndEvent, Remedy, UNVERIFIED_MAX};
use super::raw::{EndCheck, RawPartition};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use schemas::Time;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A pause after which the end of a raw partition is unverified.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// Time in which a broker must answer a query of offsets: far more than the fetch before it may last.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// A raw partition that has more, and from which nothing was received for so long, is resumed by a seek.
pub(super) const RESUME_AFTER: Duration = Duration::from_secs(10);
/// Time after a broker error in which new assignments are taken for its consequence: what a consumer group takes to notice
/// that members are gone, and to rebalance.
const AFTERMATH: Duration = Duration::from_secs(30);

/// Checks of the ends of raw partitions: when the brokers are queried, and what they answer.
pub(super) struct EndChecks {
    /// Where reading begins what the group never committed.
    reset: Reset,
    /// Where unverified partitions end.
    query: BackgroundQuery<Result<Vec<End>, KafkaError>>,
    /// Broker errors so far, the time of the last one, and since when the brokers do not answer.
    errors: u64,
    failed_at: Option<Instant>,
    unanswered_since: Option<Instant>,
    /// When silent ends were marked last, and when the last check ended.
    confirmed: Instant,
    turned: Instant,
    /// A partition that gives nothing even after seeks.
    stuck: Option<String>,
}

impl EndChecks {
    /// Nothing is unverified yet, by a consumer of these properties.
    pub(super) fn new(properties: &[(String, String)]) -> EndChecks {
        let now = Instant::now();
        let query = BackgroundQuery::new("ends");
        let (failed_at, unanswered_since) = (None, None);
        let reset = Reset::of(properties);
        EndChecks {
            reset,
            query,
            errors: 0,
            failed_at,
            unanswered_since,
            confirmed: now,
            turned: now,
            stuck: None,
        }
    }

    /// Topic and number of a partition that only another consumer makes readable again, if there is one.
    pub(super) fn stuck(&self) -> Option<&str> {
        self.stuck.as_deref()
    }

    /// Whether partitions that are assigned now are so because something was wrong with a broker.
    pub(super) fn is_aftermath(&self) -> bool {
        self.failed_at.is_some_and(|at| at.elapsed() < AFTERMATH)
    }

    /// Verifies the ends of raw partitions. After a pause of this process there may be more rows: then the broker is
    /// queried, and until it answers the progress of the partition stays. The broker is queried too when nothing arrives:
    /// after a broker error an end is valid for a short time only unless it is verified.
    pub(super) fn check(&mut self, consumer: &Arc<BaseConsumer<Listener>>, raws: &mut [RawPartition]) {
        let errors = consumer.context().troubles();
        if std::mem::replace(&mut self.errors, errors) != errors {
            self.note_broker_error(raws);
        }
        let paused = self.turned.elapsed() > PAUSE;
        if paused {
            self.confirmed = Instant::now();
            note(raws.iter_mut(), EndEvent::Paused);
        } else if self.confirmed.elapsed() > PAUSE {
            let now = Instant::now();
            self.confirmed = now;
            note(raws.iter_mut().filter(|raw| raw.end.is_stalled(STALLED, now)), EndEvent::Silent);
            resume_paused(consumer, raws);
        }
        self.settle(consumer, raws, paused);
        let unverified = unverified(raws, PAUSE);
        if unverified.is_empty() {
            // An old failure is irrelevant for the next query.
            self.unanswered_since = None;
        } else if !self.query.is_running() {
            let (consumer, reset) = (Arc::clone(consumer), self.reset);
            self.query.start(move |is_cancelled| fetch_ends(&consumer, &unverified, reset, is_cancelled));
        }
        self.turned = Instant::now();
    }

    /// Uses the answer to the latest query, if it has arrived. Without one an end stays unverified; one from before a pause
    /// (`paused`) is outdated.
    fn settle(&mut self, consumer: &Arc<BaseConsumer<Listener>>, raws: &mut [RawPartition], paused: bool) {
        let Some(QueryResult { started, took, value }) = self.query.result() else { return };
        let at = (now().plus_seconds(-started.elapsed().as_secs_f64()), took < PAUSE && !paused);
        match value.and_then(|ends| settle(consumer, raws, &ends, at)) {
            Ok(stuck) => (self.unanswered_since, self.stuck) = (None, stuck),
            Err(error) => {
                tracing::debug!(%error, "failed to fetch the ends of raw partitions; retrying");
                // A frozen connection is no error to librdkafka for a minute.
                if self.unanswered_since.get_or_insert(started).elapsed() > UNVERIFIED_MAX {
                    self.note_broker_error(raws);
                }
            }
        }
    }

    fn note_broker_error(&mut self, raws: &mut [RawPartition]) {
        self.failed_at = Some(Instant::now());
        note(raws.iter_mut(), EndEvent::BrokerFailed);
    }
}

/// Resumes partitions that gave nothing since they were assigned, paused: librdkafka may lose the first resume when it
/// begins to fetch at that moment (confluentinc/librdkafka#5591). One that is not paused stays as it is.
fn resume_paused(consumer: &BaseConsumer<Listener>, raws: &[RawPartition]) {
    let now = Instant::now();
    let gave_nothing = |raw: &&RawPartition| {
        raw.position.next.is_none() && !raw.end.is_reached() && raw.end.is_stalled(STALLED, now)
    };
    let mut paused = TopicPartitionList::new();
    for raw in raws.iter().filter(gave_nothing) {
        paused.add_partition(&raw.topic, raw.partition);
    }
    if paused.count() > 0
        && let Err(error) = consumer.resume(&paused)
    {
        outage::kafka_failed(&error, &format!("failed to resume raw partitions: {error}"));
    }
}

fn note<'a>(raws: impl Iterator<Item = &'a mut RawPartition>, event: EndEvent) {
    let now = Instant::now();
    raws.for_each(|raw| raw.end.note(event, now));
}

/// A raw partition whose end has to be verified.
#[derive(Debug)]
struct UnverifiedEnd {
    topic: String,
    partition: i32,
    /// The offset up to which it was read, if any message of it was.
    next: Option<i64>,
    /// Where reading it began, as it was known first.
    begin: Option<i64>,
}

/// Offsets of one partition.
#[derive(Debug, PartialEq, Eq)]
struct End {
    topic: String,
    partition: i32,
    /// Where reading began; of one that was read since it does not matter.
    begin: i64,
    /// The offset after the last one.
    high: i64,
    /// Whether the topic was deleted and created again: it has messages, and fewer than were read. They are read from the
    /// first on.
    is_created_again: bool,
}

impl UnverifiedEnd {
    fn end(&self, begin: i64, high: i64, reset: Reset) -> End {
        let read = self.next.unwrap_or(begin);
        let is_created_again = reset == Reset::ToFirst && 0 < high && high < read;
        End { topic: self.topic.clone(), partition: self.partition, begin, high, is_created_again }
    }
}

/// Where reading a partition begins that the group never committed: `auto.offset.reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reset {
    /// With its first message.
    ToFirst,
    /// With messages written from then on: nearly its end when it was first fetched.
    ToEnd,
}

impl Reset {
    /// As librdkafka reads the property.
    fn of(properties: &[(String, String)]) -> Reset {
        let value =
            properties.iter().find(|(name, _)| name == "auto.offset.reset").map(|(_, value)| value.as_str());
        if matches!(value, Some("latest" | "largest" | "end")) { Reset::ToEnd } else { Reset::ToFirst }
    }
}

/// The partitions whose ends are unverified, or were not confirmed for longer than `after`.
fn unverified(raws: &[RawPartition], after: Duration) -> Vec<UnverifiedEnd> {
    let of_raw = |raw: &RawPartition| UnverifiedEnd {
        topic: raw.topic.clone(),
        partition: raw.partition,
        next: raw.position.next,
        begin: raw.position.begin,
    };
    let now = Instant::now();
    raws.iter().filter(|raw| raw.end.must_verify(after, now)).map(of_raw).collect()
}

/// Fetches ends; partitions whose offsets the brokers do not know are left out, and all if the query is cancelled.
fn fetch_ends(
    consumer: &BaseConsumer<Listener>,
    unverified: &[UnverifiedEnd],
    reset: Reset,
    is_cancelled: &AtomicBool,
) -> Result<Vec<End>, KafkaError> {
    let partitions = || unverified.iter().map(|one| (one.topic.as_str(), one.partition));
    let highs = kafka::offsets(consumer, partitions(), Offset::End, REQUEST_TIMEOUT)?;
    if is_cancelled.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let begins = begins(consumer, unverified, reset, &highs)?;
    let of_one = |((one, begin), high): ((&UnverifiedEnd, Option<i64>), &Option<i64>)| {
        Some(one.end(begin?, (*high)?, reset))
    };
    Ok(unverified.iter().zip(begins).zip(&highs).filter_map(of_one).collect())
}

/// Where reading began: the committed offset, or what `reset` requires.
fn begins(
    consumer: &BaseConsumer<Listener>,
    unverified: &[UnverifiedEnd],
    reset: Reset,
    highs: &[Option<i64>],
) -> Result<Vec<Option<i64>>, KafkaError> {
    if !unverified.iter().any(|one| one.next.is_none()) {
        return Ok(vec![Some(0); unverified.len()]);
    }
    let mut started = TopicPartitionList::new();
    for one in unverified {
        started.add_partition(&one.topic, one.partition);
    }
    let committed = consumer.committed_offsets(started, REQUEST_TIMEOUT)?;
    let uncommitted = match reset {
        Reset::ToFirst => {
            let all = unverified.iter().map(|one| (one.topic.as_str(), one.partition));
            kafka::offsets(consumer, all, Offset::Beginning, REQUEST_TIMEOUT)?
        }
        Reset::ToEnd => unverified.iter().zip(highs).map(|(one, high)| one.begin.or(*high)).collect(),
    };
    let of_one = |(one, uncommitted): (&UnverifiedEnd, Option<i64>)| {
        kafka::known(&committed, &one.topic, one.partition).or(uncommitted)
    };
    Ok(unverified.iter().zip(uncommitted).map(of_one).collect())
}

/// Applies `ends`, which were fetched at `started`; `is_fresh` if that was just now. Partitions that have more, and from
/// which nothing was received for [`RESUME_AFTER`], are resumed. Returns one that stays without messages all the same.
fn settle(
    consumer: &BaseConsumer<Listener>,
    raws: &mut [RawPartition],
    ends: &[End],
    (started, is_fresh): (Time, bool),
) -> Result<Option<String>, KafkaError> {
    let mut stuck = None;
    let positions = consumer.position()?;
    for end in ends {
        let Some(raw) = raws.iter_mut().find(|raw| raw.is(&end.topic, end.partition)) else { continue };
        let (read, now) = (kafka::known(&positions, &end.topic, end.partition), Instant::now());
        let &End { begin, high, is_created_again, .. } = end;
        raw.check_end(EndCheck { begin, high, is_created_again, read, started, is_fresh }, now);
        if !raw.pending.is_empty() {
            continue;
        }
        match raw.end.remedy(RESUME_AFTER, now) {
            Some(Remedy::Seek) => resume(consumer, raw, end.begin)?,
            Some(Remedy::Restart) => stuck = Some(format!("{}/{}", raw.topic, raw.partition)),
            None => {}
        }
    }
    Ok(stuck)
}

/// Has Kafka send a partition again from where it was read up to, without waiting for it.
fn resume(consumer: &BaseConsumer<Listener>, raw: &RawPartition, begin: i64) -> Result<(), KafkaError> {
    let from = raw.position.next.unwrap_or(begin);
    tracing::warn!(
        topic = raw.topic,
        partition = raw.partition,
        offset = from,
        "raw partition stalled with data left; seeking to resume it"
    );
    consumer.seek(&raw.topic, raw.partition, Offset::Offset(from), Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_created_again_is_at_its_end_only_when_empty() {
        let (first, last) = (Reset::ToFirst, Reset::ToEnd);
        for (next, begin, high, reset, want) in [
            (Some(100), 0, 100, first, false),
            (Some(100), 0, 101, first, false),
            (Some(100), 0, 3, first, true),
            (Some(100), 0, 0, first, false),
            // Nothing was read of it since this process started, but the group had committed 100.
            (None, 100, 3, first, true),
            (None, 0, 3, first, false),
            // Messages before the end are not wanted.
            (Some(100), 0, 3, last, false),
        ] {
            let raw = UnverifiedEnd { topic: "ldms.x".into(), partition: 0, next, begin: None };
            let end = raw.end(begin, high, reset);
            assert_eq!(end.is_created_again, want, "{next:?} {begin} {high} {reset:?}");
        }
    }
}
