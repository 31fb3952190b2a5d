//! Calibration from finished runs of one configuration: what a store reads for it, and what it writes.

use crate::{Interval, JobFactors, Name, Time};
use std::collections::HashMap;

/// A finished run of which enough was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRun {
    /// Runs are compared within one alone.
    pub configuration: String,
    /// Groups of switches that its nodes span; 0 where unknown.
    pub groups: i64,
    /// Run time in seconds.
    pub run_s: f64,
    /// Seconds of contention, as reported.
    pub slowdown_s: f64,
    /// When it ended.
    pub end: Time,
}

/// A finished run whose own reports of progress show what contention cost it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRun {
    /// Its configuration.
    pub configuration: String,
    /// Run time in seconds.
    pub run_s: f64,
    /// When it ended.
    pub end: Time,
    /// What it lost.
    pub measured: Measured,
}

/// What a job's own reports show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Seconds lost.
    pub lost_s: Interval,
    /// Seconds of run time that a second of contention cost it; `None` where counters show no loss.
    pub cost: Option<Interval>,
}

/// What a second of contention costs a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    /// Seconds of run time, at least 0.
    pub value: Interval,
    /// Run time without contention, in seconds.
    pub clear_s: f64,
    /// Runs it rests on.
    pub runs: u32,
    /// End of the latest of them.
    pub learnt_until: Time,
}

/// What is stored of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLoss {
    /// Which job.
    pub job_id: Name,
    /// Its configuration.
    pub configuration: String,
    /// Groups of switches that its nodes span.
    pub groups: i64,
    /// Whether no end event was received.
    pub end_presumed: bool,
    /// Seconds that it ran so far.
    pub run_s: f64,
    /// Seconds lost.
    pub lost_s: Interval,
    /// Seconds in contention.
    pub contended_s: f64,
    /// Part of the data that was there, 0 to 1.
    pub completeness: f64,
    /// Shares of the loss to itself and to other known jobs, 0 to 1; the source of the rest is unknown.
    pub own: f64,
    /// See `own`.
    pub others: f64,
    /// What it lost by its own reports, where it makes some.
    pub measured: Option<Measured>,
}

/// What is stored of finished runs, and of jobs whose factors are due.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRuns {
    /// Finished runs.
    pub runs: Vec<FinishedRun>,
    /// Those of them that reported their progress.
    pub measured: Vec<MeasuredRun>,
    /// Latest `beta` with its version, by configuration.
    pub betas: HashMap<String, (Beta, u32)>,
    /// Losses of jobs whose factors are written.
    pub losses: Vec<StoredLoss>,
}

/// What was learnt, to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learnt {
    /// Configuration, version and `beta`, where it is new.
    pub betas: Vec<(String, u32, Beta)>,
    /// Factors of jobs.
    pub factors: Vec<JobFactors>,
}
