//! What running jobs wait for now: the rows behind the answers that jobs get, and in `judgement` the answers made of them.

mod judgement;

pub use judgement::{JobContention, JobState, Moment, Resource};

use super::{Question, ReadError, Reader, Row, question};
use schemas::Interval;
use serde::Serialize;

/// Running jobs: `$1` a limit.
const JOBS: Question = question!("contention_jobs");
/// What they wait for: `$1` a limit.
const RESOURCES: Question = question!("contention_resources");

/// A running job.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningJob {
    /// Its number.
    pub job_id: String,
    /// Its user.
    pub user: String,
    /// Start of its run, in seconds since the epoch.
    pub start: f64,
    /// What it lost so far; `None` before there is a result.
    pub lost: Option<JobLoss>,
    /// Number of its series.
    pub series: i64,
    /// Those with data now.
    pub reporting: i64,
    /// Those that are judged now: clear, contended or idle.
    pub judged_now: i64,
    /// Those of them that are idle.
    pub idle_now: i64,
}

/// What a job lost so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobLoss {
    /// In seconds.
    pub lost_s: Interval,
    /// Share of the data of its run that arrived, 0 to 1.
    pub completeness: f64,
    /// Share of its series-seconds that had a baseline, 0 to 1.
    pub judged: f64,
}

/// What a job waits for now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitedFor {
    /// `region`, `file_system` or `links`.
    pub about: String,
    /// Name of the region or of the mount; of links the switch or host that transmits.
    pub name: String,
    /// The metric that shows it.
    pub metric: String,
    /// From when on within the run, in seconds since the epoch.
    pub since_s: f64,
    /// Links, or clients of the job.
    pub members: i64,
    /// Seconds that the job lost in a region, or its worst client on a file system; `None` where that is not known by job.
    pub lost_s: Option<f64>,
    /// Lower end of its 95% interval.
    pub lost_lo_s: Option<f64>,
    /// Upper end of its 95% interval.
    pub lost_hi_s: Option<f64>,
    /// What sort of cause; jobs are not named. `None` if none is known.
    pub cause: Option<String>,
    /// What could be done about it; `None` if that is not known.
    pub kind: Option<String>,
}

/// Running jobs, the latest first, at most `most`.
///
/// # Errors
/// When the store cannot be read.
pub fn running(from: &Reader<'_>, most: usize) -> Result<Vec<RunningJob>, ReadError> {
    from.rows(JOBS, &[&(most as i64)], |row| {
        Ok(RunningJob {
            job_id: row.get(0)?,
            user: row.get(1)?,
            start: row.get(2)?,
            lost: loss(row)?,
            series: row.get(8)?,
            reporting: row.get(9)?,
            judged_now: row.get(10)?,
            idle_now: row.get(11)?,
        })
    })
}

fn loss(row: &Row<'_>) -> Result<Option<JobLoss>, ReadError> {
    let Some(value) = row.get::<Option<f64>>(3)? else { return Ok(None) };
    let lost_s = Interval { value, lo: row.get(4)?, hi: row.get(5)? };
    Ok(Some(JobLoss { lost_s, completeness: row.get(6)?, judged: row.get(7)? }))
}

/// What running jobs wait for, each with the number of the job: those of one job together, the largest lower end of the loss first;
/// at most `most`.
///
/// # Errors
/// When the store cannot be read.
pub fn waited_for(from: &Reader<'_>, most: usize) -> Result<Vec<(String, WaitedFor)>, ReadError> {
    from.rows(RESOURCES, &[&(most as i64)], |row| {
        let waited_for = WaitedFor {
            about: row.get(1)?,
            name: row.get(2)?,
            metric: row.get(3)?,
            since_s: row.get(4)?,
            members: row.get(5)?,
            lost_s: row.get(6)?,
            lost_lo_s: row.get(7)?,
            lost_hi_s: row.get(8)?,
            cause: row.get(9)?,
            kind: row.get(10)?,
        };
        Ok((row.get(0)?, waited_for))
    })
}
