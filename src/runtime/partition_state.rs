//! The partitions that a stage holds: their state, and how far it and the database are.

use super::commit::Part;
use super::rejected;
use schemas::RejectedMessage;
use schemas::rejected::KEPT_MAX;
use stages::stage::{BadMessage, Extent, Outcome, Stage, even_share};
use stages::state::{self, StateError};
use std::time::{Duration, Instant};
use store::postgres::Claim;

/// Numbers that are left out where a state is older than the results in the database: more than partitions give in the time
/// between two snapshots.
const SKIPPED_NUMBERS: u64 = 1_000_000;
/// Episodes and regions that one partition numbers in one generation of states, at most.
const NUMBERS: u64 = 1_000_000_000;

/// One partition with its state.
pub struct PartitionState<S: Stage> {
    /// State after the message before `position`.
    pub stage: S,
    /// The next message: Kafka's offset plus `offset_base`.
    pub position: i64,
    /// Messages of the topics that were deleted, if it was created again.
    pub offset_base: i64,
    /// Position that the database has; messages up to it are replayed after a restart without any output.
    pub committed: Option<i64>,
    epoch: i64,
    /// Generation of states that this one belongs to.
    pub generation: i64,
    partition: i32,
    /// Position from which it was read after the claim.
    begin: i64,
    /// Settings to judge by once the state is up to date: until then those that it was made with.
    configured: Option<S::Settings>,
    snapshot_at: Instant,
    /// Share of the interval after which the next snapshot is due: the first ones of partitions that were claimed
    /// together come at different moments, and so do all that follow.
    snapshot_share: f64,
    /// Position of the newest snapshot.
    snapshot_of: Option<i64>,
    /// Messages that could not be decoded since the last commit.
    rejected: Vec<RejectedMessage>,
}

/// Why a partition cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The state is of a version that this program does not read, or damaged.
    #[error("the state of {stage}/{partition} in the database cannot be read: {source}")]
    State {
        /// Stage.
        stage: &'static str,
        /// Partition.
        partition: i32,
        /// Why, with the remedy.
        source: StateError,
    },
    /// The topic was created again, and the brokers (before Kafka 2.8) give topics no identity.
    #[error(
        "{stage}/{partition} has a message at offset {offset}, but the database has read up to {position}: the topic \
         was deleted and created again; delete `tailback.counters` and `tailback.partials` both, and run \
         `tailback migrate --forget-positions`"
    )]
    Recreated {
        /// Stage.
        stage: &'static str,
        /// Partition.
        partition: i32,
        /// Offset that the database has.
        position: i64,
        /// Offset of the message.
        offset: i64,
    },
}

impl<S: Stage> PartitionState<S> {
    /// State of a partition that was claimed: read back, or fresh.
    ///
    /// # Errors
    /// [`RestoreError`] contains the remedy.
    pub fn restore(
        partition: i32,
        claim: &Claim,
        settings: &S::Settings,
    ) -> Result<PartitionState<S>, RestoreError> {
        let mut held = PartitionState {
            stage: S::fresh(partition, settings),
            position: claim.begin(),
            offset_base: claim.offset_base,
            committed: claim.position,
            epoch: claim.epoch,
            generation: claim.generation,
            partition,
            begin: 0,
            configured: None,
            snapshot_at: Instant::now(),
            snapshot_share: 0.1 + 0.9 * even_share(partition),
            snapshot_of: None,
            rejected: Vec::new(),
        };
        if let Some(snapshot) = &claim.snapshot {
            held.stage = state::restore(snapshot.version, &snapshot.content)
                .map_err(|source| RestoreError::State { stage: S::STAGE, partition, source })?;
            held.stage.attach(settings);
            held.snapshot_of = Some(snapshot.position);
            held.renew(snapshot.version);
        }
        held.stage.number_from(NUMBERS.saturating_mul(claim.generation.cast_unsigned()));
        held.pass_deleted(claim.snapshot.as_ref().map_or(0, |snapshot| snapshot.position));
        held.begin = held.position;
        held.configured = Some(settings.clone());
        held.end_of_replay();
        if claim.is_imported() {
            held.stage.report_again();
        }
        Ok(held)
    }

    /// A state of an older version is written in the newest one with the next commit.
    fn renew(&mut self, found: u32) {
        let version = S::FORMAT.version();
        if found < version {
            let partition = self.partition;
            tracing::info!(
                stage = S::STAGE,
                partition,
                found,
                version,
                "state of an older version converted"
            );
            self.hurry_snapshot();
        }
    }

    /// Messages between the state and the first one of a topic that was created again are gone.
    fn pass_deleted(&mut self, state: i64) {
        let missing = self.position - state;
        if missing > 0 {
            tracing::warn!(
                stage = S::STAGE,
                partition = self.partition,
                missing,
                "messages after the snapshot were deleted with the topic"
            );
            self.stage.skip_numbers(SKIPPED_NUMBERS);
        }
    }

    /// Kafka's offset of the message at `position`.
    pub fn offset_of(&self, position: i64) -> i64 {
        position - self.offset_base
    }

    /// Takes the message at Kafka's `offset`; one that was taken before is passed over, and one of which nothing counts, which
    /// has no `payload` here. Returns why it cannot be used, unless the database has that already.
    ///
    /// # Errors
    /// [`RestoreError::Recreated`] if the topic is not the one that the database knows.
    pub fn message(
        &mut self,
        offset: i64,
        payload: Option<Result<&[u8], BadMessage>>,
    ) -> Result<Option<BadMessage>, RestoreError> {
        let at = offset + self.offset_base;
        if at < self.begin {
            let (stage, partition, position) = (S::STAGE, self.partition, self.offset_of(self.begin));
            return Err(RestoreError::Recreated { stage, partition, position, offset });
        }
        if at < self.position {
            return Ok(None);
        }
        if at > self.position && self.position > 0 {
            let missing = at - self.position;
            tracing::error!(
                stage = S::STAGE,
                partition = self.partition,
                missing,
                "messages missing from the topic"
            );
        }
        let is_new = self.committed.is_none_or(|committed| at >= committed);
        let bad = payload.and_then(|payload| match payload {
            Ok(payload) => self.stage.message(payload).err(),
            Err(refused) => {
                self.stage.count_bad();
                Some(refused)
            }
        });
        self.position = at + 1;
        self.end_of_replay();
        Ok(bad.filter(|_| is_new))
    }

    /// Keeps a message aside for the next commit, [`KEPT_MAX`] at most.
    pub fn reject(&mut self, message: RejectedMessage) {
        rejected::count_and_log(&message);
        if self.rejected.len() < KEPT_MAX {
            self.rejected.push(message);
        }
    }

    /// Whether messages are taken again that the database has the results of.
    pub fn replays(&self) -> bool {
        self.committed.is_some_and(|committed| self.position < committed)
    }

    /// When the replay reaches the offset that the database has, its results are dropped.
    fn end_of_replay(&mut self) {
        if self.committed == Some(self.position) {
            self.stage.discard();
            self.stage.resend_series();
        }
        if !self.replays()
            && let Some(settings) = self.configured.take()
            && self.stage.reload(&settings)
        {
            self.hurry_snapshot();
        }
    }

    /// Judges by `settings` from here on. The state is written with the next commit, so that taking messages again
    /// never crosses the change.
    pub fn reload(&mut self, settings: &S::Settings) {
        if self.replays() {
            self.configured = Some(settings.clone());
        } else if self.stage.reload(settings) {
            self.hurry_snapshot();
        }
    }

    /// Results since the last call, for a commit; none while messages are taken again. `snapshot_after` is
    /// for the state if the last one is that old.
    ///
    /// # Errors
    /// A state that cannot be written.
    pub fn take(
        &mut self,
        extent: Extent,
        snapshot_after: Duration,
    ) -> Result<Option<(Part, Outcome)>, postcard::Error> {
        if self.replays() {
            // The database has it all: what is found again takes no memory.
            self.stage.discard();
            return Ok(None);
        }
        let moved = self.committed != Some(self.position);
        if !moved && extent == Extent::Final {
            return Ok(None);
        }
        let mut outcome = self.stage.drain(self.position, extent);
        outcome.results.rejected.append(&mut self.rejected);
        let waited = self.snapshot_at.elapsed() >= snapshot_after.mul_f64(self.snapshot_share);
        let due = waited && self.snapshot_of != Some(self.position);
        if !(moved || due) && outcome.messages.is_empty() && outcome.is_quiet() {
            return Ok(None);
        }
        let snapshot = if due {
            (self.snapshot_at, self.snapshot_of) = (Instant::now(), Some(self.position));
            self.snapshot_share = 1.0;
            Some((S::FORMAT.version(), self.stage.write()?))
        } else {
            None
        };
        let part = Part {
            partition: self.partition,
            epoch: self.epoch,
            from: self.committed,
            to: self.position,
            results: std::mem::take(&mut outcome.results),
            stored: std::mem::take(&mut outcome.stored),
            snapshot,
        };
        Ok(Some((part, outcome)))
    }

    /// Asks for the state with the next commit, whatever its age.
    pub fn hurry_snapshot(&mut self) {
        self.snapshot_of = None;
        self.snapshot_at =
            Instant::now().checked_sub(Duration::from_secs(86_400)).unwrap_or(self.snapshot_at);
    }
}

#[cfg(test)]
mod tests;
