//! One partition of a raw topic: how far it was read, and what waits there.

use super::super::kafka::Listener;
use aggregator::Outcome;
use rdkafka::consumer::base_consumer::PartitionQueue;
use schemas::Time;
use schemas::wire::{DroppedRow, Reached};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for which an unverified end is valid after a broker error.
pub(super) const UNVERIFIED_MAX: Duration = Duration::from_secs(3);
/// Time in which producers return after their broker did: librdkafka waits up to ten seconds before it tries
/// again.
const PRODUCERS_RETURN: Duration = Duration::from_secs(12);

/// A message that waits for its schema: offset, time of arrival, content.
type Pending = (i64, Time, Vec<u8>);

/// A raw partition that this aggregator reads.
pub(super) struct RawPartition {
    topic: String,
    partition: i32,
    queue: Arc<PartitionQueue<Listener>>,
    at_end: bool,
    unverified: bool,
    /// When it was known last that there is nothing more.
    confirmed_at: Instant,
    /// Up to when it is known that there was nothing more, while nothing comes.
    ended: Time,
    reached: Option<Time>,
    next_offset: Option<i64>,
    begin: Option<i64>,
    dropped: Vec<DroppedRow>,
    pending: Option<Pending>,
    /// When a message was received last, and when the partition was resumed last.
    received_at: Instant,
    resumed_at: Instant,
    /// When a broker answered last, and since when queries are unanswered.
    answered_at: Instant,
    unanswered_since: Instant,
    /// Whether something was wrong with a broker since its end was confirmed, and when the broker came back after that.
    broker_failed: bool,
    back_since: Option<Instant>,
}

impl RawPartition {
    /// A partition of which nothing was read yet.
    pub(super) fn new(topic: &str, partition: i32, queue: PartitionQueue<Listener>) -> RawPartition {
        RawPartition {
            topic: topic.to_string(),
            partition,
            queue: Arc::new(queue),
            at_end: false,
            unverified: false,
            confirmed_at: Instant::now(),
            ended: Time::MIN,
            reached: None,
            next_offset: None,
            begin: None,
            dropped: Vec::new(),
            pending: None,
            received_at: Instant::now(),
            resumed_at: Instant::now(),
            answered_at: Instant::now(),
            unanswered_since: Instant::now(),
            broker_failed: false,
            back_since: None,
        }
    }

    /// Whether this is that partition.
    pub(super) fn is(&self, topic: &str, partition: i32) -> bool {
        self.partition == partition && self.topic == topic
    }

    /// Its topic.
    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    /// Its number in the topic.
    pub(super) fn partition(&self) -> i32 {
        self.partition
    }

    /// Where its messages come from.
    pub(super) fn queue(&self) -> Arc<PartitionQueue<Listener>> {
        Arc::clone(&self.queue)
    }

    /// Notes that all there is was read.
    pub(super) fn set_at_end(&mut self) {
        (self.at_end, self.unverified, self.received_at) = (true, false, Instant::now());
        self.confirmed_at = self.received_at;
        self.note_broker_answer();
        self.broker_failed = false;
    }

    /// Notes that something is wrong with a broker: until its end is confirmed it is not believed for long.
    pub(super) fn note_broker_error(&mut self) {
        self.broker_failed = true;
    }

    /// Notes that it is read again after its broker was away.
    pub(super) fn note_broker_return(&mut self) {
        self.broker_failed = true;
        self.back_since = Some(Instant::now());
    }

    fn note_broker_answer(&mut self) {
        if self.broker_failed && self.answered_at.elapsed() > UNVERIFIED_MAX {
            self.back_since = Some(Instant::now());
        }
        self.answered_at = Instant::now();
        self.unanswered_since = self.answered_at;
    }

    /// Whether there is nothing more that could be of an earlier time than now.
    fn is_ended(&self) -> bool {
        let trusted = !self.broker_failed || self.confirmed_at.elapsed() < UNVERIFIED_MAX;
        self.at_end && trusted && self.producers_returned()
    }

    /// Whether producers had time to return after the broker did.
    fn producers_returned(&self) -> bool {
        self.back_since.is_none_or(|since| since.elapsed() > PRODUCERS_RETURN)
    }

    /// Marks the end as unverified: time passed in which more rows may have arrived.
    pub(super) fn mark_end_unverified(&mut self) {
        self.unverified |= self.at_end;
        self.at_end = false;
    }

    /// Whether its end is doubted.
    pub(super) fn is_unverified(&self) -> bool {
        self.unverified
    }

    /// Whether its end holds but was not confirmed for so long.
    pub(super) fn must_confirm(&self, after: Duration) -> bool {
        self.at_end && self.confirmed_at.elapsed() > after
    }

    /// Marks the end as unverified: nothing arrived, because everything was read or because an event of Kafka got lost.
    pub(super) fn mark_silence_unverified(&mut self, after: Duration) {
        self.unverified |= !self.at_end && self.is_stalled(after);
    }

    /// Verifies the end: reading began at offset `begin`, and at `asked` the broker had messages up to before `high`. If
    /// that was just now (`is_fresh`) the end is verified; otherwise it was valid then and stays unverified.
    pub(super) fn settle(&mut self, begin: i64, high: i64, asked: Time, is_fresh: bool) {
        self.begin.get_or_insert(begin);
        self.note_broker_answer();
        let has_ended = self.next_offset.unwrap_or(begin) >= high;
        if self.at_end && is_fresh {
            if has_ended {
                (self.confirmed_at, self.broker_failed) = (self.answered_at, false);
            }
            // There is more, which arrives soon unless an event of Kafka got lost.
            self.at_end = has_ended || !self.broker_failed || !self.is_stalled(UNVERIFIED_MAX);
        }
        if has_ended && self.producers_returned() {
            self.ended = self.ended.max(asked);
        }
        if !self.unverified {
            return;
        }
        self.unverified = has_ended && !is_fresh;
        (self.at_end, self.confirmed_at) = (has_ended && is_fresh, self.answered_at);
    }

    /// The offset where reading began, as it was known first.
    pub(super) fn begin(&self) -> Option<i64> {
        self.begin
    }

    /// Whether it must be resumed: nothing arrived for so long although the broker has more, which was just verified. The
    /// next resume waits as long again.
    pub(super) fn must_resume(&mut self, after: Duration) -> bool {
        let must = !self.at_end
            && !self.unverified
            && self.pending.is_none()
            && self.is_stalled(after)
            && self.resumed_at.elapsed() > after;
        if must {
            self.resumed_at = Instant::now();
        }
        must
    }

    /// Whether all there is was read.
    pub(super) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Notes that nothing is taken of it for now: what waits there is no silence.
    pub(super) fn note_paused(&mut self) {
        self.received_at = Instant::now();
        (self.answered_at, self.unanswered_since) = (self.received_at, self.received_at);
    }

    /// Restarts the timer of unanswered queries after a time without queries.
    pub(super) fn restart_answer_timer(&mut self) {
        self.unanswered_since = Instant::now();
    }

    /// Whether no broker answered for so long after an error.
    pub(super) fn is_unreachable(&self, after: Duration) -> bool {
        self.broker_failed && self.unanswered_since.elapsed() > after
    }

    /// Whether nothing came for so long although there should be more.
    pub(super) fn is_stalled(&self, after: Duration) -> bool {
        self.received_at.elapsed() > after
    }

    /// Notes the outcome of the message at `offset`.
    pub(super) fn done(&mut self, offset: i64, outcome: Outcome) {
        if let Outcome::Dropped(reason) | Outcome::Rows(_, Some(reason)) = outcome {
            self.dropped.push(DroppedRow { offset, reason });
        }
        (self.next_offset, self.at_end, self.unverified) = (Some(offset + 1), false, false);
        self.note_broker_answer();
        (self.ended, self.received_at) = (Time::MIN, self.answered_at);
    }

    /// Notes the time of the latest row.
    pub(super) fn advance(&mut self, time: Time) {
        self.reached = Some(time);
    }

    /// Time of the latest row.
    pub(super) fn reached(&self) -> Option<Time> {
        self.reached
    }

    /// How far it was read: up to `now` at its end. A partition without any row may begin with any time.
    pub(super) fn progress(&mut self, now: Time) -> Reached {
        if self.is_ended() {
            self.ended = now;
        }
        let time = self.reached.unwrap_or(Time::MIN).max(self.ended);
        Reached { topic: self.topic.clone(), partition: self.partition, time }
    }

    /// The offset from which a restart continues.
    pub(super) fn next_offset(&self) -> Option<i64> {
        self.next_offset
    }

    /// Rows that were not used since the last call.
    pub(super) fn take_dropped(&mut self) -> Vec<DroppedRow> {
        std::mem::take(&mut self.dropped)
    }

    /// Keeps a message until its schema is known.
    pub(super) fn keep_pending(&mut self, offset: i64, arrived: Time, payload: &[u8]) {
        self.pending = Some((offset, arrived, payload.to_vec()));
    }

    /// Whether a message waits for its schema.
    pub(super) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The message that waits.
    pub(super) fn take_pending(&mut self) -> Option<Pending> {
        self.pending.take()
    }
}
