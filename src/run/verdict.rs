//! Messages of `tailback.verdicts`, JSON for other programs: `schemas/wire/verdict.schema.json`.

use super::work::{OutTopic, Outgoing};
use schemas::{CauseShare, Episode, JobResult, SeriesTable};
use serde::Serialize;

/// Version of the messages.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Verdict<'a> {
    Episode {
        version: u32,
        series: String,
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

/// State of an episode; the latest message of a series and start replaces those before it.
pub fn of_episode(episode: &Episode, table: &SeriesTable) -> Option<Outgoing> {
    let series = table.get(episode.series.at())?.name();
    let verdict = Verdict::Episode {
        version: VERSION,
        series: series.clone(),
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
    };
    let payload = serde_json::to_vec(&verdict).ok()?;
    Some(Outgoing { to: OutTopic::Verdicts, key: series, payload })
}

/// What a job lost so far; the latest message of a job replaces those before it.
pub fn of_job(result: &JobResult) -> Option<Vec<u8>> {
    serde_json::to_vec(&Verdict::Job { version: VERSION, result }).ok()
}
