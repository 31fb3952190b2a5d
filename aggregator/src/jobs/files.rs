//! Job files.

use super::runs::run_id;
use schemas::jsonl::{JobFileError, parse_job};
use schemas::{Job, JobNumber, Name, Time};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line of a job file: a job on all nodes of the largest machines fits.
const JOB_LINE_BYTES_MAX: u64 = 16 << 20;

/// Why a job file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The system refuses.
    #[error("{path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A line that cannot be read.
    #[error("{path}:{line}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The system's error.
        source: std::io::Error,
    },
    /// Two lines about one number whose times overlap.
    #[error(
        "{path}:{line}: job {job_id} overlaps that of line {earlier}; give each job once, and jobs of several clusters a `cluster`"
    )]
    Twice {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The number.
        job_id: Name,
        /// The other line.
        earlier: usize,
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

/// All jobs of a job file, one JSON object a line; empty lines are passed over. Jobs of one number are runs of a requeued job,
/// or of several clusters: those of all but the first one have the cluster's name behind their number.
///
/// # Errors
/// [`JobsError`] names file, line and field: a job file is written by hand or script, and a job left out silently
/// would be a wrong answer.
pub fn read_job_file(path: &Path) -> Result<Vec<Job>, JobsError> {
    let file =
        std::fs::File::open(path).map_err(|source| JobsError::Open { path: path.to_path_buf(), source })?;
    let mut reader = BufReader::new(file);
    let mut jobs = Vec::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = (&mut reader).take(JOB_LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
        let length = read.map_err(|source| JobsError::Read { path: path.to_path_buf(), line, source })?;
        if length == 0 {
            break;
        }
        // A byte that is no UTF-8 spoils the text in which it stands, not the job.
        let text = String::from_utf8_lossy(&bytes);
        let content = text.trim_start_matches('\u{feff}').trim();
        if content.is_empty() {
            continue;
        }
        let parsed = parse_job(content);
        let (job, cluster) =
            parsed.map_err(|source| JobsError::Line { path: path.to_path_buf(), line, source })?;
        jobs.push(OfLine { line, cluster, job });
    }
    runs_of(path, jobs)
}

/// A job and where it stands.
struct OfLine {
    line: usize,
    cluster: String,
    job: Job,
}

/// The lines of one number, one for each run by its start. Of several the last one counts: a file may get a line when a job starts,
/// and another one when it ends. A run without an end ended at the latest when the next one began.
fn one_a_run(mut lines: Vec<OfLine>) -> Vec<OfLine> {
    lines.sort_by_key(|of| (of.job.start, std::cmp::Reverse(of.line)));
    lines.dedup_by_key(|of| of.job.start);
    let starts: Vec<Time> = lines.iter().map(|of| of.job.start).collect();
    for (of, next) in lines.iter_mut().zip(starts.into_iter().skip(1)).filter(|(of, _)| of.job.end.is_none())
    {
        (of.job.end, of.job.end_presumed) = (Some(next), true);
    }
    lines
}

fn runs_of(path: &Path, jobs: Vec<OfLine>) -> Result<Vec<Job>, JobsError> {
    let mut home: HashMap<Name, String> = HashMap::new();
    let mut runs: BTreeMap<Name, Vec<OfLine>> = BTreeMap::new();
    for mut of in jobs {
        let home = home.entry(of.job.job_id.clone()).or_insert_with(|| of.cluster.clone());
        if *home != of.cluster && !of.cluster.is_empty() {
            let number = JobNumber { job_id: of.job.job_id, label: of.job.label };
            let number = number.of_cluster(&of.cluster).map_err(|error| JobsError::Line {
                path: path.to_path_buf(),
                line: of.line,
                source: JobFileError::Cluster(error),
            })?;
            (of.job.job_id, of.job.label) = (number.job_id, number.label);
        }
        runs.entry(of.job.job_id.clone()).or_default().push(of);
    }
    let mut all = Vec::new();
    for (job_id, of_number) in runs {
        let of_number = one_a_run(of_number);
        let overlaps = |pair: &&[OfLine]| pair[0].job.end.is_some_and(|end| end > pair[1].job.start);
        if let Some(pair) = of_number.windows(2).find(overlaps) {
            let lines = [pair[0].line, pair[1].line];
            let (line, earlier) = (lines[0].max(lines[1]), lines[0].min(lines[1]));
            return Err(JobsError::Twice { path: path.to_path_buf(), line, job_id, earlier });
        }
        let named = of_number.into_iter().enumerate();
        all.extend(named.filter_map(|(at, of)| Some(Job { job_id: run_id(&job_id, at)?, ..of.job })));
    }
    Ok(all)
}
