//! The runs of one job, from all events of that job.
//!
//! A requeued job keeps its number and starts again, so runs differ by their start. Nodes and feeds that differ about
//! the start of one run do so by less than [`SAME_RUN_S`], and no end lies between. A start inside a known run belongs to
//! that run. A scheduler corrects a start once the nodes have power: the corrected one comes with the end, on the nodes of the
//! first one. The first run has the job's number, later ones have `.r1`, `.r2`, … behind it, in the order of their starts. A
//! run without a reported end ended at
//! the latest when the next one began: this end is presumed.

use schemas::{Job, JobEvent, Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Seconds between two starts of one run, at most: Slurm lets a requeued job wait for its credential to expire
/// (`cred_expire`, 120 s unless set otherwise).
const SAME_RUN_S: f64 = 120.0;

/// What is known of one number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Entry {
    label: String,
    /// The owner: the first one named. Later events do not change it, since the owner of a job may read it.
    user: String,
    /// Reported facts, by start.
    starts: BTreeMap<Time, Said>,
    /// Ends that were reported without a start.
    ends: BTreeMap<Time, Said>,
    /// What rows' own `job_id` showed, by the first row that did; counts where nothing else has a start.
    seen: BTreeMap<Time, Said>,
    /// From a job file, which takes precedence over rows.
    declared: Option<Job>,
}

/// When something lasted; no end while it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: Time,
    pub(super) end: Option<Time>,
}

impl Span {
    /// Whether it lasts beyond `time`.
    pub(super) fn ends_after(&self, time: Time) -> bool {
        self.end.is_none_or(|end| end > time)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Said {
    name: String,
    /// Whether it was reported while it ran, not only with its end.
    running: bool,
    #[serde(with = "schemas::hostlist::folded")]
    nodes: BTreeSet<Name>,
    end: Option<Time>,
}

/// A run as it is put together.
struct Run {
    start: Time,
    latest_start: Time,
    said: Said,
}

impl Entry {
    /// Takes in `event`; whether that changed the job.
    pub(super) fn fold(&mut self, event: &JobEvent, names: &mut HashSet<Name>) -> bool {
        let named_before = self.is_named();
        let (reported, moment) = match (event.start, event.end) {
            (Some(start), _) if event.seen => (&mut self.seen, start),
            (Some(start), _) => (&mut self.starts, start),
            (None, Some(end)) => (&mut self.ends, end),
            (None, None) => return false,
        };
        let mut changed = !reported.contains_key(&moment);
        let said = reported.entry(moment).or_default();
        changed |= !said.running && event.end.is_none();
        said.running |= event.end.is_none();
        changed |= event.end > said.end;
        said.end = said.end.max(event.end);
        // Nodes report their job again and again.
        for node in &event.nodes {
            if !said.nodes.contains(node) {
                changed |= said.nodes.insert(shared(node, names));
            }
        }
        changed |= prefer(&mut said.name, &event.name);
        changed |= prefer(&mut self.label, &event.label);
        if self.user.is_empty() && !event.user.is_empty() {
            self.user.clone_from(&event.user);
            changed = true;
        }
        changed && self.declared.is_none() && !(event.seen && named_before)
    }

    /// Whether a scheduler, its job rows or a job file report when it ran.
    pub(super) fn is_named(&self) -> bool {
        self.declared.is_some() || !self.starts.is_empty()
    }

    /// Whether rows' own `job_id` is all that shows it.
    pub(super) fn is_only_seen(&self) -> bool {
        !self.is_named() && !self.seen.is_empty()
    }

    /// The nodes on which it ran, some of them more than once.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Name> {
        let said = self.starts.values().chain(self.ends.values()).chain(self.seen.values());
        let declared = self.declared.iter().flat_map(|job| &job.nodes);
        said.flat_map(|said| &said.nodes).chain(declared)
    }

    /// When it ran on `node`, by a scheduler or a job file.
    pub(super) fn named_on(&self, node: &Name) -> Vec<Span> {
        let span = |start, end| Span { start, end };
        if let Some(job) = &self.declared {
            let on_node = job.nodes.contains(node);
            return on_node.then(|| span(job.start, job.end)).into_iter().collect();
        }
        let mut said = self.starts.values().chain(self.ends.values());
        if !said.any(|said| said.nodes.contains(node)) {
            return Vec::new();
        }
        // Most jobs start once: their thousands of nodes are not copied for each of them.
        if let (Some((start, said)), 1, true) =
            (self.starts.first_key_value(), self.starts.len(), self.ends.is_empty())
        {
            return vec![span(*start, said.end)];
        }
        let runs = self.put_together().into_iter().filter(|run| run.said.nodes.contains(node));
        runs.map(|run| span(run.start, run.said.end)).collect()
    }

    /// The runs that rows' own `job_id` shows, where `left` is the node's time without other jobs.
    pub(super) fn seen_runs(&self, job_id: &Name, left: impl Fn(&Name, Span) -> Option<Span>) -> Vec<Job> {
        let runs = self.stretches().into_iter().filter_map(|run| self.cut(run, &left));
        let job = |(at, run)| Some(self.job(run_id(job_id, at)?, run, None));
        runs.enumerate().filter_map(job).collect()
    }

    /// What others leave of a run.
    fn cut(&self, run: Run, left: impl Fn(&Name, Span) -> Option<Span>) -> Option<Run> {
        let whole = Span { start: run.start, end: run.said.end };
        let spans = run.said.nodes.into_iter().filter_map(|node| Some((left(&node, whole)?, node)));
        let (spans, nodes): (Vec<Span>, BTreeSet<Name>) = spans.unzip();
        let start = spans.iter().map(|span| span.start).min()?;
        let ends: Option<Vec<Time>> = spans.iter().map(|span| span.end).collect();
        let end = ends.and_then(|ends| ends.into_iter().max());
        Some(Run { start, latest_start: start, said: Said { nodes, end, ..run.said } })
    }

    pub(super) fn declare(&mut self, job: Job) {
        self.declared = Some(job);
    }

    /// The runs of this job, whose number is `job_id`, in the order of their starts.
    pub(super) fn runs(&self, job_id: &Name) -> Vec<Job> {
        if let Some(job) = &self.declared {
            return vec![job.clone()];
        }
        let runs = self.put_together();
        let begins: Vec<Time> = runs.iter().map(|run| run.start).collect();
        let job = |(at, run): (usize, Run)| Some(self.job(run_id(job_id, at)?, run, begins.get(at + 1)));
        runs.into_iter().enumerate().filter_map(job).collect()
    }

    /// When the last run ended; `None` while one runs, or before the first start is reported.
    pub(super) fn ended(&self) -> Option<Time> {
        if let Some(job) = &self.declared {
            return job.end;
        }
        let last = if self.is_only_seen() { self.stretches().pop() } else { self.put_together().pop() };
        last.map_or_else(|| self.ends.keys().next_back().copied(), |run| run.said.end)
    }

    /// Runs as rows' own `job_id` shows them. Rows that carry the number again soon, or before others were seen to stop,
    /// are of the same run: that the number pauses is no requeue.
    fn stretches(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (start, said) in &self.seen {
            let same = |run: &&mut Run| run.said.end.is_none_or(|end| start.seconds_since(end) < SAME_RUN_S);
            match runs.last_mut().filter(same) {
                Some(run) => {
                    // An end that lies before this start was none.
                    run.said.end = run.said.end.filter(|end| end > start);
                    run.said.unite(said);
                    run.latest_start = *start;
                }
                None => runs.push(Run { start: *start, latest_start: *start, said: said.clone() }),
            }
        }
        runs
    }

    /// When it was over at the latest: without an end, `open_max_s` after its last start.
    pub(super) fn over(&self, open_max_s: f64) -> Option<Time> {
        let started =
            || self.starts.keys().chain(self.seen.keys()).max().map(|start| start.plus_seconds(open_max_s));
        self.ended().or_else(started)
    }

    fn put_together(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (start, said) in &self.starts {
            let corrects = runs.last().is_some_and(|run| self.corrects(run, *start, said));
            match runs.last_mut().filter(|run| corrects || self.continues(run, *start)) {
                Some(run) => {
                    if corrects {
                        run.start = *start;
                    }
                    run.latest_start = *start;
                    run.said.unite(said);
                }
                None => runs.push(Run { start: *start, latest_start: *start, said: said.clone() }),
            }
        }
        for (end, said) in &self.ends {
            // An end without a start is that of the run that had begun last.
            let at = runs.partition_point(|run| run.start <= *end);
            if let Some(run) = at.checked_sub(1).and_then(|at| runs.get_mut(at)) {
                run.said.unite(said);
            }
        }
        runs
    }

    /// Whether `start` belongs to the same run.
    fn continues(&self, run: &Run, start: Time) -> bool {
        let ended = run.said.end.is_some_and(|end| end <= start)
            || self.ends.range(run.start..=start).next().is_some();
        let inside = run.said.end.is_some_and(|end| end > start);
        inside || (!ended && start.seconds_since(run.latest_start) < SAME_RUN_S)
    }

    /// Whether `start`, which only came with its end, corrects that of a run without one, which has the same nodes.
    fn corrects(&self, run: &Run, start: Time, said: &Said) -> bool {
        let is_open = run.said.end.is_none() && self.ends.range(run.start..=start).next().is_none();
        let is_late = start.seconds_since(run.latest_start) >= SAME_RUN_S;
        is_open && is_late && !said.running && said.end.is_some() && said.nodes == run.said.nodes
    }

    fn job(&self, job_id: Name, run: Run, next: Option<&Time>) -> Job {
        // A job does not run twice at once: an end after the start of the next run is wrong.
        let presumed = next.filter(|next| run.said.end.is_none_or(|end| end > **next)).copied();
        Job {
            job_id,
            label: self.label.clone(),
            user: self.user.clone(),
            name: run.said.name,
            nodes: run.said.nodes.into_iter().collect(),
            start: run.start,
            end: presumed.or(run.said.end),
            end_presumed: presumed.is_some(),
            app: None,
        }
    }
}

impl Said {
    fn unite(&mut self, other: &Said) {
        self.nodes.extend(other.nodes.iter().cloned());
        self.end = self.end.max(other.end);
        self.running |= other.running;
        prefer(&mut self.name, &other.name);
    }
}

/// The name of the `at`-th run, from 0.
pub(super) fn run_id(number: &Name, at: usize) -> Option<Name> {
    match at {
        0 => Some(number.clone()),
        at => Name::parse(&format!("{number}.r{at}")).ok(),
    }
}

/// The name as `names` holds it, so that the jobs of a node share one text.
fn shared(name: &Name, names: &mut HashSet<Name>) -> Name {
    if let Some(known) = names.get(name) {
        return known.clone();
    }
    names.insert(name.clone());
    name.clone()
}

fn prefer(known: &mut String, new: &str) -> bool {
    let better = (new.len(), std::cmp::Reverse(new)) > (known.len(), std::cmp::Reverse(known.as_str()));
    if better {
        new.clone_into(known);
    }
    better
}

#[cfg(test)]
mod tests;
