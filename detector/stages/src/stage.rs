//! What a stage does with one partition, apart from where messages come from and where results go.
//!
//! A stage's state is a function of the messages of its partition in their order, and of nothing else: no
//! clock, no randomness. So a state that was written at one offset and read back, and the messages after it,
//! give the state at any later offset.
//!
//! Two runners drive the stages: that of `tailback run` with Kafka and a database, [`crate::in_process`] without either.

use crate::messages::Content;
use crate::state::Format;
use schemas::ResultBatch;
use schemas::wire::WireError;
use store::storage_policy::StoredRows;

/// A number between 0 and 1 for each partition; those of neighbours lie evenly apart, however many there are.
pub fn even_share(partition: i32) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    (f64::from(partition) * GOLDEN).fract().abs()
}

/// State of one partition of a stage.
pub trait Stage: Sized + Send + 'static {
    /// Name of the stage: in the database, in metrics and as the end of the consumer group.
    const STAGE: &'static str;
    /// Versions of the written state.
    const FORMAT: Format;
    /// Whether its messages come from states of other stages: those of an earlier generation are skipped.
    const READS_STATES: bool = false;
    /// What it is made from.
    type Settings: Clone + Send + Sync + 'static;
    /// A decoded message of its topic.
    type Message<'a>;

    /// State of a partition that was never read.
    fn fresh(partition: i32, settings: &Self::Settings) -> Self;

    /// Reads back what [`Stage::write`] of this version wrote; [`crate::state::restore`] reads older versions too.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    fn read(bytes: &[u8]) -> Result<Self, postcard::Error>;

    /// Gives a state that was read back what is not part of it.
    fn attach(&mut self, _settings: &Self::Settings) {}

    /// The state as bytes.
    ///
    /// # Errors
    /// What cannot be written.
    fn write(&self) -> Result<Vec<u8>, postcard::Error>;

    /// Decodes a message of Kafka.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    fn decode(payload: &[u8]) -> Result<Self::Message<'_>, BadMessage>;

    /// Applies a message.
    ///
    /// # Errors
    /// What in it does not fit to the messages before it.
    fn apply(&mut self, message: Self::Message<'_>) -> Result<(), BadMessage>;

    /// Counts a message that was not applied.
    fn count_bad(&mut self);

    /// Decodes and applies a message; a bad one is counted and skipped.
    ///
    /// # Errors
    /// Why it is bad: the caller keeps it aside and continues.
    fn message(&mut self, payload: &[u8]) -> Result<(), BadMessage> {
        let applied = Self::decode(payload).and_then(|message| self.apply(message));
        applied.inspect_err(|_| self.count_bad())
    }

    /// Everything that became known since the last call. Later results do not depend on when this is
    /// called. `position` is the offset after the last message applied.
    fn drain(&mut self, position: i64, extent: Extent) -> Outcome;

    /// Drops results that were not taken: the database has them already.
    fn discard(&mut self);

    /// Sends all series with the next results: the writer does not know them.
    fn resend_series(&mut self) {}

    /// Reports all that is known again with the next results: the database has none of it.
    fn report_again(&mut self);

    /// Numbers of what the database keeps beyond this state (episodes, regions) are greater than `begin` from here on.
    fn number_from(&mut self, begin: u64);

    /// Leaves out `count` numbers: states that are lost may have given them.
    fn skip_numbers(&mut self, count: u64);

    /// Judges by other thresholds from here on; whether they are others.
    fn reload(&mut self, _settings: &Self::Settings) -> bool {
        false
    }

    /// Whether results have to be drained or discarded before the next message: it may give numbers in them to others.
    fn must_be_taken(&self) -> bool {
        false
    }

    /// Entries of the books that grow with names, for metrics.
    fn books(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// What a runner looks at after every turn.
    fn load(&self) -> Load;

    /// Counts for metrics that take longer to find.
    fn counts(&self) -> Counts;
}

/// How much a stage is drained of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What is final, and changes of what is open.
    Final,
    /// Also losses of all jobs that may still change.
    AllJobs,
    /// Also losses of jobs where that is due, and all seen sources: for a runner that drains every second of rows.
    DueJobs,
    /// All that is known, and all seen sources: nothing may come after it for long.
    Everything,
}

/// How far a stage is, and what it keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Rows taken so far.
    pub rows: u64,
    /// Rows that wait for slower partitions.
    pub waiting: usize,
    /// The timestamp of the newest row, in seconds since the epoch.
    pub newest_s: Option<f64>,
    /// Memory of results that were not taken yet, in bytes, roughly.
    pub result_bytes: usize,
}

/// Counts of a stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Series known.
    pub series: usize,
    /// Sources that are silent now.
    pub silent: usize,
    /// Seconds of links that were processed before every partition had reported them, since the state began.
    pub forced_seconds: u64,
}

/// Why a message cannot be used.
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
    /// For other stages and programs.
    pub messages: Vec<Content>,
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
            && r.event_sources.is_empty()
            && r.regions.is_empty()
            && r.factors.is_empty()
            && r.silences.is_empty()
            && r.notices.is_empty()
            && r.rejected.is_empty()
    }
}
