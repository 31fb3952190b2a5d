//! One partition of a raw topic: how far it was read, and what waits there.

use super::super::kafka::Listener;
use super::end_state::{EndEvent, PartitionEnd, UNVERIFIED_MAX};
use aggregator::Outcome;
use rdkafka::consumer::base_consumer::PartitionQueue;
use schemas::Time;
use schemas::wire::{DroppedRow, Reached};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// A raw partition that this aggregator reads.
pub(super) struct RawPartition {
    pub(super) topic: String,
    pub(super) partition: i32,
    pub(super) queue: Arc<PartitionQueue<Listener>>,
    pub(super) end: PartitionEnd,
    pub(super) position: Position,
    /// Rows that were not used, until they are announced.
    pub(super) dropped: Vec<DroppedRow>,
    /// A message that waits for its schema, and those that were fetched before this partition had its queue.
    pub(super) pending: VecDeque<Pending>,
}

/// How far a partition was read.
#[derive(Debug)]
pub(super) struct Position {
    /// The offset where reading began, as it was known first.
    pub(super) begin: Option<i64>,
    /// The offset from which a restart continues.
    pub(super) next: Option<i64>,
    /// Time of the latest row.
    pub(super) reached: Option<Time>,
    /// Time up to which no more messages exist; [`Time::MIN`] from the next message on.
    ended: Time,
    /// Whether the clock alone showed that: recorded rows may follow, and then other partitions must wait for them.
    is_ended_by_clock: bool,
}

/// A message that waits.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) offset: i64,
    pub(super) arrived: Time,
    pub(super) payload: Vec<u8>,
}

/// What the broker answered about a partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndCheck {
    /// The offset where reading began.
    pub(super) begin: i64,
    /// The offset after the last message.
    pub(super) high: i64,
    /// Whether the topic was deleted and created again, and has messages.
    pub(super) is_created_again: bool,
    /// The offset up to which the consumer has read, with what is no message: markers of transactions.
    pub(super) read: Option<i64>,
    /// When the broker was queried.
    pub(super) started: Time,
    /// Whether that was just now.
    pub(super) is_fresh: bool,
}

impl RawPartition {
    /// A partition of which nothing was read yet.
    pub(super) fn new(topic: &str, partition: i32, queue: PartitionQueue<Listener>) -> RawPartition {
        RawPartition {
            topic: topic.to_string(),
            partition,
            queue: Arc::new(queue),
            end: PartitionEnd::new(Instant::now()),
            position: Position {
                begin: None,
                next: None,
                reached: None,
                ended: Time::MIN,
                is_ended_by_clock: false,
            },
            dropped: Vec::new(),
            pending: VecDeque::new(),
        }
    }

    /// Whether this is that partition.
    pub(super) fn is(&self, topic: &str, partition: i32) -> bool {
        self.partition == partition && self.topic == topic
    }

    /// Notes the outcome of the message at `offset`.
    pub(super) fn done(&mut self, offset: i64, outcome: Outcome) {
        if let Outcome::Dropped(reason) | Outcome::Rows(_, Some(reason)) = outcome {
            self.dropped.push(DroppedRow { offset, reason });
        }
        (self.position.next, self.position.ended) = (Some(offset + 1), Time::MIN);
        self.end.note(EndEvent::Message, Instant::now());
    }

    /// Keeps the first message until its schema is known: the end is not reached before.
    pub(super) fn wait_for_schema(&mut self, first: Pending) {
        self.pending.push_front(first);
        if self.end.is_reached() {
            self.end.note(EndEvent::Message, Instant::now());
        }
    }

    /// Compares the position with the end that the broker reported.
    pub(super) fn check_end(&mut self, check: EndCheck, now: Instant) {
        self.position.begin.get_or_insert(check.begin);
        let read = self.position.next.unwrap_or(check.begin).max(check.read.unwrap_or(0));
        let has_ended = self.pending.is_empty() && !check.is_created_again && read >= check.high;
        let event = match (has_ended, check.is_fresh) {
            (true, true) => EndEvent::NoMore,
            (true, false) => EndEvent::NoMoreEarlier,
            (false, is_fresh) => {
                EndEvent::More { is_late: is_fresh && self.end.is_stalled(UNVERIFIED_MAX, now) }
            }
        };
        self.end.note(event, now);
        if has_ended && self.end.producers_returned(now) {
            self.withdraw_clock();
            self.position.ended = self.position.ended.max(check.started);
        }
    }

    fn withdraw_clock(&mut self) {
        if std::mem::take(&mut self.position.is_ended_by_clock) {
            self.position.ended = Time::MIN;
        }
    }

    /// How far it was read: up to `clock` at its end, for as long as the end is valid. A partition without any row may begin
    /// with any time.
    pub(super) fn progress(&mut self, clock: Time, now: Instant) -> Reached {
        if self.end.is_valid(now) {
            (self.position.ended, self.position.is_ended_by_clock) = (clock, true);
        } else {
            self.withdraw_clock();
        }
        let time = self.position.reached.unwrap_or(Time::MIN).max(self.position.ended);
        Reached { topic: self.topic.clone(), partition: self.partition, time }
    }
}
