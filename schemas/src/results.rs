//! What the detector hands to a sink at each commit.

use crate::{DropCounts, Episode, Job, JobResult, Name, SeriesIndex, SeriesInfo, Signal, Time};

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
}
