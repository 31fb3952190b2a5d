//! What jobs report of their own progress, and what contention cost them by it.

use crate::{Interval, Name};
use serde::{Deserialize, Serialize};

/// One kind of progress of a job: steps, bytes, iterations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobProgress {
    /// What the job counts.
    pub name: Name,
    /// Seconds of the job between its reports.
    pub covered_s: f64,
    /// Seconds of these in which the job was contended, with the pauses of up to a minute between them.
    pub contended_s: f64,
    /// Counts a second of the mean rank while the job was not contended; `None` where it always was.
    pub per_s: Option<f64>,
    /// Seconds that the job lost by the counters of links and file systems.
    pub counters_s: f64,
    /// What contention cost the job by this count.
    pub loss: MeasuredLoss,
}

/// Seconds that contention cost a job: what it got done in contended time compared with the rest of the same run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredLoss {
    /// There is both time with and time without contention.
    Measured {
        /// Seconds lost in all contended time of the run, with the 95% interval; never below 0.
        lost_s: Interval,
        /// The same over the loss that counters of links and file systems show; `None` where these show none.
        cost: Option<Interval>,
    },
    /// The job was not contended while it reported.
    NeverContended,
    /// The job was contended nearly all the time, or each time that it used its file system.
    NeverClear,
    /// The count rises mainly while the job uses its file system: it is of its files, whose loss the counters have.
    CountsFiles,
    /// The count hardly rises while the job uses its file system: it does not show how much longer that takes in contention.
    StopsForFiles,
    /// Too few reports, or too short a contention, to compare.
    TooFew,
}

impl MeasuredLoss {
    /// Seconds lost in all contended time, where they are measured.
    pub fn lost_s(&self) -> Option<Interval> {
        match self {
            MeasuredLoss::Measured { lost_s, .. } => Some(*lost_s),
            _ => None,
        }
    }

    /// These over the loss that counters of links and file systems show.
    pub fn cost(&self) -> Option<Interval> {
        match self {
            MeasuredLoss::Measured { cost, .. } => *cost,
            _ => None,
        }
    }

    /// The word in files and tables.
    pub fn name(&self) -> &'static str {
        match self {
            MeasuredLoss::Measured { .. } => "measured",
            MeasuredLoss::NeverContended => "never_contended",
            MeasuredLoss::NeverClear => "never_clear",
            MeasuredLoss::CountsFiles => "counts_files",
            MeasuredLoss::StopsForFiles => "stops_for_files",
            MeasuredLoss::TooFew => "too_few",
        }
    }
}
