//! The facts of a post-mortem, and the numbers that follow from them. Nothing is read or printed here.

use schemas::{Cause, CauseKind, Episode, Job, JobFactors, JobResult, Metric, Time};
use serde::Serialize;

/// Everything the store knows about one job's loss.
#[derive(Clone, Debug, PartialEq)]
pub struct PostMortem {
    /// Owner, nodes, times.
    pub job: Job,
    /// The end of the run, or for a job without one the latest time the store knows.
    pub until: Time,
    /// What it lost; `None` if no result was ever written.
    pub result: Option<JobResult>,
    /// Contended stretches of its series during its run, in the order of their start.
    pub episodes: Vec<ResourceEpisode>,
    /// How many of its series reported.
    pub series: SeriesCount,
    /// What its loss is made of; `None` where nothing was learned of it.
    pub factors: Option<JobFactors>,
    /// Contended regions that it waits in, the largest loss first, then those of whose load it makes a part.
    pub regions: Vec<JobRegion>,
}

/// A contended region that a job has to do with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobRegion {
    /// Its number.
    pub id: u64,
    /// Its readable name.
    pub name: String,
    /// Whether the job waits in it; else it makes a part of its load.
    pub waits: bool,
    /// From when on within the run, in seconds since the epoch.
    pub from: f64,
    /// Until when within the run, in seconds since the epoch.
    pub until: f64,
    /// Whether it is ongoing.
    pub open: bool,
    /// Most links it ever had.
    pub links_most: i64,
    /// The worst windowed ratio ever seen in it, in the metric's unit.
    pub peak: Option<f64>,
    /// Seconds the job lost there; `None` where it does not wait.
    pub lost_s: Option<f64>,
    /// The job's share of what all victims lost, or of the load that it makes.
    pub share: f64,
    /// Its largest cause, or what sort of cause the job is.
    pub cause: Cause,
    /// What could be done about it.
    pub kind: CauseKind,
    /// The largest cause: a job or a series; empty where it is unknown.
    #[serde(rename = "who")]
    pub source: String,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// Share of its links' data that was there, 0 to 1.
    pub completeness: f64,
}

/// An episode with the name of what was contended.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceEpisode {
    /// Name of the series.
    pub resource: String,
    /// What is measured; `None` for a metric this program does not know.
    pub metric: Option<Metric>,
    /// The stretch itself.
    pub episode: Episode,
}

/// A job's series by the time of their last reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesCount {
    /// All of them.
    pub total: u64,
    /// Without a reading since the job began.
    pub without_readings: u64,
    /// With readings during the run, and silent before its end.
    pub fell_silent: u64,
}

impl PostMortem {
    /// Length of the run so far, in seconds.
    pub fn run_s(&self) -> f64 {
        self.until.seconds_since(self.job.start).max(0.0)
    }

    /// The result, if anything at all was seen of the job: without data there is none, whatever its numbers are.
    pub fn seen(&self) -> Option<&JobResult> {
        self.result.as_ref().filter(|r| r.completeness > 0.0)
    }

    /// Seconds that an episode cost within the run; it may have begun before, or lasted longer.
    pub fn lost_in_run_s(&self, of: &ResourceEpisode) -> f64 {
        of.episode.slowdown_between_s(self.job.start, self.until)
    }

    /// The `most` episodes that cost most, in the order of their start.
    pub fn worst_episodes(&self, most: usize) -> Vec<&ResourceEpisode> {
        let mut all: Vec<(usize, &ResourceEpisode)> = self.episodes.iter().enumerate().collect();
        all.sort_by(|a, b| self.lost_in_run_s(b.1).total_cmp(&self.lost_in_run_s(a.1)));
        all.truncate(most);
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, e)| e).collect()
    }

    /// Share of the time lost in each of `columns` equal parts of the run, 0 to 1: the worst resource counts,
    /// because a job waits for its slowest part.
    pub fn loss_shares(&self, columns: usize) -> Vec<f64> {
        let span = self.run_s() / columns as f64;
        let part = |column: usize| {
            let from = self.job.start.plus_seconds(span * column as f64);
            let to = self.job.start.plus_seconds(span * (column + 1) as f64);
            let losses = self.episodes.iter().map(|e| e.episode.slowdown_between_s(from, to));
            losses.fold(0.0, f64::max) / span
        };
        (0..columns).map(|c| part(c).clamp(0.0, 1.0)).collect()
    }

    /// Share of the loss with unknown cause, 0 to 1.
    pub fn unexplained_share(&self) -> f64 {
        let causes = self.result.iter().flat_map(|r| &r.causes);
        let named = causes.filter(|c| c.cause != Cause::Unknown);
        (1.0 - named.map(|c| c.share).sum::<f64>()).clamp(0.0, 1.0)
    }
}
