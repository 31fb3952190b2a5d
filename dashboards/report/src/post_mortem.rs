//! The facts of a post-mortem, and the numbers that follow from them. Nothing is read or printed here.

use schemas::{Cause, Interval, Job, JobFactors, JobResult, Time};
use store::read::episodes::ResourceEpisode;
use store::read::jobs::{CausedLoss, SeriesCount};
use store::read::regions::JobRegion;

/// Everything the store knows about one job's loss.
#[derive(Clone, Debug, PartialEq)]
pub struct PostMortem {
    /// Owner, nodes, times.
    pub(crate) job: Job,
    /// The end of the run, or for a job without one the latest time the store knows.
    pub(crate) until: Time,
    /// What it lost; `None` if no result was ever written.
    pub(crate) result: Option<JobResult>,
    /// Contended stretches of its series during its run, in the order of their start.
    pub(crate) episodes: Vec<ResourceEpisode>,
    /// How many of its series reported.
    pub(crate) series: SeriesCount,
    /// What its loss is made of; `None` where nothing was learned of it.
    pub(crate) factors: Option<JobFactors>,
    /// Contended regions that it waits in, the largest loss first, then those of whose load it makes a part.
    pub(crate) regions: Vec<JobRegion>,
    /// What other jobs lost to it, the largest lower end first.
    pub(crate) caused: Vec<CausedLoss>,
    /// Name and pace of what earlier runs of its configuration counted.
    pub(crate) earlier_paces: Vec<(String, f64)>,
}

impl PostMortem {
    /// Length of the run so far, in seconds.
    pub(crate) fn run_s(&self) -> f64 {
        self.until.seconds_since(self.job.start).max(0.0)
    }

    /// The result, if anything at all was seen of the job: without data there is none, whatever its numbers are.
    pub(crate) fn seen(&self) -> Option<&JobResult> {
        self.result.as_ref().filter(|r| r.completeness > 0.0)
    }

    /// Seconds that an episode cost within the run; it may have begun before, or lasted longer. The ends are the same part of
    /// those of the episode.
    pub(crate) fn lost_in_run(&self, of: &ResourceEpisode) -> Interval {
        let episode = &of.episode;
        let value = episode.slowdown_between_s(self.job.start, self.until);
        let part = if episode.slowdown_s > 0.0 { value / episode.slowdown_s } else { 1.0 };
        Interval { value, lo: part * episode.slowdown_lo_s, hi: part * episode.slowdown_hi_s }
    }

    /// The `most` episodes that cost most by the lower end, in the order of their start.
    pub(crate) fn worst_episodes(&self, most: usize) -> Vec<&ResourceEpisode> {
        let mut all: Vec<(usize, &ResourceEpisode)> = self.episodes.iter().enumerate().collect();
        all.sort_by(|a, b| self.lost_in_run(b.1).by_lower_end(&self.lost_in_run(a.1)));
        all.truncate(most);
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, e)| e).collect()
    }

    /// Share of the time lost in each of `columns` equal parts of the run, 0 to 1: the worst resource counts,
    /// because a job waits for its slowest part.
    pub(crate) fn loss_shares(&self, columns: usize) -> Vec<f64> {
        let span = self.run_s() / columns as f64;
        let part = |column: usize| {
            let from = self.job.start.plus_seconds(span * column as f64);
            let to = self.job.start.plus_seconds(span * (column + 1) as f64);
            let losses = self.episodes.iter().map(|e| e.episode.slowdown_between_s(from, to));
            losses.fold(0.0, f64::max) / span
        };
        (0..columns).map(|c| part(c).clamp(0.0, 1.0)).collect()
    }

    /// How sure a source is: that of the region, among those it waits in, in which it lost most to this source; `None` where no
    /// region has it as its cause.
    pub(crate) fn confidence(&self, source: &str) -> Option<f64> {
        let names_it = |region: &&JobRegion| region.waits && !source.is_empty() && region.source == source;
        self.regions.iter().find(names_it).map(|region| region.confidence)
    }

    /// Share of the loss with unknown cause, 0 to 1.
    pub(crate) fn unexplained_share(&self) -> f64 {
        let causes = self.result.iter().flat_map(|r| &r.causes);
        let named = causes.filter(|c| c.cause != Cause::Unknown);
        (1.0 - named.map(|c| c.share).sum::<f64>()).clamp(0.0, 1.0)
    }
}
