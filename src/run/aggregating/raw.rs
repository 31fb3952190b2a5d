//! One partition of a raw topic: how far it was read, and what waits there.

use super::super::kafka::Listener;
use aggregator::Outcome;
use rdkafka::consumer::base_consumer::PartitionQueue;
use schemas::Time;
use schemas::wire::{DroppedRow, Reached};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for which an end is believed that nobody confirms, when something is wrong with a broker.
pub(super) const TRUSTED: Duration = Duration::from_secs(3);
/// Time in which those who send rows come back after their broker did: librdkafka waits up to ten seconds before it tries
/// again.
const RETURN: Duration = Duration::from_secs(12);

/// A message that waits for its schema: offset, time of arrival, content.
type Pending = (i64, Time, Vec<u8>);

/// A raw partition that this aggregator reads.
pub(super) struct RawPartition {
    topic: String,
    partition: i32,
    queue: Arc<PartitionQueue<Listener>>,
    at_end: bool,
    doubted: bool,
    /// When it was known last that there is nothing more.
    confirmed: Instant,
    /// Up to when it is known that there was nothing more, while nothing comes.
    ended: Time,
    reached: Option<Time>,
    next_offset: Option<i64>,
    begin: Option<i64>,
    dropped: Vec<DroppedRow>,
    pending: Option<Pending>,
    /// When something came of it last, and when it was asked for anew.
    heard: Instant,
    nudged: Instant,
    /// When a broker said something of it last, and since when nobody did although there was somebody to ask.
    answered: Instant,
    unanswered: Instant,
    /// Whether something was wrong with a broker since its end was confirmed, and when the broker came back after that.
    is_suspect: bool,
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
            doubted: false,
            confirmed: Instant::now(),
            ended: Time::MIN,
            reached: None,
            next_offset: None,
            begin: None,
            dropped: Vec::new(),
            pending: None,
            heard: Instant::now(),
            nudged: Instant::now(),
            answered: Instant::now(),
            unanswered: Instant::now(),
            is_suspect: false,
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
        (self.at_end, self.doubted, self.heard) = (true, false, Instant::now());
        self.confirmed = self.heard;
        self.hear_of_broker();
        self.is_suspect = false;
    }

    /// Notes that something is wrong with a broker: until its end is confirmed it is not believed for long.
    pub(super) fn suspect(&mut self) {
        self.is_suspect = true;
    }

    /// Notes that it is read again after its broker was away.
    pub(super) fn comes_back(&mut self) {
        self.is_suspect = true;
        self.back_since = Some(Instant::now());
    }

    fn hear_of_broker(&mut self) {
        if self.is_suspect && self.answered.elapsed() > TRUSTED {
            self.back_since = Some(Instant::now());
        }
        self.answered = Instant::now();
        self.unanswered = self.answered;
    }

    /// Whether there is nothing more that could be of an earlier time than now.
    fn is_ended(&self) -> bool {
        let trusted = !self.is_suspect || self.confirmed.elapsed() < TRUSTED;
        self.at_end && trusted && self.has_returned()
    }

    /// Whether those who send rows are there as far as the broker is.
    fn has_returned(&self) -> bool {
        self.back_since.is_none_or(|since| since.elapsed() > RETURN)
    }

    /// Notes that nobody knows whether all there is was read: time passed in which more may have come.
    pub(super) fn doubt_end(&mut self) {
        self.doubted |= self.at_end;
        self.at_end = false;
    }

    /// Whether its end is doubted.
    pub(super) fn is_doubted(&self) -> bool {
        self.doubted
    }

    /// Whether its end holds but was not confirmed for so long.
    pub(super) fn must_confirm(&self, after: Duration) -> bool {
        self.at_end && self.confirmed.elapsed() > after
    }

    /// Notes that nobody knows whether it is silent since all there is was read, or since a word of Kafka got lost.
    pub(super) fn doubt_silence(&mut self, after: Duration) {
        self.doubted |= !self.at_end && self.stuck(after);
    }

    /// Settles a doubt: reading began at offset `begin`, and at `asked` the broker had messages up to before `high`. If
    /// that was just now (`is_fresh`) the end holds for the moment; otherwise it held then, and the doubt stays.
    pub(super) fn settle(&mut self, begin: i64, high: i64, asked: Time, is_fresh: bool) {
        self.begin.get_or_insert(begin);
        self.hear_of_broker();
        let has_ended = self.next_offset.unwrap_or(begin) >= high;
        if self.at_end && is_fresh {
            if has_ended {
                (self.confirmed, self.is_suspect) = (self.answered, false);
            }
            // There is more, which comes in a moment unless a word of Kafka got lost.
            self.at_end = has_ended || !self.is_suspect || !self.stuck(TRUSTED);
        }
        if has_ended && self.has_returned() {
            self.ended = self.ended.max(asked);
        }
        if !self.doubted {
            return;
        }
        self.doubted = has_ended && !is_fresh;
        (self.at_end, self.confirmed) = (has_ended && is_fresh, self.answered);
    }

    /// The offset where reading began, as it was known first.
    pub(super) fn begin(&self) -> Option<i64> {
        self.begin
    }

    /// Whether it must be asked for anew: for so long nothing came although the broker has more, which was settled just
    /// now. It is then waited for as long again.
    pub(super) fn must_nudge(&mut self, after: Duration) -> bool {
        let must = !self.at_end
            && !self.doubted
            && self.pending.is_none()
            && self.stuck(after)
            && self.nudged.elapsed() > after;
        if must {
            self.nudged = Instant::now();
        }
        must
    }

    /// Whether all there is was read.
    pub(super) fn at_end(&self) -> bool {
        self.at_end
    }

    /// Notes that nothing is taken of it for now: what waits there is no silence.
    pub(super) fn holds(&mut self) {
        self.heard = Instant::now();
        (self.answered, self.unanswered) = (self.heard, self.heard);
    }

    /// Notes that nobody asked for a while.
    pub(super) fn was_left_alone(&mut self) {
        self.unanswered = Instant::now();
    }

    /// Whether no broker said anything of it for so long.
    pub(super) fn is_away(&self, after: Duration) -> bool {
        self.is_suspect && self.unanswered.elapsed() > after
    }

    /// Whether nothing came for so long although there should be more.
    pub(super) fn stuck(&self, after: Duration) -> bool {
        self.heard.elapsed() > after
    }

    /// Notes what became of the message at `offset`.
    pub(super) fn done(&mut self, offset: i64, outcome: Outcome) {
        if let Outcome::Dropped(reason) | Outcome::Rows(_, Some(reason)) = outcome {
            self.dropped.push(DroppedRow { offset, reason });
        }
        (self.next_offset, self.at_end, self.doubted) = (Some(offset + 1), false, false);
        self.hear_of_broker();
        (self.ended, self.heard) = (Time::MIN, self.answered);
    }

    /// Notes the time of the latest row.
    pub(super) fn advance(&mut self, time: Time) {
        self.reached = Some(time);
    }

    /// Time of the latest row.
    pub(super) fn reached(&self) -> Option<Time> {
        self.reached
    }

    /// How far it was read: where the end was reached, up to `now`. One that was not heard of yet may begin with any
    /// time.
    pub(super) fn progress(&mut self, now: Time) -> Reached {
        if self.is_ended() {
            self.ended = now;
        }
        let time = self.reached.unwrap_or(Time::MIN).max(self.ended);
        Reached { topic: self.topic.clone(), partition: self.partition, time }
    }

    /// The offset from which to go on after a restart.
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
