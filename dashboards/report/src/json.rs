//! A post-mortem as one JSON object. Times are seconds since the epoch, UTC.

use crate::pace::{Pace, paces};
use crate::{PostMortem, ReportError, Stamp, advice, headline};
use schemas::{CauseShare, JobFactors, JobResult};
use serde::Serialize;
use store::read::episodes::ResourceEpisode;
use store::read::jobs::CausedLoss;
use store::read::regions::JobRegion;

#[derive(Serialize)]
struct PostMortemJson<'a> {
    /// The report in one sentence.
    headline: String,
    /// The scheduler's number.
    job_id: &'a str,
    /// Job name; empty if none is known.
    name: &'a str,
    /// Login name; empty if none is known.
    user: &'a str,
    /// Nodes, one by one.
    nodes: Vec<&'a str>,
    /// Start of the run.
    start: f64,
    /// End of the run; null while it runs or when the end never arrived.
    end: Option<f64>,
    /// Length of the run in seconds; without an end, until the latest time the store knows.
    run_s: f64,
    /// What it lost, as in `jobs.jsonl`; null if nothing was measured, which does not mean that it lost nothing.
    result: Option<&'a JobResult>,
    /// What its loss is made of; null where nothing was learned of it.
    factors: Option<&'a JobFactors>,
    /// Its pace without contention beside that of earlier runs; empty where fewer than three of these report.
    paces: Vec<Pace>,
    /// Contended regions that it waits in, and those of whose load it makes a part.
    regions: &'a [JobRegion],
    /// Contended stretches of its resources that overlap the run, in the order of their start.
    episodes: Vec<EpisodeJson<'a>>,
    /// What other jobs lost to it, the largest lower end first.
    caused: &'a [CausedLoss],
    /// What can be done, in sentences.
    advice: Vec<String>,
    /// Share of the loss with unknown cause, 0 to 1; null without a result.
    unexplained_share: Option<f64>,
    /// Links and mounts that the job uses.
    series: u64,
    /// Those of them that sent no reading since the job began.
    series_without_readings: u64,
    /// Those that fell silent before its end.
    series_fell_silent: u64,
    /// The job on the page; null where its address is not known.
    page: Option<String>,
    /// Version of the program.
    version: &'static str,
    /// When the report was written.
    written: f64,
}

#[derive(Serialize)]
struct EpisodeJson<'a> {
    /// Number of the episode.
    id: u64,
    /// Name of the series.
    series: &'a str,
    /// Start.
    start: f64,
    /// End; for an open episode its latest tick.
    end: f64,
    /// Whether contention is ongoing.
    open: bool,
    /// Unit of `baseline` and `peak`; null for a metric that this program does not know.
    unit: Option<&'static str>,
    /// Non-contended mean.
    baseline: f64,
    /// Worst windowed mean.
    peak: f64,
    /// Seconds lost.
    slowdown_s: f64,
    /// Lower end of its 95% interval.
    slowdown_lo_s: f64,
    /// Upper end of its 95% interval.
    slowdown_hi_s: f64,
    /// Seconds of it lost within the run.
    slowdown_in_run_s: f64,
    /// Lower end of its 95% interval.
    slowdown_in_run_lo_s: f64,
    /// Upper end of its 95% interval.
    slowdown_in_run_hi_s: f64,
    /// Ticks seen over ticks expected.
    completeness: f64,
    /// Causes of this series' loss.
    causes: &'a [CauseShare],
}

impl PostMortem {
    /// One JSON object and a line break.
    ///
    /// # Errors
    /// Never with the values that a store has.
    pub fn json(&self, stamp: &Stamp) -> Result<String, ReportError> {
        Ok(serde_json::to_string_pretty(&object(self, stamp))? + "\n")
    }
}

fn object<'a>(facts: &'a PostMortem, stamp: &Stamp) -> PostMortemJson<'a> {
    let job = &facts.job;
    PostMortemJson {
        headline: headline::headline(facts),
        job_id: job.job_id.as_str(),
        name: &job.name,
        user: &job.user,
        nodes: job.nodes.iter().map(|n| n.as_str()).collect(),
        start: job.start.seconds(),
        end: job.end.map(|t| t.seconds()),
        run_s: facts.run_s(),
        result: facts.seen(),
        factors: facts.factors.as_ref(),
        paces: paces(facts),
        regions: &facts.regions,
        episodes: facts.episodes.iter().map(|e| episode(facts, e)).collect(),
        caused: &facts.caused,
        advice: advice::advice(facts),
        unexplained_share: facts.seen().map(|_| facts.unexplained_share()),
        series: facts.series.total,
        series_without_readings: facts.series.without_readings,
        series_fell_silent: facts.series.fell_silent,
        page: stamp.permalink(job.job_id.as_str()),
        version: stamp.version,
        written: stamp.written.seconds(),
    }
}

fn episode<'a>(facts: &PostMortem, of: &'a ResourceEpisode) -> EpisodeJson<'a> {
    let (e, in_run) = (&of.episode, facts.lost_in_run(of));
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
        slowdown_in_run_s: in_run.value,
        slowdown_in_run_lo_s: in_run.lo,
        slowdown_in_run_hi_s: in_run.hi,
        completeness: e.completeness,
        causes: &e.causes,
    }
}
