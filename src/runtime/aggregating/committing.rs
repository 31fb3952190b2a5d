//! Commits of raw offsets, and the end of the stage.

use super::{ANNOUNCE_BUSY, Aggregating};
use crate::runtime::http::Health;
use crate::runtime::kafka::Listener;
use crate::runtime::stage_error::StageResult;
use crate::runtime::stop::close_consumer;
use rdkafka::TopicPartitionList;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use std::time::{Duration, Instant};

/// Longest time for which an idle loop waits: a message wakes it, a new assignment does not.
const IDLE: Duration = Duration::from_millis(200);
/// Shortest one.
const IDLE_LEAST: Duration = Duration::from_millis(10);

impl Aggregating<'_> {
    /// Turns until a stop is requested.
    pub(super) fn turns(&mut self, health: &Health) -> StageResult {
        while !self.control.stopping() {
            health.alive("aggregator");
            self.look_at_lag();
            self.restore_brokers();
            let busy = self.turn()?;
            self.announce()?;
            self.forget_sources();
            self.commit()?;
            if !busy {
                std::thread::park_timeout(self.idle());
            }
        }
        Ok(())
    }

    /// How long nothing is due; a message ends the wait.
    fn idle(&self) -> Duration {
        if !self.unassigned.are_announced() {
            return IDLE_LEAST;
        }
        self.announcement_wait().saturating_sub(self.announced.elapsed()).clamp(IDLE_LEAST, IDLE)
    }

    /// Commits the offsets of the chunks that have arrived.
    pub(super) fn commit(&mut self) -> StageResult {
        if let Some(offsets) = self.arrived()? {
            commit_offsets(&self.consumer, &offsets, CommitMode::Async);
        }
        Ok(())
    }

    /// The offsets that the chunks which have arrived take us to, in their order; none if no more has arrived.
    fn arrived(&mut self) -> StageResult<Option<TopicPartitionList>> {
        self.out.keep_refused()?;
        let mut newest = None;
        while self.chunks.front().is_some_and(|(chunk, _)| self.out.arrived(*chunk)) {
            newest = self.chunks.pop_front().map(|(_, offsets)| offsets);
        }
        // A failed delivery is not pending either: the offset of its source must not be committed.
        self.nothing_failed()?;
        Ok(newest.filter(|list: &TopicPartitionList| list.count() > 0))
    }

    /// Commits what arrives within `drain`, and closes the clients within `close_timeout`.
    pub(super) fn end(
        mut self,
        turned: StageResult,
        drain: Duration,
        close_timeout: Duration,
    ) -> StageResult {
        let begun = Instant::now();
        let drained = turned.and_then(|()| self.drain(begun + drain));
        let clean = drained.is_ok() && self.chunks.is_empty();
        let last = drained.as_ref().map_or(None, Clone::clone);
        let Aggregating { consumer, raws, out, lag, end_checks, unassigned, .. } = self;
        let left = close_consumer(begun + close_timeout, move || {
            if let Some(offsets) = last {
                commit_offsets(&consumer, &offsets, CommitMode::Sync);
            }
            // Queues of partitions and questions to the brokers own the consumer, too.
            drop((out, raws, lag, end_checks, unassigned));
            consumer.unsubscribe();
        });
        tracing::info!(stage = "aggregator", clean, left, "stopped");
        drained.map(drop)
    }

    /// Waits until `deadline` for what is on its way; the offsets that it takes us to.
    fn drain(&mut self, deadline: Instant) -> StageResult<Option<TopicPartitionList>> {
        self.announced -= ANNOUNCE_BUSY;
        self.rows_since_announced += 1;
        self.announce()?;
        let mut last = None;
        while !self.chunks.is_empty() && Instant::now() < deadline {
            self.out.wait();
            if let Some(offsets) = self.arrived()? {
                commit_offsets(&self.consumer, &offsets, CommitMode::Async);
                last = Some(offsets);
            }
        }
        Ok(last)
    }
}

fn commit_offsets(consumer: &BaseConsumer<Listener>, offsets: &TopicPartitionList, mode: CommitMode) {
    if let Err(error) = consumer.commit(offsets, mode) {
        tracing::debug!(%error, "failed to commit offsets; a restart reads the rows again");
    }
}
