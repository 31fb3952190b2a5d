//! Jobs out of job events and job files.

use schemas::jsonl::{JobFileError, parse_job};
use schemas::{Job, JobEvent, Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Jobs that a book keeps, unless told otherwise.
pub const JOBS_MAX: usize = 1_000_000;

/// Longest line of a job file: a job on all nodes of the largest machines fits.
const JOB_LINE_BYTES_MAX: u64 = 16 << 20;

/// What is known of one job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Entry {
    user: String,
    name: String,
    nodes: BTreeSet<Name>,
    start: Option<Time>,
    end: Option<Time>,
    /// From a job file: a person's word goes before that of rows.
    declared: Option<Job>,
}

/// All jobs heard of. The order in which events arrive makes no difference: nodes are united, the earliest start
/// and the latest end count, and of several names the longest, of these the first in the alphabet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobBook {
    entries: BTreeMap<Name, Entry>,
    jobs_max: usize,
    refused: u64,
}

impl Default for JobBook {
    fn default() -> Self {
        JobBook::new(JOBS_MAX)
    }
}

impl JobBook {
    /// A book of at most `jobs_max` jobs; events of further ones are counted and forgotten.
    pub fn new(jobs_max: usize) -> JobBook {
        JobBook { entries: BTreeMap::new(), jobs_max, refused: 0 }
    }

    /// Takes in `events`; the numbers of the jobs that are new or changed, in order.
    pub fn fold(&mut self, events: &[JobEvent]) -> Vec<Name> {
        let mut changed = BTreeSet::new();
        for event in events {
            if let Some(entry) = self.entry(&event.job_id)
                && entry.fold(event)
            {
                changed.insert(event.job_id.clone());
            }
        }
        changed.into_iter().collect()
    }

    /// Takes in a job as a job file has it. From then on rows about this job are not needed.
    pub fn declare(&mut self, job: Job) {
        if let Some(entry) = self.entry(&job.job_id) {
            entry.declared = Some(job);
        }
    }

    /// The job of that number.
    pub fn get(&self, job_id: &Name) -> Option<Job> {
        let entry = self.entries.get(job_id)?;
        entry.job(job_id)
    }

    /// All jobs, in the order of their numbers.
    pub fn jobs(&self) -> impl Iterator<Item = Job> {
        self.entries.iter().filter_map(|(job_id, entry)| entry.job(job_id))
    }

    /// Events that were forgotten because the book was full.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Forgets jobs that ended before `time`.
    pub fn forget_before(&mut self, time: Time) {
        self.entries.retain(|job_id, entry| {
            let end = entry.job(job_id).and_then(|job| job.end);
            end.is_none_or(|end| end >= time)
        });
    }

    fn entry(&mut self, job_id: &Name) -> Option<&mut Entry> {
        if !self.entries.contains_key(job_id) {
            if self.entries.len() >= self.jobs_max {
                self.refused += 1;
                return None;
            }
            self.entries.insert(job_id.clone(), Entry::default());
        }
        self.entries.get_mut(job_id)
    }
}

impl Entry {
    /// Takes in `event`; whether that changed the job.
    fn fold(&mut self, event: &JobEvent) -> bool {
        let mut changed = self.nodes.insert(event.node.clone());
        let start = self.start.map_or(event.start, |start| start.min(event.start));
        changed |= self.start.replace(start) != Some(start);
        let end = self.end.max(event.end);
        changed |= std::mem::replace(&mut self.end, end) != end;
        changed |= prefer(&mut self.user, &event.user);
        changed |= prefer(&mut self.name, &event.name);
        changed && self.declared.is_none()
    }

    fn job(&self, job_id: &Name) -> Option<Job> {
        if let Some(job) = &self.declared {
            return Some(job.clone());
        }
        Some(Job {
            job_id: job_id.clone(),
            user: self.user.clone(),
            name: self.name.clone(),
            nodes: self.nodes.iter().cloned().collect(),
            start: self.start?,
            end: self.end,
            app: None,
        })
    }
}

fn prefer(known: &mut String, new: &str) -> bool {
    let better = (new.len(), std::cmp::Reverse(new)) > (known.len(), std::cmp::Reverse(known.as_str()));
    if better {
        new.clone_into(known);
    }
    better
}

/// Why a job file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The system refuses.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line that cannot be read.
    #[error("{path}:{line}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line that is no job.
    #[error("{path}:{line}: {source}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, with the field.
        source: JobFileError,
    },
}

/// All jobs of a job file, one JSON object a line; empty lines are passed over.
///
/// # Errors
/// [`JobsError`] names file, line and field: a job file is written by hand or script, and a job left out silently
/// would be a wrong answer.
pub fn read_job_file(path: &Path) -> Result<Vec<Job>, JobsError> {
    let file =
        std::fs::File::open(path).map_err(|source| JobsError::Open { path: path.to_path_buf(), source })?;
    let mut reader = BufReader::new(file);
    let mut jobs = Vec::new();
    let mut text = String::new();
    for line in 1.. {
        text.clear();
        let read = (&mut reader).take(JOB_LINE_BYTES_MAX).read_line(&mut text);
        let length = read.map_err(|source| JobsError::Read { path: path.to_path_buf(), line, source })?;
        if length == 0 {
            break;
        }
        let content = text.trim_start_matches('\u{feff}').trim();
        if content.is_empty() {
            continue;
        }
        jobs.push(parse_job(content).map_err(|source| JobsError::Line {
            path: path.to_path_buf(),
            line,
            source,
        })?);
    }
    Ok(jobs)
}
