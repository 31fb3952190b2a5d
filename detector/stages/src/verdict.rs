//! Messages of `tailback.verdicts`, JSON for other programs: `schemas/wire/verdict.schema.json`.

use schemas::{CauseShare, Episode, JobResult, SeriesTable};
use serde::Serialize;

/// Version of the messages.
const VERSION: u32 = 1;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// State of the episode of a series; the latest message of a series and start replaces those before it.
    Episode(String, Box<Episode>),
    /// What a job lost so far; the latest message of a job replaces those before it.
    Job(JobResult),
}

impl Verdict {
    /// Of an episode of `table`.
    pub fn of_episode(episode: &Episode, table: &SeriesTable) -> Option<Verdict> {
        let series = table.get(episode.series.at())?.name();
        Some(Verdict::Episode(series, Box::new(episode.clone())))
    }

    /// Its key: the series or job.
    pub fn key(&self) -> String {
        match self {
            Verdict::Episode(series, _) => series.clone(),
            Verdict::Job(result) => result.job_id.to_string(),
        }
    }

    /// Its bytes.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn payload(&self) -> serde_json::Result<Vec<u8>> {
        match self {
            Verdict::Episode(series, episode) => serde_json::to_vec(&Line::of_episode(series, episode)),
            Verdict::Job(result) => serde_json::to_vec(&Line::Job { version: VERSION, result }),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line<'a> {
    Episode {
        version: u32,
        series: &'a str,
        start: f64,
        end: f64,
        open: bool,
        peak: f64,
        baseline: f64,
        slowdown_s: f64,
        slowdown_lo_s: f64,
        slowdown_hi_s: f64,
        completeness: f64,
        causes: &'a [CauseShare],
    },
    Job {
        version: u32,
        #[serde(flatten)]
        result: &'a JobResult,
    },
}

impl<'a> Line<'a> {
    fn of_episode(series: &'a str, episode: &'a Episode) -> Line<'a> {
        Line::Episode {
            version: VERSION,
            series,
            start: episode.start.seconds(),
            end: episode.end.seconds(),
            open: episode.open,
            peak: episode.peak,
            baseline: episode.baseline,
            slowdown_s: episode.slowdown_s,
            slowdown_lo_s: episode.slowdown_lo_s,
            slowdown_hi_s: episode.slowdown_hi_s,
            completeness: episode.completeness,
            causes: &episode.causes,
        }
    }
}
