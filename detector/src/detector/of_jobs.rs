//! The detector's jobs: where baselines restart, the series of each job, what was lost.

use super::Detector;
use crate::coverage::Coverage;
use crate::jobs::{self, Facts, JobPart};
use crate::ledger::Tracked;
use schemas::{DropReason, Episode, Job, JobResult, Name, SeriesIndex, SeriesInfo, Time};
use std::collections::{BTreeMap, HashSet};

/// A job row that comes this many seconds after the job's start still restarts the baselines of its nodes.
const JOB_ROW_DELAY_S: f64 = 10.0;
/// Seconds between two looks at what can be forgotten.
const TIDIED_S: f64 = 60.0;
/// Closed episodes are kept for so many seconds even if no job needs them.
const EPISODES_KEPT_S: f64 = 3_600.0;

impl Detector {
    /// Latest results of the jobs, in the order of their numbers.
    pub fn job_results(&self) -> Vec<JobResult> {
        self.jobs.results().cloned().collect()
    }

    /// Sets when a job begins or ends next on the series' node. A boundary that was passed is not passed
    /// again when another row describes the same job.
    pub(super) fn set_boundary(&mut self, series: SeriesIndex, node: &Name) {
        let last = self.coverage.last(series).unwrap_or(Time::MIN);
        let from = last.plus_seconds(-JOB_ROW_DELAY_S).max(self.series[series.at()].passed_boundary);
        let next = self.jobs.next_boundary(self.node_of_jobs(node), from);
        self.series[series.at()].next_boundary = next.unwrap_or(Time(i64::MAX));
    }

    /// A clock stepped back to `time`: boundaries after it lie ahead again.
    pub(super) fn pass_boundaries_again(&mut self, series: SeriesIndex, time: Time) {
        if time < self.series[series.at()].passed_boundary {
            self.series[series.at()].passed_boundary = time;
            let node = self.ingest.series()[series.at()].component.clone();
            self.set_boundary(series, &node);
        }
    }

    /// Moves on from the boundaries up to `until`, which a reading has passed; the latest of them.
    pub(super) fn pass_boundary(&mut self, series: SeriesIndex, until: Time) -> Time {
        let node = &self.ingest.series()[series.at()].component;
        let mut passed = self.series[series.at()].next_boundary;
        let node = self.node_of_jobs(node);
        let mut next = self.jobs.next_boundary(node, passed);
        while let Some(later) = next.filter(|next| *next <= until) {
            passed = later;
            next = self.jobs.next_boundary(node, later);
        }
        let slot = &mut self.series[series.at()];
        slot.passed_boundary = until;
        slot.next_boundary = next.unwrap_or(Time(i64::MAX));
        passed
    }

    /// How jobs spell a host of rows, where it is clear which one they mean.
    pub(super) fn node_of_jobs<'a>(&'a self, host: &'a Name) -> &'a Name {
        let spelled = self.jobs.spelling_of(host);
        spelled.filter(|spelled| *spelled == host || !self.ingest.is_ambiguous(host)).unwrap_or(host)
    }

    /// Series that belong to a node alone, as rows or jobs spell it; a router's links serve many.
    pub(super) fn node_series(&self, node: &Name) -> Vec<SeriesIndex> {
        let node = self.ingest.spelling_of(node);
        self.ingest.series_without_sum(node).filter(|series| series.at() < self.series.len()).collect()
    }

    /// Uses what jobs reported until all rows of that time must have come; after the end of the stream all of it.
    fn settle_reports(&mut self, now: Time) {
        let until = if self.finished { Time(i64::MAX) } else { now.plus_seconds(-self.known_after_s()) };
        for gain in self.ingest.settle_reported(until) {
            if !self.reports.add(&gain) {
                self.ingest.drops.count(DropReason::BufferFull);
            }
        }
    }

    /// Results that are due. `episodes` are those that changed.
    pub(super) fn changed_job_results(
        &mut self,
        episodes: &[Episode],
        on_links: &BTreeMap<Name, JobPart>,
    ) -> Vec<JobResult> {
        let Some(now) = self.ingest.newest() else { return Vec::new() };
        self.settle_reports(now);
        let changed: HashSet<SeriesIndex> = episodes.iter().map(|e| e.series).collect();
        let (table, stream) = (self.ingest.series(), &self.settings.stream);
        let (tick_s, gap_s) = (stream.tick_s, stream.gap_s);
        let (episodes, coverage, reports) = (&self.episodes, &self.coverage, &self.reports);
        let results = self.jobs.reckon(now, &changed, self.finished, |tracked| {
            let (series, known_nodes) = (&costly(&tracked.series, table), &tracked.known_nodes);
            let now = now_of(series, coverage, now);
            let facts = Facts { series, known_nodes, table, episodes, coverage, reports, now, tick_s, gap_s };
            jobs::result(&tracked.job, &facts, on_links.get(&tracked.job.job_id))
        });
        self.tidy(now);
        results
    }

    /// What this detector knows of each job that may still change, for the roll-up stage.
    pub fn job_parts(&mut self) -> Vec<(Name, JobPart)> {
        self.parts(None)
    }

    /// The same of jobs where it is due: of new ones, of those with a series of `episodes`, which changed, and every ten
    /// seconds. After the end of the stream of all.
    pub fn due_job_parts(&mut self, episodes: &[Episode]) -> Vec<(Name, JobPart)> {
        self.parts(Some(&episodes.iter().map(|e| e.series).collect()))
    }

    fn parts(&mut self, changed: Option<&HashSet<SeriesIndex>>) -> Vec<(Name, JobPart)> {
        let Some(now) = self.ingest.newest() else { return Vec::new() };
        self.settle_reports(now);
        let (table, stream) = (self.ingest.series(), &self.settings.stream);
        let (tick_s, gap_s) = (stream.tick_s, stream.gap_s);
        let (episodes, coverage, reports) = (&self.episodes, &self.coverage, &self.reports);
        let mut parts = Vec::new();
        let look = |tracked: &Tracked| {
            let (series, known_nodes) = (&costly(&tracked.series, table), &tracked.known_nodes);
            let now = now_of(series, coverage, now);
            let facts = Facts { series, known_nodes, table, episodes, coverage, reports, now, tick_s, gap_s };
            parts.push((tracked.job.job_id.clone(), jobs::part(&tracked.job, &facts)));
        };
        match changed {
            Some(changed) => self.jobs.due(now, changed, self.finished, look),
            None => self.jobs.unsettled(now, look),
        }
        self.tidy(now);
        parts
    }

    /// Reports a job that was over long ago, and keeps nothing of it.
    pub fn pass_job(&mut self, job: Job) {
        self.jobs.pass(job);
    }

    /// Forgets jobs that ended long before `now`, the time up to which the stream was read; no rows are needed for it.
    pub fn forget_jobs(&mut self, now: Time) {
        self.jobs.forget(now, self.settings.jobs_kept_s());
    }

    /// Whether the job is kept.
    pub fn keeps_job(&self, job_id: &Name) -> bool {
        self.jobs.get(job_id).is_some()
    }

    /// Looks up the series of jobs where there may be new ones; those newly assigned come back.
    pub(super) fn assign_series(&mut self) -> Vec<(Name, SeriesIndex)> {
        let given = self.ingest.series_given();
        let mut assigned = Vec::new();
        for job_id in self.jobs.without_series(given) {
            let (series, known) =
                self.jobs.get(&job_id).map(|job| self.series_of_job(job)).unwrap_or_default();
            let new = self.jobs.set_series(&job_id, series, known, given);
            assigned.extend(new.into_iter().map(|series| (job_id.clone(), series)));
        }
        assigned
    }

    /// Forgets jobs and episodes that nothing needs any more.
    fn tidy(&mut self, now: Time) {
        if now.seconds_since(self.tidied) < TIDIED_S {
            return;
        }
        self.tidied = now;
        self.jobs.forget(now, self.settings.jobs_kept_s());
        self.reports.forget(now, self.jobs.numbers());
        let needed = self.jobs.earliest_unsettled().unwrap_or(now);
        self.episodes.forget_before(needed.min(now.plus_seconds(-EPISODES_KEPT_S)));
    }

    /// A job's own nodes' series, and the routers (as a whole) that its nodes hang on; and for each of its
    /// nodes whether it has either, of a metric that seconds follow from.
    fn series_of_job(&self, job: &Job) -> (Vec<SeriesIndex>, Vec<bool>) {
        let mut series: Vec<SeriesIndex> = Vec::new();
        let mut known = Vec::with_capacity(job.nodes.len());
        for node in &job.nodes {
            let before = series.len();
            series.extend(self.node_series(node));
            series.extend(self.ingest.routers_of(self.ingest.spelling_of(node)));
            known.push(series[before..].iter().any(|s| self.ingest.series()[s.at()].metric.costs()));
        }
        series.retain(|s| s.at() < self.series.len());
        series.sort();
        series.dedup();
        (series, known)
    }
}

/// Those of `series` that seconds lost follow from.
fn costly(series: &[SeriesIndex], table: &[SeriesInfo]) -> Vec<SeriesIndex> {
    series.iter().filter(|s| table[s.at()].metric.costs()).copied().collect()
}

/// The time of a job: the stream's, or where half of its own series are further, theirs.
fn now_of(series: &[SeriesIndex], coverage: &Coverage, now: Time) -> Time {
    let mut last: Vec<Time> = series.iter().filter_map(|series| coverage.last(*series)).collect();
    if last.is_empty() {
        return now;
    }
    let middle = (last.len() - 1) / 2;
    now.max(*last.select_nth_unstable(middle).1)
}
