//! Jobs as lines of a list.

use super::{ReadError, Reader, question, word};
use schemas::{Cause, Interval};
use serde::Serialize;

/// Which jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobFilter {
    /// Login name.
    pub user: Option<String>,
    /// Jobs that ran in so many seconds before the newest data.
    pub within_s: Option<f64>,
    /// Running or ended ones alone.
    pub running: Option<bool>,
    /// The largest lower end of the loss first; else the latest start.
    pub by_loss: bool,
    /// At most so many.
    pub limit: u32,
}

/// A job, what it lost, and its largest cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobLine {
    /// The scheduler's number.
    pub job_id: String,
    /// What users call it where that is not its number; else empty.
    pub label: String,
    /// Login name.
    pub user: String,
    /// Job name.
    pub name: String,
    /// Number of nodes.
    pub nodes: i64,
    /// Start, in seconds since the epoch.
    pub start: f64,
    /// End; null while it runs.
    pub end: Option<f64>,
    /// Length of the run so far, in seconds; null where no time is known.
    pub run_s: Option<f64>,
    /// What it lost; null without a result, or where nothing was seen.
    pub lost_s: Option<Interval>,
    /// Ticks seen over ticks expected; null without a result.
    pub completeness: Option<f64>,
    /// Share of its time that had a quiet baseline; null without a result.
    pub judged: Option<f64>,
    /// Sort of the largest cause; null where none is known.
    pub cause: Option<Cause>,
    /// The job or series of the largest cause.
    pub series_or_job: Option<String>,
    /// Share of the largest cause, 0 to 1.
    pub share: Option<f64>,
}

/// Jobs as `filter` wants them.
///
/// # Errors
/// When the store cannot be read.
pub fn list(from: &Reader<'_>, filter: &JobFilter) -> Result<Vec<JobLine>, ReadError> {
    let limit = i64::from(filter.limit);
    let user = filter.user.as_deref();
    from.rows(
        question!("report_jobs"),
        &[&user, &filter.within_s, &filter.running, &limit, &filter.by_loss],
        |row| {
            let (start, until): (f64, Option<f64>) = (row.get(4)?, row.get(6)?);
            let completeness: Option<f64> = row.get(11)?;
            let ends: (Option<f64>, Option<f64>, Option<f64>) = (row.get(8)?, row.get(9)?, row.get(10)?);
            let lost_s = match ends {
                (Some(value), Some(lo), Some(hi)) if completeness > Some(0.0) => {
                    Some(Interval { value, lo, hi })
                }
                _ => None,
            };
            Ok::<_, ReadError>(JobLine {
                job_id: row.get(0)?,
                label: row.get(1)?,
                user: row.get(2)?,
                name: row.get(3)?,
                nodes: row.get(7)?,
                start,
                end: row.get(5)?,
                run_s: until.map(|until| (until - start).max(0.0)),
                lost_s,
                completeness,
                judged: row.get(12)?,
                cause: row.get::<Option<String>>(13)?.map(word).transpose()?,
                series_or_job: row.get(14)?,
                share: row.get(15)?,
            })
        },
    )
}
