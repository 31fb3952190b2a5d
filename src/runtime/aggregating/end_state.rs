//! Whether a raw partition was read to its end, so that its progress may be announced as now.
//!
//! | state      | `Message` | `Eof` | `NoMore`   | `More`         | `Silent`   | `Paused`   | `BrokerFailed` |
//! |------------|-----------|-------|------------|----------------|------------|------------|----------------|
//! | Reading    |           | AtEnd |            |                | Unverified |            | notes failure  |
//! | AtEnd      | Reading   | AtEnd | AtEnd      | Reading        |            | Unverified | BrokerDown     |
//! | Unverified | Reading   | AtEnd | AtEnd (1)  | Reading        |            |            | notes failure  |
//! | BrokerDown | Reading   | AtEnd | AtEnd      | Reading (2)    |            | Unverified |                |
//!
//! An empty cell changes nothing; `BrokerReturned` is as `BrokerFailed`; `NoMoreEarlier`, `Skipped` and `Refused` concern the
//! timers only. (1) BrokerDown after a noted failure, until a second check confirms the end. (2) If no message arrived for
//! [`UNVERIFIED_MAX`].

use std::time::{Duration, Instant};

/// Time for which an end is valid that the broker does not confirm: a fetch may be late.
pub(super) const UNVERIFIED_MAX: Duration = Duration::from_secs(3);
/// Seeks without any message after which the consumer itself is broken.
const SEEKS_MAX: u32 = 2;
/// Time in which producers return after their broker did: librdkafka waits up to ten seconds before it tries
/// again.
const PRODUCERS_RETURN: Duration = Duration::from_secs(12);

/// What is known of the end. `failed`: a broker failed, and no end was confirmed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndState {
    /// The broker may have more messages.
    Reading { failed: bool },
    /// Every message was read; when that was confirmed last.
    AtEnd { confirmed: Instant },
    /// Perhaps every message was read: the broker must be queried.
    Unverified { failed: bool },
    /// Every message was read, but a broker failed since it was `confirmed`.
    BrokerDown { confirmed: Instant },
}

/// What happened to a raw partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndEvent {
    /// A message arrived.
    Message,
    /// Kafka reported the end of the partition.
    Eof,
    /// The broker just answered that it has no more messages.
    NoMore,
    /// The broker had no more messages some time ago: the answer is outdated.
    NoMoreEarlier,
    /// The broker has more messages; `is_late` if the answer is fresh and none arrived for [`UNVERIFIED_MAX`].
    More { is_late: bool },
    /// No message arrived for a while: all were read, or an event of Kafka got lost.
    Silent,
    /// This process paused: more messages may have arrived.
    Paused,
    /// A broker, or the connection to it, failed.
    BrokerFailed,
    /// The partition was assigned after a broker failed and returned.
    BrokerReturned,
    /// Kafka refused to give messages, as without the right to read: another consumer would get the same answer.
    Refused,
    /// The partition is ahead of the others and is not read for now; the silence timer restarts.
    Skipped,
}

impl EndState {
    fn next(self, event: EndEvent, now: Instant) -> EndState {
        use EndEvent::{BrokerFailed, BrokerReturned, Eof, Message, More, NoMore, Paused, Silent};
        use EndState::{AtEnd, BrokerDown, Reading, Unverified};
        let failed = self.has_failed();
        match (self, event) {
            (_, Message) => Reading { failed },
            (_, Eof) | (AtEnd { .. } | BrokerDown { .. } | Unverified { failed: false }, NoMore) => {
                AtEnd { confirmed: now }
            }
            (Unverified { failed: true }, NoMore) => BrokerDown { confirmed: now },
            (AtEnd { .. } | Unverified { .. }, More { .. }) | (BrokerDown { .. }, More { is_late: true }) => {
                Reading { failed }
            }
            (Reading { .. }, Silent) | (AtEnd { .. } | BrokerDown { .. }, Paused) => Unverified { failed },
            (Reading { .. }, BrokerFailed | BrokerReturned) => Reading { failed: true },
            (Unverified { .. }, BrokerFailed | BrokerReturned) => Unverified { failed: true },
            (AtEnd { confirmed }, BrokerFailed | BrokerReturned) => BrokerDown { confirmed },
            (unchanged, _) => unchanged,
        }
    }

    fn has_failed(self) -> bool {
        match self {
            EndState::Reading { failed } | EndState::Unverified { failed } => failed,
            EndState::AtEnd { .. } => false,
            EndState::BrokerDown { .. } => true,
        }
    }
}

/// The end of a raw partition: its state and the timers of its events.
#[derive(Debug)]
pub(super) struct PartitionEnd {
    state: EndState,
    /// The last message, or the time up to which none was expected.
    received: Instant,
    /// The last answer of a broker.
    answered: Instant,
    /// Since when queries are unanswered.
    unanswered_since: Instant,
    /// When a broker answered again after a failure.
    returned: Option<Instant>,
    /// The last seek, and the seeks since a message was received.
    resumed: Instant,
    seeks: u32,
}

/// What makes a partition give messages again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// A seek to where it was read up to.
    Seek,
    /// Another consumer: seeks changed nothing.
    Restart,
}

impl PartitionEnd {
    /// Reading begins `now`.
    pub(super) fn new(now: Instant) -> PartitionEnd {
        PartitionEnd {
            state: EndState::Reading { failed: false },
            received: now,
            answered: now,
            unanswered_since: now,
            returned: None,
            resumed: now,
            seeks: 0,
        }
    }

    /// Restarts the timers that `event` concerns, and changes the state.
    pub(super) fn note(&mut self, event: EndEvent, now: Instant) {
        use EndEvent::{BrokerReturned, Eof, Message, More, NoMore, NoMoreEarlier, Paused, Refused, Skipped};
        let is_answer = matches!(event, Message | Eof | NoMore | NoMoreEarlier | More { .. });
        let returns = is_answer && self.state.has_failed() && elapsed(self.answered, now) > UNVERIFIED_MAX;
        if returns || event == BrokerReturned {
            self.returned = Some(now);
        }
        if is_answer || event == Skipped {
            self.answered = now;
        }
        if is_answer || matches!(event, Skipped | Paused) {
            self.unanswered_since = now;
        }
        if matches!(event, Message | Eof | Skipped) {
            (self.received, self.seeks) = (now, 0);
        }
        if event == Refused {
            self.seeks = 0;
        }
        self.state = self.state.next(event, now);
    }

    /// Whether every message was read, as far as is known.
    pub(super) fn is_reached(&self) -> bool {
        matches!(self.state, EndState::AtEnd { .. } | EndState::BrokerDown { .. })
    }

    /// Whether no message can follow that is of an earlier time than `now`.
    pub(super) fn is_valid(&self, now: Instant) -> bool {
        let is_trusted = match self.state {
            EndState::AtEnd { confirmed } | EndState::BrokerDown { confirmed } => {
                elapsed(confirmed, now) < UNVERIFIED_MAX
            }
            EndState::Reading { .. } | EndState::Unverified { .. } => false,
        };
        is_trusted && self.producers_returned(now)
    }

    /// Whether producers had time to return after the broker did.
    pub(super) fn producers_returned(&self, now: Instant) -> bool {
        self.returned.is_none_or(|since| elapsed(since, now) > PRODUCERS_RETURN)
    }

    /// Whether the broker must be queried: the end is unverified, or was not confirmed for longer than `after`.
    pub(super) fn must_verify(&self, after: Duration, now: Instant) -> bool {
        match self.state {
            EndState::Reading { .. } => false,
            EndState::Unverified { .. } => true,
            EndState::AtEnd { confirmed } | EndState::BrokerDown { confirmed } => {
                elapsed(confirmed, now) > after
            }
        }
    }

    /// Whether no message arrived for longer than `after`.
    pub(super) fn is_stalled(&self, after: Duration, now: Instant) -> bool {
        elapsed(self.received, now) > after
    }

    /// Whether no broker answered for longer than `after` since a failure.
    pub(super) fn is_unreachable(&self, after: Duration, now: Instant) -> bool {
        self.state.has_failed() && elapsed(self.unanswered_since, now) > after
    }

    /// What is due where no message arrived for longer than `after` although the broker has more. The next remedy waits as
    /// long again.
    pub(super) fn remedy(&mut self, after: Duration, now: Instant) -> Option<Remedy> {
        let is_reading = matches!(self.state, EndState::Reading { .. });
        if !is_reading || !self.is_stalled(after, now) || elapsed(self.resumed, now) <= after {
            return None;
        }
        self.resumed = now;
        self.seeks += 1;
        Some(if self.seeks > SEEKS_MAX { Remedy::Restart } else { Remedy::Seek })
    }
}

fn elapsed(since: Instant, now: Instant) -> Duration {
    now.saturating_duration_since(since)
}

#[cfg(test)]
mod tests;
