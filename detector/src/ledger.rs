//! Jobs by number and by node, the series each of them uses, and their latest results.

use schemas::{Job, JobResult, Name, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Seconds after its end in which a job's result may still change: episodes settle, rows come late.
const SETTLES_S: f64 = 300.0;
/// Seconds after its end when a job is forgotten here; the store keeps it.
const FORGOTTEN_S: f64 = 86_400.0;
/// Seconds after its start when a job whose end never came is forgotten.
const ENDLESS_FORGOTTEN_S: f64 = 30.0 * 86_400.0;
/// Seconds after which a result is taken anew though no episode changed: its completeness did.
const RENEWED_S: f64 = 10.0;

/// All jobs that still matter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobLedger {
    jobs: BTreeMap<Name, Tracked>,
    by_node: HashMap<Name, BTreeSet<Name>>,
    changed: BTreeSet<Name>,
}

/// A job and what is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracked {
    /// The job.
    pub job: Job,
    /// Its series, and how many series there were in all when they were looked up.
    pub series: Vec<SeriesIndex>,
    /// For each of its nodes, whether there are series of it.
    pub known_nodes: Vec<bool>,
    looked_up_of: Option<usize>,
    /// What it lost, when that was last reckoned, and whether it will not change any more.
    result: Option<JobResult>,
    reckoned: Option<Time>,
    settled: bool,
}

impl JobLedger {
    /// Adds or replaces a job.
    pub fn put(&mut self, job: Job) {
        for node in &job.nodes {
            self.by_node.entry(node.clone()).or_default().insert(job.job_id.clone());
        }
        self.changed.insert(job.job_id.clone());
        let fresh = |job| Tracked {
            job,
            series: Vec::new(),
            known_nodes: Vec::new(),
            looked_up_of: None,
            result: None,
            reckoned: None,
            settled: false,
        };
        self.jobs.insert(job.job_id.clone(), fresh(job));
    }

    /// Latest results, in the order of the jobs' numbers.
    pub fn results(&self) -> impl Iterator<Item = &JobResult> {
        self.jobs.values().filter_map(|tracked| tracked.result.as_ref())
    }

    /// Jobs put since the last call.
    pub fn take_changed(&mut self) -> Vec<Job> {
        let changed = std::mem::take(&mut self.changed);
        changed.iter().filter_map(|id| self.jobs.get(id)).map(|tracked| tracked.job.clone()).collect()
    }

    /// Jobs on `node` at `time`; several on a shared node.
    pub fn on_node_at(&self, node: &Name, time: Time) -> impl Iterator<Item = &Job> {
        let ids = self.by_node.get(node).into_iter().flatten();
        let jobs = ids.filter_map(|id| self.jobs.get(id)).map(|tracked| &tracked.job);
        jobs.filter(move |job| job.overlaps(time, time + 1))
    }

    /// The first time after `time` at which a job on `node` starts or ends.
    pub fn next_boundary(&self, node: &Name, time: Time) -> Option<Time> {
        let ids = self.by_node.get(node).into_iter().flatten();
        let jobs = ids.filter_map(|id| self.jobs.get(id)).map(|tracked| &tracked.job);
        jobs.flat_map(|job| [Some(job.start), job.end]).flatten().filter(|t| *t > time).min()
    }

    /// The earliest start of a job whose result may still change.
    pub fn earliest_unsettled(&self) -> Option<Time> {
        self.jobs.values().filter(|t| !t.settled).map(|t| t.job.start).min()
    }

    /// Jobs whose series have to be looked up, since there are `series_count` series now.
    pub fn without_series(&self, series_count: usize) -> Vec<Name> {
        let stale = |t: &&Tracked| !t.settled && t.looked_up_of != Some(series_count);
        self.jobs.values().filter(stale).map(|t| t.job.job_id.clone()).collect()
    }

    /// A job by number.
    pub fn get(&self, job_id: &Name) -> Option<&Job> {
        self.jobs.get(job_id).map(|tracked| &tracked.job)
    }

    /// Sets the series of a job, in the order of their numbers; those that are new to it come back.
    pub fn set_series(
        &mut self,
        job_id: &Name,
        series: Vec<SeriesIndex>,
        known_nodes: Vec<bool>,
        series_count: usize,
    ) -> Vec<SeriesIndex> {
        let Some(tracked) = self.jobs.get_mut(job_id) else { return Vec::new() };
        tracked.looked_up_of = Some(series_count);
        // Both lists are in order.
        let is_new = |s: &SeriesIndex| tracked.series.binary_search(s).is_err();
        let new: Vec<SeriesIndex> = series.iter().copied().filter(is_new).collect();
        tracked.series = series;
        tracked.known_nodes = known_nodes;
        new
    }

    /// Reckons the results that are due at `now`: of jobs that are new, that have a series among `changed`,
    /// or whose last result is old. A result after the job has settled is its last.
    pub fn reckon(
        &mut self,
        now: Time,
        changed: &HashSet<SeriesIndex>,
        all: bool,
        mut result: impl FnMut(&Tracked) -> JobResult,
    ) -> Vec<JobResult> {
        let mut results = Vec::new();
        for tracked in self.jobs.values_mut().filter(|t| !t.settled) {
            let settles = tracked.job.end.is_some_and(|end| now.seconds_since(end) > SETTLES_S);
            let old = tracked.reckoned.is_none_or(|then| now.seconds_since(then) >= RENEWED_S);
            if !(all || settles || old || tracked.series.iter().any(|s| changed.contains(s))) {
                continue;
            }
            let found = result(tracked);
            (tracked.reckoned, tracked.settled) = (Some(now), settles);
            tracked.result = Some(found.clone());
            results.push(found);
        }
        results
    }

    /// Calls `look` for each job whose result may still change; after a job has settled it is looked at once more.
    pub fn unsettled(&mut self, now: Time, mut look: impl FnMut(&Tracked)) {
        for tracked in self.jobs.values_mut().filter(|t| !t.settled) {
            look(tracked);
            tracked.settled = tracked.job.end.is_some_and(|end| now.seconds_since(end) > SETTLES_S);
        }
    }

    /// Forgets jobs that ended long before `now`.
    pub fn forget(&mut self, now: Time) {
        let over = |t: &Tracked| match t.job.end {
            Some(end) => t.settled && now.seconds_since(end) > FORGOTTEN_S,
            None => now.seconds_since(t.job.start) > ENDLESS_FORGOTTEN_S,
        };
        let gone: Vec<Name> =
            self.jobs.iter().filter(|(_, t)| over(t)).map(|(job_id, _)| job_id.clone()).collect();
        for job_id in gone {
            let Some(tracked) = self.jobs.remove(&job_id) else { continue };
            for node in &tracked.job.nodes {
                if let Some(ids) = self.by_node.get_mut(node) {
                    ids.remove(&job_id);
                }
            }
        }
        self.by_node.retain(|_, ids| !ids.is_empty());
    }
}
