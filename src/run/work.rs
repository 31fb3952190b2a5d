//! What a stage does with one partition, apart from where messages come from and where results go.
//!
//! A stage's state is a function of the messages of its partition in their order, and of nothing else: no
//! clock, no randomness. So a state that was written at one offset and read back, and the messages after it,
//! give the state at any later offset.

use super::state_version::StateVersion;
use detector::storage_policy::StoredRows;
use schemas::ResultBatch;
use schemas::wire::WireError;

/// State of one partition of a stage.
pub trait Work: Sized + Send + 'static {
    /// Name of the stage: in the database, in metrics and as the end of the consumer group.
    const STAGE: &'static str;
    /// Version of the written state; one of another version is not read.
    const STATE_VERSION: StateVersion;
    /// Whether its messages come from states of other stages: those of an earlier generation are skipped.
    const READS_STATES: bool = false;
    /// What it is made from.
    type Settings: Clone + Send + Sync + 'static;

    /// State of a partition that was never read.
    fn fresh(partition: i32, settings: &Self::Settings) -> Self;

    /// Reads back what [`Work::write`] wrote.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    fn read(bytes: &[u8]) -> Result<Self, postcard::Error>;

    /// Gives a state that was read back what is not part of it.
    fn attach(&mut self, _settings: &Self::Settings) {}

    /// Numbers of what the database keeps beyond this state (episodes, regions) are greater than `begin` from here on.
    fn number_from(&mut self, begin: u64);

    /// Leaves out `count` numbers: states that are lost may have given them.
    fn skip_numbers(&mut self, count: u64);

    /// The state as bytes.
    ///
    /// # Errors
    /// What cannot be written.
    fn write(&self) -> Result<Vec<u8>, postcard::Error>;

    /// Takes a message; one that cannot be decoded is counted and passed over.
    ///
    /// # Errors
    /// Why it cannot be decoded: the caller keeps it aside and continues.
    fn message(&mut self, payload: &[u8]) -> Result<(), BadMessage>;

    /// Everything that became known since the last call. Later results do not depend on when this is
    /// called. `position` is the offset after the last message taken; `all` includes what is taken now and
    /// then too (results of jobs).
    fn take(&mut self, position: i64, all: bool) -> Outcome;

    /// Drops results that were not taken: the database has them already.
    fn pass_over(&mut self);

    /// Sends all series with the next results: the writer does not know them.
    fn resend_series(&mut self) {}

    /// Memory that results take which were not taken yet, in bytes, roughly.
    fn result_bytes(&self) -> usize;

    /// Judges by other thresholds from here on; whether they are others.
    fn reload(&mut self, settings: &Self::Settings) -> bool;

    /// The timestamp of the newest row, in seconds since the epoch.
    fn newest_s(&self) -> Option<f64>;

    /// Its series, by number.
    fn series(&self) -> &schemas::SeriesTable;

    /// Sources that are silent now.
    fn silent(&self) -> usize {
        0
    }

    /// Seconds of links that were processed before every partition had reported them, since the state began.
    fn forced_seconds(&self) -> u64 {
        0
    }

    /// Rows taken so far, and rows that wait for slower partitions.
    fn rows(&self) -> (u64, usize);
}

/// Why a message cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadMessage(pub String);

impl From<WireError> for BadMessage {
    fn from(error: WireError) -> BadMessage {
        BadMessage(error.to_string())
    }
}

/// Results of a stage: what goes to the database, and what goes to the stages and readers behind it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// For the database.
    pub results: ResultBatch,
    /// Of the signals, what the storage policy keeps.
    pub stored: StoredRows,
    /// For Kafka.
    pub messages: Vec<Outgoing>,
}

impl Outcome {
    /// Whether there is nothing in it that the database does not have.
    pub fn is_quiet(&self) -> bool {
        let r = &self.results;
        let nothing = r.signals.is_empty()
            && self.stored == StoredRows::default()
            && r.episodes.is_empty()
            && r.jobs.is_empty();
        nothing
            && r.job_results.is_empty()
            && r.job_series.is_empty()
            && r.series.is_empty()
            && r.last_seen.is_empty()
            && r.regions.is_empty()
            && r.factors.is_empty()
            && r.silences.is_empty()
            && r.notices.is_empty()
            && r.rejected.is_empty()
    }
}

/// A message that goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Where to.
    pub to: OutTopic,
    /// Key; messages of one key keep their order.
    pub key: String,
    /// Content.
    pub payload: Vec<u8>,
}

/// Topics that stages write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutTopic {
    /// `tailback.partials`: what detectors know of jobs and links, for the roll-up stage.
    Partials,
    /// `tailback.verdicts`: episodes and results of jobs, for other programs.
    Verdicts,
}
