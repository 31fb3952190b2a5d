//! Jobs by number and by node, the series each of them uses, and their latest results.
//!
//! Every job has an end here. Where no end event was received it is presumed: `open_max_s` after the start, or, where nodes are
//! not shared, when the next job starts on one of its nodes. To the outside such a job runs until that time has come.

mod written_job;

use crate::settings::JobSettings;
use crate::spellings::Spellings;
use schemas::{Job, JobResult, Name, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Seconds after its end in which a job's result may still change: episodes settle, rows come late.
const SETTLES_S: f64 = 300.0;
/// Seconds after which a result is taken again though no episode changed: its completeness did.
const RENEWED_S: f64 = 10.0;

/// All jobs that still matter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobLedger {
    jobs: BTreeMap<Name, Tracked>,
    by_node: HashMap<Name, BTreeSet<Name>>,
    /// Nodes of jobs, as schedulers spell them.
    spellings: Spellings,
    changed: BTreeSet<Name>,
    /// Presumed ends that lie ahead, or were not reported yet.
    presumed: BTreeSet<(Time, Name)>,
    rules: JobSettings,
    /// Jobs that are reported once and not kept.
    #[serde(skip)]
    passing: Vec<Job>,
}

/// A job and what is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tracked {
    /// The job; its end is the presumed one where no end event was received.
    #[serde(with = "written_job")]
    pub job: Job,
    /// Whether its end event was received.
    ended: bool,
    /// Its series, and how many series were ever given a number when they were looked up.
    pub series: Vec<SeriesIndex>,
    /// For each of its nodes, whether there are series of it.
    pub known_nodes: Vec<bool>,
    looked_up_of: Option<u64>,
    /// What it lost, when that was last reckoned, and whether it will not change any more.
    result: Option<JobResult>,
    reckoned: Option<Time>,
    settled: bool,
}

impl Tracked {
    fn fresh(job: Job) -> Tracked {
        Tracked {
            ended: job.end.is_some(),
            job,
            series: Vec::new(),
            known_nodes: Vec::new(),
            looked_up_of: None,
            result: None,
            reckoned: None,
            settled: false,
        }
    }

    /// A job whose end is presumed.
    fn fresh_open(job: Job) -> Tracked {
        Tracked { ended: false, ..Tracked::fresh(job) }
    }

    /// The job as reported at `now`: an end that is presumed for later is none.
    fn report(&self, now: Option<Time>) -> Job {
        let ahead = !self.ended && self.job.end > now;
        let (end, end_presumed) = if ahead { (None, false) } else { (self.job.end, self.job.end_presumed) };
        Job { end, end_presumed, ..self.job.clone() }
    }
}

impl JobLedger {
    /// No jobs.
    pub fn new(rules: JobSettings) -> JobLedger {
        JobLedger { rules, ..JobLedger::default() }
    }

    /// Adds or replaces a job; the nodes on which jobs begin or end at other times than before.
    pub fn put(&mut self, job: Job) -> BTreeSet<Name> {
        let job_id = job.job_id.clone();
        let old = self.jobs.remove(&job_id).map(|old| old.job);
        let moved = self.move_job(old.as_ref(), &job);
        // An end that was presumed for another job may be another one now that this job is known, or known better.
        let mut open: BTreeSet<Name> = BTreeSet::new();
        if !self.rules.shared_nodes {
            let starts_again = old.as_ref().is_none_or(|old| old.start != job.start);
            let rest = job.nodes.iter().filter(|_| starts_again);
            let ids = moved.iter().chain(rest).filter_map(|node| self.by_node.get(node)).flatten();
            open.extend(ids.filter(|other| **other != job_id).cloned());
        }
        self.changed.insert(job_id.clone());
        self.jobs.insert(job_id.clone(), Tracked::fresh(job));
        self.presume_end(&job_id);
        let mut nodes = self.keep_changed(moved, old.as_ref(), &job_id);
        for other in &open {
            nodes.extend(self.presume_end(other));
        }
        nodes
    }

    /// Has a job leave the nodes that it is not on any more, and enter new ones; all these nodes. A job of thousands of nodes that
    /// are reported one by one stays on the others.
    fn move_job(&mut self, old: Option<&Job>, job: &Job) -> BTreeSet<Name> {
        let before: HashSet<&Name> = old.into_iter().flat_map(|old| &old.nodes).collect();
        let after: HashSet<&Name> = job.nodes.iter().collect();
        if let Some(end) = old.and_then(|old| old.end) {
            self.presumed.remove(&(end, job.job_id.clone()));
        }
        for node in before.difference(&after) {
            self.leave(node, &job.job_id);
        }
        for node in after.difference(&before) {
            self.by_node.entry(Name::clone(node)).or_default().insert(job.job_id.clone());
            self.spellings.add(node);
        }
        before.symmetric_difference(&after).copied().cloned().collect()
    }

    /// The nodes on which a job begins or ends at another time: those that it moved to or from, or all of them.
    fn keep_changed(&self, moved: BTreeSet<Name>, old: Option<&Job>, job_id: &Name) -> BTreeSet<Name> {
        let now = self.jobs.get(job_id).map(|tracked| &tracked.job);
        match (old, now) {
            (Some(old), Some(now)) if (old.start, old.end) == (now.start, now.end) => moved,
            (old, now) => old.into_iter().chain(now).flat_map(|job| &job.nodes).cloned().collect(),
        }
    }

    /// Reports a job that was over long ago and keeps nothing of it.
    pub fn pass(&mut self, job: Job) {
        self.passing.push(job);
    }

    /// Presumes the end of a job if no end event was received; its nodes if that changed it.
    fn presume_end(&mut self, job_id: &Name) -> Vec<Name> {
        let Some(tracked) = self.jobs.get(job_id).filter(|tracked| !tracked.ended) else { return Vec::new() };
        let job = &tracked.job;
        let mut end = job.start.plus_seconds(self.rules.open_max_s);
        if !self.rules.shared_nodes {
            let ids = job.nodes.iter().filter_map(|node| self.by_node.get(node)).flatten();
            let others = ids.filter(|other| *other != job_id);
            let starts = others.filter_map(|other| self.jobs.get(other)).map(|other| other.job.start);
            end = starts.filter(|start| *start > job.start).fold(end, Time::min);
        }
        let (before, job) = (job.end, Job { end: Some(end), end_presumed: true, ..job.clone() });
        if before == job.end {
            return Vec::new();
        }
        if let Some(before) = before {
            self.presumed.remove(&(before, job_id.clone()));
        }
        self.presumed.insert((end, job_id.clone()));
        self.changed.insert(job_id.clone());
        let nodes = job.nodes.clone();
        self.jobs.insert(job_id.clone(), Tracked::fresh_open(job));
        nodes
    }

    /// Removes a job from its nodes and from the ends that lie ahead.
    fn forget_place(&mut self, job: &Job) {
        job.nodes.iter().for_each(|node| self.leave(node, &job.job_id));
        if let Some(end) = job.end {
            self.presumed.remove(&(end, job.job_id.clone()));
        }
    }

    fn leave(&mut self, node: &Name, job_id: &Name) {
        let Some(ids) = self.by_node.get_mut(node) else { return };
        ids.remove(job_id);
        if ids.is_empty() {
            self.by_node.remove(node);
            self.spellings.remove(node);
        }
    }

    /// Latest results, in the order of the jobs' numbers.
    pub fn results(&self) -> impl Iterator<Item = &JobResult> {
        self.jobs.values().filter_map(|tracked| tracked.result.as_ref())
    }

    /// Reports all jobs again. The series of those that may still change are looked up as for new ones.
    pub fn report_again(&mut self) {
        self.changed.extend(self.jobs.keys().cloned());
        for tracked in self.jobs.values_mut().filter(|tracked| !tracked.settled) {
            tracked.series.clear();
            tracked.looked_up_of = None;
        }
    }

    /// Jobs put since the last call, and those whose presumed end has come by `now`.
    pub fn take_changed(&mut self, now: Option<Time>) -> Vec<Job> {
        while let Some((end, _)) = self.presumed.first()
            && Some(*end) <= now
            && let Some((_, job_id)) = self.presumed.pop_first()
        {
            self.changed.insert(job_id);
        }
        let changed = std::mem::take(&mut self.changed);
        let mut jobs = std::mem::take(&mut self.passing);
        jobs.extend(changed.iter().filter_map(|id| self.jobs.get(id)).map(|tracked| tracked.report(now)));
        jobs
    }

    /// How jobs spell `host`, if it is theirs.
    pub fn spelling_of(&self, host: &Name) -> Option<&Name> {
        match self.by_node.get_key_value(host) {
            Some((exact, _)) => Some(exact),
            None => self.spellings.only(host),
        }
    }

    /// Jobs on `node` at `time`; several on a shared node.
    pub fn on_node_at(&self, node: &Name, time: Time) -> impl Iterator<Item = &Job> {
        self.on_node(node).filter(move |job| job.overlaps(time, time + 1))
    }

    /// The first time after `time` at which a job on `node` starts or ends.
    pub fn next_boundary(&self, node: &Name, time: Time) -> Option<Time> {
        self.on_node(node).flat_map(|job| [Some(job.start), job.end]).flatten().filter(|t| *t > time).min()
    }

    /// The earliest start of a job whose result may still change.
    pub fn earliest_unsettled(&self) -> Option<Time> {
        self.jobs.values().filter(|t| !t.settled).map(|t| t.job.start).min()
    }

    /// Jobs whose series have to be looked up, since `series_given` series were given a number by now.
    pub fn without_series(&self, series_given: u64) -> Vec<Name> {
        let stale = |t: &&Tracked| !t.settled && t.looked_up_of != Some(series_given);
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
        series_given: u64,
    ) -> Vec<SeriesIndex> {
        let Some(tracked) = self.jobs.get_mut(job_id) else { return Vec::new() };
        tracked.looked_up_of = Some(series_given);
        // Both lists are in order.
        let is_new = |s: &SeriesIndex| tracked.series.binary_search(s).is_err();
        let new: Vec<SeriesIndex> = series.iter().copied().filter(is_new).collect();
        tracked.series = series;
        tracked.known_nodes = known_nodes;
        new
    }

    /// Removes series that were forgotten from all jobs.
    pub fn forget_series(&mut self, gone: &HashSet<SeriesIndex>) {
        for tracked in self.jobs.values_mut() {
            tracked.series.retain(|series| !gone.contains(series));
        }
    }

    /// Jobs on a node.
    pub fn on_node(&self, node: &Name) -> impl Iterator<Item = &Job> {
        let ids = self.by_node.get(node).into_iter().flatten();
        ids.filter_map(|id| self.jobs.get(id)).map(|tracked| &tracked.job)
    }

    /// Jobs on a host of rows, as jobs spell it; another spelling than the host's own may be several hosts.
    pub fn on_host(&self, host: &Name, is_ambiguous: impl FnOnce() -> bool) -> impl Iterator<Item = &Job> {
        let ids = self.by_node.get(host).or_else(|| {
            let spelled = self.spellings.only(host).filter(|_| !is_ambiguous());
            spelled.and_then(|spelled| self.by_node.get(spelled))
        });
        ids.into_iter().flatten().filter_map(|id| self.jobs.get(id)).map(|tracked| &tracked.job)
    }

    /// Numbers of the jobs that are kept.
    pub fn numbers(&self) -> impl Iterator<Item = &Name> {
        self.jobs.keys()
    }

    /// Jobs that are kept.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Reckons the results that are due at `now`.
    pub fn reckon(
        &mut self,
        now: Time,
        changed: &HashSet<SeriesIndex>,
        all: bool,
        mut result: impl FnMut(&Tracked) -> JobResult,
    ) -> Vec<JobResult> {
        let mut results: Vec<JobResult> = Vec::new();
        self.due(now, changed, all, |tracked| results.push(result(tracked)));
        for result in &results {
            if let Some(tracked) = self.jobs.get_mut(&result.job_id) {
                tracked.result = Some(result.clone());
            }
        }
        results
    }

    /// Calls `look` for jobs of which a result is due at `now`: that are new, that have a series among `changed`, or whose
    /// last result is old. A result after the job has settled is its last.
    pub fn due(
        &mut self,
        now: Time,
        changed: &HashSet<SeriesIndex>,
        all: bool,
        mut look: impl FnMut(&Tracked),
    ) {
        for tracked in self.jobs.values_mut().filter(|t| !t.settled) {
            let settles = tracked.job.end.is_some_and(|end| now.seconds_since(end) > SETTLES_S);
            let old = tracked.reckoned.is_none_or(|then| now.seconds_since(then).abs() >= RENEWED_S);
            if !(all || settles || old || tracked.series.iter().any(|s| changed.contains(s))) {
                continue;
            }
            look(tracked);
            (tracked.reckoned, tracked.settled) = (Some(now), settles);
        }
    }

    /// Calls `look` for each job whose result may still change; after a job has settled it is looked at once more.
    pub fn unsettled(&mut self, now: Time, mut look: impl FnMut(&Tracked)) {
        for tracked in self.jobs.values_mut().filter(|t| !t.settled) {
            look(tracked);
            tracked.settled = tracked.job.end.is_some_and(|end| now.seconds_since(end) > SETTLES_S);
        }
    }

    /// Forgets jobs that ended more than `kept_s` before `now`. A change that was not reported yet is reported before that, a presumed
    /// end with the next changes.
    pub fn forget(&mut self, now: Time, kept_s: f64) {
        let long_ago = |end: Time| now.seconds_since(end) > kept_s;
        let over = |t: &Tracked| t.job.end.is_some_and(long_ago) && !self.changed.contains(&t.job.job_id);
        let gone: Vec<Name> =
            self.jobs.iter().filter(|(_, t)| over(t)).map(|(job_id, _)| job_id.clone()).collect();
        for job_id in gone {
            let Some(tracked) = self.jobs.remove(&job_id) else { continue };
            if tracked.job.end.is_some_and(|end| self.presumed.contains(&(end, job_id))) {
                self.passing.push(tracked.job.clone());
            }
            self.forget_place(&tracked.job);
        }
    }
}

#[cfg(test)]
mod tests;
