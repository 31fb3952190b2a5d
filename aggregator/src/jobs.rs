//! Jobs out of job events and job files.
//!
//! Events come from nodes, from Slurm and from its scripts, in any order, twice, or not at all: [`JobBook`] keeps what was
//! said, and the runs of jobs follow from all of it, whatever its order was.

mod files;
mod runs;
mod seen;

pub use files::{JobsError, read_job_file};

use runs::{Entry, Span};
use schemas::{Job, JobEvent, Name, Time};
use seen::OnNodes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Jobs that a book keeps by default.
pub const JOBS_MAX: usize = 1_000_000;

/// All known jobs, a job that was requeued once per run. The order in which events arrive makes no difference: nodes
/// are united, the earliest start and the latest end of a run count, and of several names the longest, of these the first
/// in the alphabet. The owner alone depends on the order: the first that is named stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobBook {
    entries: BTreeMap<Name, Entry>,
    /// Names of nodes, each once.
    #[serde(skip)]
    names: HashSet<Name>,
    jobs_max: usize,
    refused: u64,
    /// Kept from the first job on that only rows' own `job_id` shows.
    #[serde(skip)]
    on_nodes: Option<OnNodes>,
}

impl Default for JobBook {
    fn default() -> Self {
        JobBook::new(JOBS_MAX)
    }
}

impl JobBook {
    /// A book of at most `jobs_max` numbers of jobs. When it is full those that ended first are forgotten; if none has
    /// ended, events of further jobs are counted and forgotten.
    pub fn new(jobs_max: usize) -> JobBook {
        JobBook { entries: BTreeMap::new(), names: HashSet::new(), jobs_max, refused: 0, on_nodes: None }
    }

    /// Takes in `events`; the jobs that are new or changed, in the order of their numbers. If one run of a number
    /// changed, all of its runs come back.
    pub fn fold(&mut self, events: &[JobEvent]) -> Vec<Job> {
        let mut changed: BTreeSet<&Name> = BTreeSet::new();
        let mut beside: BTreeSet<Name> = BTreeSet::new();
        for event in events {
            let known = self.entries.get_mut(&event.job_id).map(|entry| entry.fold(event, &mut self.names));
            let is_changed = known.unwrap_or_else(|| {
                self.admit(&event.job_id)
                    && self
                        .entries
                        .get_mut(&event.job_id)
                        .is_some_and(|entry| entry.fold(event, &mut self.names))
            });
            if is_changed {
                changed.insert(&event.job_id);
                self.note_nodes(&event.job_id, &event.nodes);
                if !event.seen {
                    beside.extend(self.only_seen_on(&event.nodes));
                }
            }
        }
        let changed = changed.into_iter().chain(beside.iter()).collect::<BTreeSet<_>>();
        changed.into_iter().flat_map(|job_id| self.changed_runs(job_id)).collect()
    }

    /// The runs of a job that changed. One that others took all nodes from is given as one that never ran.
    fn changed_runs(&self, job_id: &Name) -> Vec<Job> {
        let Some(entry) = self.entries.get(job_id) else { return Vec::new() };
        let runs = self.runs(job_id, entry);
        if !runs.is_empty() || !entry.is_only_seen() {
            return runs;
        }
        let whole = entry.seen_runs(job_id, |_, span| Some(span));
        whole.into_iter().map(|job| Job { nodes: Vec::new(), end: Some(job.start), ..job }).collect()
    }

    fn runs(&self, job_id: &Name, entry: &Entry) -> Vec<Job> {
        if entry.is_only_seen() {
            return entry.seen_runs(job_id, |node, span| seen::left(span, &self.named_on(node)));
        }
        entry.runs(job_id)
    }

    /// When a job ran on `node`, by a scheduler or a job file.
    fn named_on(&self, node: &Name) -> Vec<Span> {
        let on_nodes = self.on_nodes.as_ref();
        let entries = on_nodes.into_iter().flat_map(|on_nodes| on_nodes.on(node));
        entries.filter_map(|job_id| self.entries.get(job_id)).flat_map(|entry| entry.named_on(node)).collect()
    }

    /// Jobs on these nodes that only rows' own `job_id` shows.
    fn only_seen_on(&self, nodes: &[Name]) -> Vec<Name> {
        let Some(on_nodes) = &self.on_nodes else { return Vec::new() };
        let only_seen = |job_id: &&Name| self.entries.get(*job_id).is_some_and(Entry::is_only_seen);
        nodes.iter().flat_map(|node| on_nodes.on(node)).filter(only_seen).cloned().collect()
    }

    /// Notes where a job runs, once that matters.
    fn note_nodes(&mut self, job_id: &Name, nodes: &[Name]) {
        let only_seen = self.entries.get(job_id).is_some_and(Entry::is_only_seen);
        match &mut self.on_nodes {
            Some(on_nodes) => nodes.iter().for_each(|node| on_nodes.add(node, job_id)),
            None if only_seen => self.on_nodes = Some(OnNodes::of(&self.entries)),
            None => {}
        }
    }

    /// Takes in a job as a job file has it. From then on rows about this job are not needed.
    pub fn declare(&mut self, job: Job) {
        let (job_id, nodes) = (job.job_id.clone(), job.nodes.clone());
        if self.admit(&job_id)
            && let Some(entry) = self.entries.get_mut(&job_id)
        {
            entry.declare(job);
            self.note_nodes(&job_id, &nodes);
        }
    }

    /// At most `jobs_max` numbers are kept from here on.
    pub fn set_max(&mut self, jobs_max: usize) {
        self.jobs_max = jobs_max;
    }

    /// Numbers of jobs that are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The job of that number, or the run of that name (`1234.r1`).
    pub fn get(&self, job_id: &Name) -> Option<Job> {
        let number = job_id.as_str().rsplit_once(".r").and_then(|(number, _)| Name::parse(number).ok());
        let of = |number: &Name| Some(self.runs(number, self.entries.get(number)?));
        let runs = of(job_id).or_else(|| of(&number?))?;
        runs.into_iter().find(|job| job.job_id == *job_id)
    }

    /// All jobs, in the order of their numbers.
    pub fn jobs(&self) -> impl Iterator<Item = Job> {
        self.entries.iter().flat_map(|(job_id, entry)| self.runs(job_id, entry))
    }

    /// Events that were forgotten because the book was full of jobs that had not ended.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Forgets jobs that ended before `time`.
    pub fn forget_before(&mut self, time: Time) {
        self.entries.retain(|_, entry| entry.ended().is_none_or(|end| end >= time));
        if self.on_nodes.is_some() {
            self.on_nodes = Some(OnNodes::of(&self.entries));
        }
    }

    /// Forgets jobs that were over before `time`: those without an end count as over `open_max_s` after their start.
    pub fn forget_over(&mut self, time: Time, open_max_s: f64) {
        self.entries.retain(|_, entry| entry.over(open_max_s).is_some_and(|over| over >= time));
        self.names.retain(Name::is_shared);
        if self.on_nodes.is_some() {
            self.on_nodes = Some(OnNodes::of(&self.entries));
        }
    }

    /// Whether something is known of the number.
    pub fn knows(&self, job_id: &Name) -> bool {
        self.entries.contains_key(job_id)
    }

    /// Makes an entry for the number, if there is room.
    fn admit(&mut self, job_id: &Name) -> bool {
        if !self.entries.contains_key(job_id) {
            if self.entries.len() >= self.jobs_max {
                self.make_room();
            }
            if self.entries.len() >= self.jobs_max {
                self.refused += 1;
                return false;
            }
            self.entries.insert(job_id.clone(), Entry::default());
        }
        true
    }

    /// Forgets a tenth of the jobs, those that ended first.
    fn make_room(&mut self) {
        let mut ends: Vec<Time> = self.entries.values().filter_map(Entry::ended).collect();
        ends.sort_unstable();
        let Some(last) = ends.len().checked_sub(1) else { return };
        let time = ends[last.min(self.jobs_max / 10)];
        self.forget_before(time + 1);
    }
}
