//! The lines of `tailback replay`: `signals.jsonl`, `episodes.jsonl`, `dropped.json` (DESIGN section 9), and the
//! job files it reads. A line of `jobs.jsonl` is a [`crate::JobResult`] with `caused`: what the job cost others.

use crate::{
    DropCounts, Episode, EpisodeEvidence, Job, JobNumber, JobNumberError, Metric, Name, Signal, Time,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of `signals.jsonl`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalLine<'a> {
    /// The sampler's timestamp in seconds, microseconds kept.
    pub time: f64,
    /// Name of the series.
    pub series: &'a str,
    /// Reading; null while unknown.
    pub value: Option<f64>,
    /// Windowed geometric mean; null where there is none.
    pub mean: Option<f64>,
    /// Non-contended geometric mean; null where there is none.
    pub baseline: Option<f64>,
    /// Bound that the mean is compared with; null where there is none.
    pub bound: Option<f64>,
    /// One of the words of [`crate::State`].
    pub state: &'a str,
    /// Accumulated seconds lost.
    pub slowdown_s: f64,
}

/// One line of `episodes.jsonl`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeLine<'a> {
    /// Number of the episode.
    pub id: u64,
    /// Name of the series.
    pub series: &'a str,
    /// Start in seconds since the epoch.
    pub start: f64,
    /// End in seconds since the epoch.
    pub end: f64,
    /// Worst windowed mean.
    pub peak: f64,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of the interval.
    pub slowdown_lo_s: f64,
    /// Upper end of the interval.
    pub slowdown_hi_s: f64,
    /// Ticks seen over ticks expected.
    pub completeness: f64,
    /// What supports it.
    pub evidence: EpisodeEvidence,
}

/// One line of a job file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFileLine {
    /// The scheduler's number; a JSON string or number.
    #[serde(deserialize_with = "text_or_number")]
    pub job_id: String,
    /// Login name.
    #[serde(default)]
    pub user: String,
    /// Job name.
    #[serde(default)]
    pub name: String,
    /// Nodes.
    pub nodes: Vec<Name>,
    /// Start in seconds since the epoch.
    pub start: f64,
    /// End in seconds since the epoch; null or absent while it runs.
    #[serde(default)]
    pub end: Option<f64>,
    /// Signature of the application.
    #[serde(default)]
    pub app: Option<String>,
    /// The cluster whose number it is, where the file has jobs of several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cluster: String,
}

/// A JSON string, or a whole number as a string.
pub(crate) fn text_or_number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Number(u64),
    }
    Ok(match Either::deserialize(from)? {
        Either::Text(text) => text,
        Either::Number(number) => number.to_string(),
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl<'a> SignalLine<'a> {
    /// The line of `signal`, whose series is named `series`.
    pub fn new(signal: &Signal, series: &'a str) -> SignalLine<'a> {
        SignalLine {
            time: signal.time.seconds(),
            series,
            value: finite(signal.value),
            mean: finite(signal.mean),
            baseline: finite(signal.baseline),
            bound: finite(signal.bound),
            state: signal.state.name(),
            slowdown_s: signal.slowdown_s,
        }
    }
}

impl<'a> EpisodeLine<'a> {
    /// The line of `episode`, whose series is named `series` and of `metric`.
    pub fn new(episode: &Episode, series: &'a str, metric: Metric) -> EpisodeLine<'a> {
        EpisodeLine {
            id: episode.id.0,
            series,
            start: episode.start.seconds(),
            end: episode.end.seconds(),
            peak: episode.peak,
            slowdown_s: episode.slowdown_s,
            slowdown_lo_s: episode.slowdown_lo_s,
            slowdown_hi_s: episode.slowdown_hi_s,
            completeness: episode.completeness,
            evidence: episode.evidence(metric),
        }
    }
}

/// Longest text of a person that is kept, in characters.
const TEXT_MAX: usize = 128;

/// Free text of a person without control characters, which a terminal would obey.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).take(TEXT_MAX).collect()
}

/// Why a line of a job file is no job.
#[derive(Debug, thiserror::Error)]
pub enum JobFileError {
    /// Not the JSON of a job.
    #[error("not a job: {0}")]
    Json(#[from] serde_json::Error),
    /// The number is none.
    #[error("job_id: {0}")]
    JobId(#[from] JobNumberError),
    /// The cluster cannot be part of a name.
    #[error("cluster: {0}")]
    Cluster(crate::NameError),
    /// It ends before it starts.
    #[error("end {end} lies before start {start}")]
    Order {
        /// Start in seconds.
        start: f64,
        /// End in seconds.
        end: f64,
    },
}

/// The job of one line of a job file, and its cluster, which may be empty.
///
/// # Errors
/// [`JobFileError`] names the field; the caller adds file and line.
pub fn parse_job(line: &str) -> Result<(Job, String), JobFileError> {
    let line: JobFileLine = serde_json::from_str(line)?;
    if let Some(end) = line.end.filter(|end| *end < line.start) {
        return Err(JobFileError::Order { start: line.start, end });
    }
    let JobNumber { job_id, label } = JobNumber::parse(&line.job_id)?;
    let job = Job {
        job_id,
        user: plain(&line.user),
        name: plain(&line.name),
        nodes: line.nodes,
        start: Time::from_seconds(line.start),
        end: line.end.map(Time::from_seconds),
        end_presumed: false,
        label,
        app: line.app.as_deref().map(plain),
    };
    Ok((job, line.cluster))
}

/// The content of `dropped.json`: every reason that happened, with its count.
pub fn dropped_json(counts: &DropCounts) -> String {
    let map: BTreeMap<&str, u64> = counts.nonzero().map(|(reason, n)| (reason.name(), n)).collect();
    serde_json::to_string_pretty(&map).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_number_may_be_text_or_number() {
        let job = parse_job(
            r#"{"job_id":6,"user":"alice","name":"ior","nodes":["nid00001"],"start":1.5,"end":null}"#,
        );
        assert_eq!(job.unwrap().0.job_id.as_str(), "6");
    }

    #[test]
    fn a_job_that_ends_before_it_starts_is_refused() {
        let error = parse_job(r#"{"job_id":"6","nodes":[],"start":10,"end":9}"#).unwrap_err();
        assert_eq!(error.to_string(), "end 9 lies before start 10");
    }
}
