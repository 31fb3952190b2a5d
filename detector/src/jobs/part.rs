//! What one detector knows of a job's loss.

use super::Facts;
use super::cell_runs::CellRuns;
use super::cells::{self, Cells, Unjudged};
use super::pace::Pace;
use super::shares::{CauseSums, merged};
use schemas::{Cause, CauseKind, Episode, EpisodeEvidence, Job, Metric, Name, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Causes of less than this share of a part's loss are not sent on: an answer names none below 0.5%.
const LEAST_SHARE: f64 = 0.0005;
/// Part of the variance of an episode that the other episodes of its series have, too.
const SHARED_ERROR: f64 = 0.5;
/// Stretches of activity that are sent; of more, those less than so many microseconds apart become one, or twice as many, and so on.
const STRETCHES_MAX: usize = 64;
const FINEST_GAP_US: i64 = 2_000_000;
/// Parts of one in sums of completenesses.
const FIXED_POINT: f64 = (1_u64 << 32) as f64;

/// A job's loss as far as one detector sees it. It replaces the earlier part of the same detector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobPart {
    /// When the job started.
    pub start: Time,
    /// Up to when it is judged: its end, or the newest timestamp.
    pub until: Time,
    /// Series of the job that this detector has.
    pub series: u32,
    /// Sum of their completenesses, each 0 to 1.
    pub completeness_sum: f64,
    /// Sum of their judged shares, each 0 to 1.
    pub judged_sum: f64,
    /// For each node of the job, whether this detector has a series of it.
    pub known_nodes: Vec<bool>,
    /// Doublings of a second in a cell.
    pub grain: u32,
    /// Parts by metric; only metrics of which the job has series.
    pub metrics: Vec<MetricPart>,
    /// Whether it is of links alone, from the fabric stage, which sees all of them: then other parts are not used for links.
    pub of_links: bool,
    /// What the job reports of its own progress, by name.
    pub progress: Vec<(Name, Pace)>,
    /// Stretches in which its nodes used a file system, in order; only where it reports progress.
    pub active: Vec<(Time, Time)>,
}

/// What the series of one metric lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricPart {
    /// Which metric.
    pub metric: Metric,
    /// Series of it that the job used: the mean is taken over these, so that idle links and silent
    /// writers do not dilute it.
    pub used: u32,
    /// Series of it of which it is not known whether the job used them.
    pub unknown: u32,
    /// Losses by the cell's number since the epoch; only cells that are contended or not judged.
    pub cells: CellRuns,
    /// Squared half width of the interval of the sum of all episodes, in square seconds.
    pub variance_s2: f64,
    /// The part of the loss that is lost however the job waits, 0 to 1: all of what was measured as progress; of stalls
    /// what the mean of its flows loses, where the flows are known, else nothing.
    pub least_share: f64,
    /// Seconds lost in episodes that are suspected only, over all series.
    pub suspected_s: f64,
    /// Seconds that the job may have lost besides, over all series: its own traffic fell for a while without a sign of contention, or
    /// servers were slow and its fall is too small to show.
    pub unexplained_s: f64,
    /// Its causes, with the seconds lost to each, over all series.
    pub causes: Vec<CauseLoss>,
}

/// What one cause took from a job's series of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseLoss {
    /// What sort of cause.
    pub cause: Cause,
    /// What sort of bottleneck.
    pub kind: CauseKind,
    /// The job that causes it, or the series where no job is known.
    pub series_or_job: String,
    /// Seconds, over all series.
    pub lost_s: f64,
}

/// The part of `job`'s result from this detector's series.
pub fn part(job: &Job, facts: &Facts<'_>) -> JobPart {
    let until = job.end.unwrap_or(facts.now).min(facts.now);
    let grain = cells::grain(job.start, until);
    // Summed in fixed point: floating point would depend on the order in which series were first seen.
    let seen = |s: &SeriesIndex| facts.coverage.completeness(*s, job.start, until, facts.tick_s);
    let completeness: i64 = facts.series.iter().map(|s| fixed(seen(s))).sum();
    let of_metric = |metric: Metric| -> Option<MetricPart> {
        let of_it = |s: &&SeriesIndex| facts.table[s.at()].metric == metric;
        let series: Vec<SeriesIndex> = facts.series.iter().filter(of_it).copied().collect();
        (!series.is_empty()).then(|| metric_part(metric, &series, job, until, grain, facts))
    };
    JobPart {
        start: job.start,
        until,
        series: facts.series.len() as u32,
        completeness_sum: completeness as f64 / FIXED_POINT,
        judged_sum: judged_sum(job, until, facts),
        known_nodes: facts.known_nodes.to_vec(),
        grain,
        metrics: Metric::all().filter_map(of_metric).collect(),
        of_links: false,
        progress: progress(job, until, facts),
        active: active(job, until, facts),
    }
}

/// What the job reported while it ran; reports of a requeued job are of the run of their time.
fn progress(job: &Job, until: Time, facts: &Facts<'_>) -> Vec<(Name, Pace)> {
    let reported =
        facts.reports.of(&job.job_id).map(|(name, pace)| (name.clone(), pace.between(job.start, until)));
    reported.filter(|(_, pace)| pace.covered_s() > 0.0).collect()
}

/// When a series of progress on a file system was active, each second once. Whether the job reports is not asked: another detector may
/// have its reports.
fn active(job: &Job, until: Time, facts: &Facts<'_>) -> Vec<(Time, Time)> {
    let of_files = facts.series.iter().filter(|s| facts.table[s.at()].metric.is_progress());
    apart(of_files.flat_map(|s| facts.coverage.active(*s, job.start, until)).collect())
}

/// Stretches in order and apart from each other.
pub(super) fn joined(mut stretches: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    stretches.sort_unstable();
    let mut found: Vec<(Time, Time)> = Vec::new();
    for (from, to) in stretches {
        match found.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => found.push((from, to)),
        }
    }
    found
}

/// The same; of too many the nearest become one.
pub(super) fn apart(stretches: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    let mut found = joined(stretches);
    let mut gap_us = FINEST_GAP_US;
    while found.len() > STRETCHES_MAX {
        found.dedup_by(|later, kept| {
            let is_near = later.0 - kept.1 <= gap_us;
            if is_near {
                kept.1 = later.1;
            }
            is_near
        });
        gap_us *= 2;
    }
    found
}

fn fixed(share: f64) -> i64 {
    (share * FIXED_POINT).round() as i64
}

/// The sum over all series of the share of the job's time that was judged. A client that writes says nothing of its reading: series of
/// progress without activity have the mean of those with activity, where the job has such.
fn judged_sum(job: &Job, until: Time, facts: &Facts<'_>) -> f64 {
    let run_s = until.seconds_since(job.start);
    let judged = |s: &SeriesIndex| {
        let stretches = facts.coverage.unjudged(*s, job.start, until, facts.gap_s);
        let unjudged_s: f64 = stretches.map(|(_, _, seconds)| seconds).sum();
        if run_s > 0.0 { (1.0 - unjudged_s / run_s).max(0.0) } else { 0.0 }
    };
    let is_progress = |s: &SeriesIndex| facts.table[s.at()].metric.is_progress();
    let was_used = |s: &SeriesIndex| facts.coverage.was_active(*s, job.start, until);
    let uses_any = facts.series.iter().any(|s| is_progress(s) && was_used(s));
    let (mut all, mut sum) = (0, 0);
    for series in facts.series {
        let share = judged(series);
        // An idle series that was hardly seen may have been used.
        if !uses_any || !is_progress(series) || was_used(series) || share < 0.5 {
            (all, sum) = (all + 1, sum + fixed(share));
        }
    }
    sum as f64 / FIXED_POINT * facts.series.len() as f64 / f64::from(all.max(1))
}

fn metric_part(
    metric: Metric,
    series: &[SeriesIndex],
    job: &Job,
    until: Time,
    grain: u32,
    facts: &Facts<'_>,
) -> MetricPart {
    let was_used = |s: &SeriesIndex| facts.coverage.was_active(*s, job.start, until);
    let used = series.iter().filter(|s| was_used(s)).count();
    let mut cells = Cells::new();
    let (unjudged, unknown) = unjudged(series, was_used, (job.start, until), grain, facts);
    let mut episodes = facts.episodes.between(series, job.start, until);
    // Sums of floating point depend on their order, so it must not be that of detection.
    let named = |e: &Episode| facts.table[e.series.at()].name();
    episodes.sort_by_cached_key(|e| (e.start, named(e)));
    let (mut errors, mut suspected_s) = (Errors::default(), 0.0);
    let mut causes = CauseSums::new();
    for episode in episodes {
        let lost_s = cells::add_episode(&mut cells, episode, job.start, until, grain);
        errors.add(named(episode), half_width_s(episode, lost_s));
        if episode.evidence(metric) == EpisodeEvidence::Suspected {
            suspected_s += lost_s;
        }
        add_causes(&mut causes, episode, lost_s, &job.job_id, || named(episode));
    }
    let unseen_s = series.iter().map(|s| facts.coverage.unseen_s(*s, job.start, until)).sum();
    let total_s: f64 = cells.values().map(|cell| cell.lost_s).sum();
    let causes = merged(causes).into_iter().filter(|(_, lost_s)| *lost_s > LEAST_SHARE * total_s);
    let causes =
        causes.map(|((cause, kind, series_or_job), lost_s)| CauseLoss { cause, kind, series_or_job, lost_s });
    MetricPart {
        metric,
        used: used as u32,
        unknown,
        cells: unjudged.with(cells),
        variance_s2: errors.variance_s2(),
        suspected_s,
        unexplained_s: unseen_s,
        least_share: if metric.is_progress() { 1.0 } else { 0.0 },
        causes: causes.collect(),
    }
}

/// What was not judged of the series that the job used, and of those that were hardly seen; the count of these.
fn unjudged(
    series: &[SeriesIndex],
    was_used: impl Fn(&SeriesIndex) -> bool,
    (from, until): (Time, Time),
    grain: u32,
    facts: &Facts<'_>,
) -> (Unjudged, u32) {
    let (mut unjudged, mut unknown) = (Unjudged::default(), 0);
    for series in series {
        let stretches: Vec<_> = facts.coverage.unjudged(*series, from, until, facts.gap_s).collect();
        let unjudged_s: f64 = stretches.iter().map(|(_, _, seconds)| seconds).sum();
        let used = was_used(series);
        // An idle series that was seen for most of the time lost nothing.
        if !used && 2.0 * unjudged_s < until.seconds_since(from) {
            continue;
        }
        unknown += u32::from(!used);
        stretches.into_iter().for_each(|stretch| unjudged.add(stretch, grain));
    }
    (unjudged, unknown)
}

/// Errors of a job's episodes. Those of one series are compared with one baseline, whose error they share.
#[derive(Default)]
struct Errors {
    /// By the name of the series: the sum of half widths, and of their squares. Sums depend on their order.
    by_series: BTreeMap<String, (f64, f64)>,
}

impl Errors {
    fn add(&mut self, series: String, half_width_s: f64) {
        let (sum_s, squares_s2) = self.by_series.entry(series).or_default();
        (*sum_s, *squares_s2) = (*sum_s + half_width_s, *squares_s2 + half_width_s * half_width_s);
    }

    fn variance_s2(&self) -> f64 {
        let of_series = |(sum_s, squares_s2): &(f64, f64)| {
            SHARED_ERROR * sum_s * sum_s + (1.0 - SHARED_ERROR) * squares_s2
        };
        self.by_series.values().map(of_series).sum()
    }
}

/// Half width of the interval of the part of an episode's loss that falls into the job.
fn half_width_s(episode: &Episode, lost_s: f64) -> f64 {
    if episode.slowdown_s <= 0.0 {
        return 0.0;
    }
    (episode.slowdown_hi_s - episode.slowdown_s) * lost_s / episode.slowdown_s
}

/// Adds the causes of an episode, weighted with what it cost; what they do not explain is unknown. A job that
/// is named as a cause of its own loss contends with itself.
fn add_causes(
    causes: &mut CauseSums,
    episode: &Episode,
    lost_s: f64,
    job_id: &Name,
    series: impl FnOnce() -> String,
) {
    let explained: f64 = episode.causes.iter().map(|c| c.share).sum();
    for cause in &episode.causes {
        let own = cause.series_or_job == job_id.as_str();
        let sort = if own { Cause::SelfInflicted } else { cause.cause };
        *causes.entry((sort, cause.kind, cause.series_or_job.clone())).or_default() += lost_s * cause.share;
    }
    let rest = lost_s * (1.0 - explained).max(0.0);
    *causes.entry((Cause::Unknown, CauseKind::Unknown, series())).or_default() += rest;
}
