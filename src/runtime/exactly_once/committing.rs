//! Commits: when one is due, what it contains, its outcome, and the last one before the stage ends.

use super::ExactlyOnce;
use crate::runtime::commit::{Addressed, Committed, Part, Request};
use crate::runtime::kafka;
use crate::runtime::limits;
use crate::runtime::partition_state::PartitionState;
use crate::runtime::stage_error::{StageError, StageResult};
use rdkafka::consumer::{CommitMode, Consumer};
use rdkafka::{Offset, TopicPartitionList};
use stages::stage::{Extent, Stage};
use std::fmt::Display;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time after which a wait for a commit looks whether the process stops.
const STOP_CHECKED_AFTER: Duration = Duration::from_millis(50);

impl<S: Stage> ExactlyOnce<'_, S> {
    pub(super) fn is_time_to_commit(&mut self) -> bool {
        let loads = self.held.values().map(|held| held.stage.load());
        let (rows, waiting) =
            loads.fold((0, 0), |(rows, waiting), load| (rows + load.rows, waiting + load.waiting));
        self.schedule.is_due(rows, waiting, Instant::now())
    }

    /// Gives what is known to the writer. Of the states that are due one goes with each commit, and all with everything.
    pub(super) fn commit(&mut self, extent: Extent) -> StageResult {
        let now = Instant::now();
        self.schedule.committed(now);
        if extent != Extent::Final {
            self.all_taken_at = now;
        }
        let interval = Duration::from_secs(self.setup.config.database.snapshot_interval_s);
        let never = Duration::from_secs(u64::MAX / 4);
        let mut snapshot_after = interval;
        let bytes_max = kafka::content_bytes_max(&self.setup.config.kafka);
        let (mut parts, mut messages): (Vec<Part>, Vec<Addressed>) = (Vec::new(), Vec::new());
        for held in self.held.values_mut() {
            let taken = held.take(extent, snapshot_after).map_err(|why| serialize("a state", &why))?;
            let Some((part, outcome)) = taken else { continue };
            if part.snapshot.is_some() && extent != Extent::Everything {
                snapshot_after = never;
            }
            for content in outcome.messages {
                let addressed = Addressed::of((part.partition, held.generation), content, bytes_max);
                messages.extend(addressed.map_err(|why| serialize("a message", &why))?);
            }
            parts.push(part);
        }
        self.setup.metrics.held(&self.held);
        limits::note_books(&self.setup.config.limits, &self.held);
        if parts.is_empty() {
            return Ok(());
        }
        let positions = parts.iter().map(|part| (part.partition, part.to)).collect();
        let (done, outcome) = mpsc::sync_channel(1);
        if self.setup.writer.blocking_send(Request::Commit(parts, messages, done)).is_err() {
            return Err(StageError::WriterEnded(S::STAGE));
        }
        self.pending = Some((positions, outcome));
        Ok(())
    }

    /// Looks whether the commit on its way is done; waits up to `longest` for it.
    pub(super) fn check_commit(&mut self, longest: Duration) -> StageResult {
        let Some((_, outcome)) = &self.pending else { return Ok(()) };
        match outcome.recv_timeout(longest) {
            Ok(committed) => self.committed(&committed),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(StageError::WriterEnded(S::STAGE)),
        }
    }

    pub(super) fn await_commit(&mut self) -> StageResult {
        while self.pending.is_some() && !self.setup.control.stopping() {
            self.check_commit(STOP_CHECKED_AFTER)?;
        }
        Ok(())
    }

    fn committed(&mut self, committed: &Committed) -> StageResult {
        let Some((positions, _)) = self.pending.take() else { return Ok(()) };
        if committed.topic_is_gone {
            return Err(StageError::Restart(committed.trouble.clone()));
        }
        if !committed.written {
            return Err(StageError::Write { stage: S::STAGE, trouble: committed.trouble.clone() });
        }
        let mut offsets = TopicPartitionList::new();
        if committed.fenced.iter().any(|partition| self.held.contains_key(partition)) {
            // Taken by another process, or the database lost its last commits in a crash: what it has now counts.
            return Err(StageError::Restart(format!("partitions {:?} have another owner", committed.fenced)));
        }
        for (partition, to) in positions {
            if let Some(held) = self.held.get_mut(&partition) {
                held.committed = Some(to);
                let _ = offsets.add_partition_offset(
                    &self.setup.topic,
                    partition,
                    Offset::Offset(held.offset_of(to)),
                );
            }
        }
        // For lag monitors only: the position in the database counts.
        if offsets.count() > 0
            && let Err(error) = self.consumer.commit(&offsets, CommitMode::Async)
        {
            tracing::debug!(%error, "failed to commit offsets to Kafka");
        }
        Ok(())
    }

    /// Commits what is known, with all states, until `deadline`.
    pub(super) fn drain(&mut self, deadline: Instant) -> StageResult {
        let left = || deadline.saturating_duration_since(Instant::now());
        self.check_commit(left())?;
        if self.pending.is_none() {
            self.held.values_mut().for_each(PartitionState::hurry_snapshot);
            self.commit(Extent::Everything)?;
            self.check_commit(left())?;
        }
        if self.pending.is_some() {
            tracing::warn!(
                stage = S::STAGE,
                "the stop timeout passed before the last commit; its messages are read again"
            );
        }
        Ok(())
    }
}

fn serialize(what: &'static str, why: &dyn Display) -> StageError {
    StageError::Serialize { what, why: format!("{why:#}") }
}
