//! The facts of a post-mortem, and the figures that follow from them. Nothing is read or printed here.

use schemas::{Cause, Episode, Job, JobResult, Metric, Time};

/// Everything the store knows about one job's loss.
#[derive(Clone, Debug, PartialEq)]
pub struct PostMortem {
    /// Who, where, when.
    pub job: Job,
    /// The end of the run, or for a job without one the latest time the store knows.
    pub until: Time,
    /// What it lost; `None` if no result was ever written.
    pub result: Option<JobResult>,
    /// Contended stretches of its series during its run, in the order of their start.
    pub episodes: Vec<ResourceEpisode>,
    /// How many of its series were heard.
    pub series: SeriesCount,
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

/// A job's series by when they were last heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesCount {
    /// All of them.
    pub total: u64,
    /// Never heard, or not since the job began.
    pub unheard: u64,
    /// Heard during the run, and silent before its end.
    pub fell_silent: u64,
}

impl PostMortem {
    /// Length of the run so far, in seconds.
    pub fn run_s(&self) -> f64 {
        self.until.seconds_since(self.job.start).max(0.0)
    }

    /// The result, if anything at all was seen of the job: without data there is none, whatever its figures say.
    pub fn seen(&self) -> Option<&JobResult> {
        self.result.as_ref().filter(|r| r.completeness > 0.0)
    }

    /// Seconds that an episode cost within the run; it may have begun before, or lasted longer.
    pub fn lost_in_run_s(&self, of: &ResourceEpisode) -> f64 {
        of.episode.slowdown_between_s(self.job.start, self.until)
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

    /// Share of the loss for which nobody is named, 0 to 1.
    pub fn unexplained_share(&self) -> f64 {
        let causes = self.result.iter().flat_map(|r| &r.causes);
        let named = causes.filter(|c| c.cause != Cause::Unknown);
        (1.0 - named.map(|c| c.share).sum::<f64>()).clamp(0.0, 1.0)
    }
}
