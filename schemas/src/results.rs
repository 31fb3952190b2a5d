//! What the detector hands to a sink at each commit.

use crate::{DropCounts, Episode, Job, JobResult, Name, SeriesIndex, SeriesInfo, Signal, Time};
use serde::{Deserialize, Serialize};

/// When a source was last heard.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The node whose ldmsd reports.
    pub producer: Name,
    /// LDMS schema.
    pub schema: Name,
    /// The component it reports about.
    pub component: Name,
    /// Timestamp of its latest row.
    pub last_time: Time,
    /// Rows accepted since the first.
    pub rows: u64,
}

/// How a silence ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SilenceEnd {
    /// It goes on.
    Open,
    /// With the row of that time.
    At(Time),
    /// There was none: rows were late.
    Revoked,
}

/// A stretch in which a source reported nothing although it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Silence {
    /// The node whose ldmsd reports.
    pub producer: Name,
    /// LDMS schema.
    pub schema: Name,
    /// The component it reports about.
    pub component: Name,
    /// Timestamp of its last row before.
    pub since: Time,
    /// How it ended.
    pub end: SilenceEnd,
}

/// Everything that became known since the last commit. Rows with the key of an earlier row replace it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultBatch {
    /// Series first seen in this batch, with their numbers.
    pub series: Vec<(SeriesIndex, SeriesInfo)>,
    /// Signals, each (series, time) once.
    pub signals: Vec<Signal>,
    /// Episodes that began, went on or ended.
    pub episodes: Vec<Episode>,
    /// Jobs that are new or changed.
    pub jobs: Vec<Job>,
    /// Results of the jobs that changed.
    pub job_results: Vec<JobResult>,
    /// Series newly assigned to a job.
    pub job_series: Vec<(Name, SeriesIndex)>,
    /// Drops since the start of the run, not since the last commit.
    pub drops: DropCounts,
    /// Sources heard since the last commit.
    pub heard: Vec<Heard>,
    /// Silences that began, ended or were none; of one silence the later word counts.
    pub silences: Vec<Silence>,
}
