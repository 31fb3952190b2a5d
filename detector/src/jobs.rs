//! What a job lost.
//!
//! Model then reduce: every series is modelled for itself; a job's loss at any moment is the mean over its
//! series of one metric, and the worst metric counts, since a job waits for its slowest resource and must
//! not be charged twice for one second.

use crate::coverage::Coverage;
use crate::episodes::EpisodeBook;
use schemas::{
    Cause, CauseKind, CauseShare, Episode, Job, JobResult, Metric, SeriesIndex, SeriesTable, Time,
};
use std::collections::BTreeMap;

/// What a job's result is made of.
pub struct Facts<'a> {
    /// The series that belong to the job.
    pub series: &'a [SeriesIndex],
    /// Nodes of the job that nothing is known of: each counts as one series that was never seen.
    pub silent_nodes: usize,
    /// All series.
    pub table: &'a SeriesTable,
    /// All episodes.
    pub episodes: &'a EpisodeBook,
    /// Ticks seen.
    pub coverage: &'a Coverage,
    /// The newest timestamp; a job without an end is judged up to here.
    pub now: Time,
    /// Seconds between samples.
    pub tick_s: f64,
}

/// What `job` lost.
pub fn result(job: &Job, facts: &Facts<'_>) -> JobResult {
    let end = job.end.unwrap_or(facts.now).min(facts.now);
    let mut relevant: Vec<&Episode> = facts.episodes.between(facts.series, job.start, end);
    relevant.sort_by_key(|e| (e.start, e.id));
    let losses = reduce(job, end, &relevant, facts);
    let seen = facts.series.iter().map(|s| facts.coverage.completeness(*s, job.start, end, facts.tick_s));
    let expected = facts.series.len() + facts.silent_nodes;
    let completeness = seen.fold(0.0, |sum, part| sum + part) / expected.max(1) as f64;
    JobResult {
        job_id: job.job_id.clone(),
        contended_s: losses.contended_s,
        slowdown_s: losses.lost_s,
        slowdown_lo_s: (losses.certain_s - losses.variance.sqrt()).max(0.0),
        slowdown_hi_s: losses.most_s.max(losses.lost_s) + losses.variance.sqrt(),
        completeness,
        causes: causes(job, &losses.by_episode, &relevant, facts.table),
    }
}

#[derive(Default)]
struct Losses {
    contended_s: f64,
    lost_s: f64,
    /// Of `lost_s`, what was measured as progress lost. Stalls on links tell how much slower messages are,
    /// not how much of its time the job spends in messages, so they raise the upper end alone.
    certain_s: f64,
    /// What it would be if the job waited for the worst of its series on the network, not for their mean.
    most_s: f64,
    variance: f64,
    by_episode: BTreeMap<u64, f64>,
}

/// Cuts the run at every begin and end of an episode; within a piece each metric's loss is a mean over
/// its series, and the largest one counts.
fn reduce(job: &Job, end: Time, episodes: &[&Episode], facts: &Facts<'_>) -> Losses {
    let clip = |t: Time| t.clamp(job.start, end.max(job.start));
    let mut cuts: Vec<Time> = episodes.iter().flat_map(|e| [clip(e.start), clip(e.end)]).collect();
    cuts.sort();
    cuts.dedup();
    let widths: Vec<(Metric, f64)> = Metric::ALL.iter().map(|m| (*m, width(*m, job, end, facts))).collect();
    let mut losses = Losses::default();
    for piece in cuts.windows(2) {
        let within: Vec<&&Episode> =
            episodes.iter().filter(|e| e.start < piece[1] && e.end > piece[0]).collect();
        let of = |metric: Metric, width: f64| -> f64 {
            let own = within.iter().filter(|e| metric_of(facts.table, e) == Some(metric));
            own.map(|e| e.slowdown_between_s(piece[0], piece[1])).sum::<f64>() / width
        };
        let worst = widths.iter().map(|(m, w)| (*m, *w, of(*m, *w))).max_by(|a, b| a.2.total_cmp(&b.2));
        let Some((metric, width, lost_s)) = worst.filter(|_| !within.is_empty()) else {
            continue;
        };
        losses.contended_s += piece[1].seconds_since(piece[0]);
        losses.lost_s += lost_s;
        let mut worst_s = lost_s;
        for episode in within.iter().filter(|e| metric_of(facts.table, e) == Some(metric)) {
            let part = episode.slowdown_between_s(piece[0], piece[1]);
            *losses.by_episode.entry(episode.id.0).or_default() += part / width;
            worst_s = worst_s.max(part);
        }
        let measured = metric == Metric::LustreWriteRate;
        losses.certain_s += if measured { lost_s } else { 0.0 };
        losses.most_s += if measured { lost_s } else { worst_s };
    }
    losses.variance = episodes.iter().map(|e| variance(e, &losses.by_episode)).sum();
    losses
}

/// Squared half width of the part of an episode's loss that the job is charged.
fn variance(episode: &Episode, charged: &BTreeMap<u64, f64>) -> f64 {
    let part = charged.get(&episode.id.0).copied().unwrap_or(0.0);
    if episode.slowdown_s <= 0.0 {
        return 0.0;
    }
    ((episode.slowdown_hi_s - episode.slowdown_s) * part / episode.slowdown_s).powi(2)
}

/// Series of a metric that the job used: the mean is taken over these, so that idle links and silent
/// writers do not dilute it.
fn width(metric: Metric, job: &Job, end: Time, facts: &Facts<'_>) -> f64 {
    let used = |s: &&SeriesIndex| {
        facts.table[s.at()].metric == metric && facts.coverage.was_active(**s, job.start, end)
    };
    facts.series.iter().filter(used).count().max(1) as f64
}

fn metric_of(table: &SeriesTable, episode: &Episode) -> Option<Metric> {
    table.get(episode.series.at()).map(|info| info.metric)
}

/// Causes of the episodes, weighted with what each cost the job; what no episode explains is unknown.
/// A job that is named as a cause of its own loss contends with itself.
fn causes(
    job: &Job,
    charged: &BTreeMap<u64, f64>,
    episodes: &[&Episode],
    table: &SeriesTable,
) -> Vec<CauseShare> {
    let total: f64 = charged.values().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let mut shares: BTreeMap<(Cause, CauseKind, String), f64> = BTreeMap::new();
    for episode in episodes {
        let weight = charged.get(&episode.id.0).copied().unwrap_or(0.0) / total;
        let explained: f64 = episode.causes.iter().map(|c| c.share).sum();
        for cause in &episode.causes {
            let own = cause.series_or_job == job.job_id.as_str();
            let sort = if own { Cause::SelfInflicted } else { cause.cause };
            let key = (sort, cause.kind, cause.series_or_job.clone());
            *shares.entry(key).or_default() += weight * cause.share;
        }
        let name = table.get(episode.series.at()).map_or(String::new(), |info| info.name());
        let rest = weight * (1.0 - explained).max(0.0);
        *shares.entry((Cause::Unknown, CauseKind::Unknown, name)).or_default() += rest;
    }
    let mut causes: Vec<CauseShare> = shares
        .into_iter()
        .filter(|(_, share)| *share > 0.005)
        .map(|((cause, kind, series_or_job), share)| CauseShare { cause, kind, series_or_job, share })
        .collect();
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes
}
