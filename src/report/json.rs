//! The facts as one JSON object: `tailback report JOB --json`.

use super::PostMortem;
use schemas::{CauseShare, JobFactors, JobResult};
use serde::Serialize;
use store::read::episodes::ResourceEpisode;
use store::read::regions::JobRegion;

/// What `--json` prints. Times are seconds since the epoch, UTC.
#[derive(Debug, Serialize)]
pub struct PostMortemJson<'a> {
    /// The scheduler's number.
    pub job_id: &'a str,
    /// Job name; empty if none is known.
    pub name: &'a str,
    /// Login name; empty if none is known.
    pub user: &'a str,
    /// Nodes, one by one.
    pub nodes: Vec<&'a str>,
    /// Start of the run.
    pub start: f64,
    /// End of the run; null while it runs or when the end never arrived.
    pub end: Option<f64>,
    /// Length of the run in seconds; without an end, until the latest time the store knows.
    pub run_s: f64,
    /// What it lost, as in `jobs.jsonl`; null if nothing was measured, which does not mean that it lost nothing.
    pub result: Option<&'a JobResult>,
    /// What its loss is made of; null where nothing was learned of it.
    pub factors: Option<&'a JobFactors>,
    /// Contended regions that it waits in, and those of whose load it makes a part.
    pub regions: &'a [JobRegion],
    /// Contended stretches of its resources that overlap the run, in the order of their start.
    pub episodes: Vec<EpisodeJson<'a>>,
    /// Share of the loss with unknown cause, 0 to 1; null without a result.
    pub unexplained_share: Option<f64>,
    /// Links and mounts that the job uses.
    pub series: u64,
    /// Those of them that sent no reading since the job began.
    pub series_without_readings: u64,
    /// Those that fell silent before its end.
    pub series_fell_silent: u64,
}

/// One episode in `--json`.
#[derive(Debug, Serialize)]
pub struct EpisodeJson<'a> {
    /// Number of the episode.
    pub id: u64,
    /// Name of the series.
    pub series: &'a str,
    /// Start.
    pub start: f64,
    /// End; for an open episode its latest tick.
    pub end: f64,
    /// Whether contention is ongoing.
    pub open: bool,
    /// Unit of `baseline` and `peak`; null for a metric that this program does not know.
    pub unit: Option<&'static str>,
    /// Non-contended mean.
    pub baseline: f64,
    /// Worst windowed mean.
    pub peak: f64,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of its 95% interval.
    pub slowdown_lo_s: f64,
    /// Upper end of its 95% interval.
    pub slowdown_hi_s: f64,
    /// Seconds of it lost within the run.
    pub slowdown_in_run_s: f64,
    /// Ticks seen over ticks expected.
    pub completeness: f64,
    /// Causes of this series' loss.
    pub causes: &'a [CauseShare],
}

impl<'a> From<&'a PostMortem> for PostMortemJson<'a> {
    fn from(facts: &'a PostMortem) -> PostMortemJson<'a> {
        let job = &facts.job;
        PostMortemJson {
            job_id: job.job_id.as_str(),
            name: &job.name,
            user: &job.user,
            nodes: job.nodes.iter().map(|n| n.as_str()).collect(),
            start: job.start.seconds(),
            end: job.end.map(|t| t.seconds()),
            run_s: facts.run_s(),
            result: facts.seen(),
            factors: facts.factors.as_ref(),
            regions: &facts.regions,
            episodes: facts.episodes.iter().map(|e| episode(facts, e)).collect(),
            unexplained_share: facts.seen().map(|_| facts.unexplained_share()),
            series: facts.series.total,
            series_without_readings: facts.series.without_readings,
            series_fell_silent: facts.series.fell_silent,
        }
    }
}

fn episode<'a>(facts: &PostMortem, of: &'a ResourceEpisode) -> EpisodeJson<'a> {
    let e = &of.episode;
    EpisodeJson {
        id: e.id.0,
        series: &of.resource,
        start: e.start.seconds(),
        end: e.end.seconds(),
        open: e.open,
        unit: of.metric.map(|m| m.unit()),
        baseline: e.baseline,
        peak: e.peak,
        slowdown_s: e.slowdown_s,
        slowdown_lo_s: e.slowdown_lo_s,
        slowdown_hi_s: e.slowdown_hi_s,
        slowdown_in_run_s: facts.lost_in_run_s(of),
        completeness: e.completeness,
        causes: &e.causes,
    }
}
