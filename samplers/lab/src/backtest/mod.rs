//! What a configuration is worth on recorded rows whose truth is known, and which one is best.
//!
//! | file | what it holds |
//! |---|---|
//! | `configuration.rs` | what it needs of the program's configuration |
//! | `sweep.rs` | `--sweep`: keys and the values to try |
//! | `candidate.rs` | the configurations that are scored |
//! | `truth.rs` | the truth, of a simulation or written by hand |
//! | `feed.rs` | rows to all candidates at once, decoded once |
//! | `facts.rs` | results of one candidate, kept small |
//! | `stretches.rs` | sets of time |
//! | `labels.rs` | truth and rows put together: what is judged |
//! | `score.rs` | precision, recall, episodes, latency, false seconds |
//! | `losses.rs` | the error of the slowdown |
//! | `choice.rs` | which is best, and whether that is more than luck |
//! | `answer.rs` | the answer as a whole, and as JSON |
//! | `table.rs` | the answer for people |

pub mod answer;
pub mod candidate;
mod choice;
pub mod configuration;
mod facts;
pub mod feed;
mod labels;
mod losses;
mod score;
mod stretches;
pub mod sweep;
pub mod table;
mod truth;

use aggregator::jobs;
use answer::Answer;
use candidate::{Candidate, Wanted};
use choice::Choice;
use configuration::Configuration;
use detector::fabric::Network;
use detector::model::ModelKind;
use feed::{Input, Progress};
use labels::Judged;
use score::Rules;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use sweep::Sweep;
use truth::Truth;

/// What to score, and by which truth.
#[derive(Debug)]
pub struct Request {
    /// Files of rows.
    pub rows: Vec<PathBuf>,
    /// The file of the truth.
    pub truth: PathBuf,
    /// Whether to judge only series that the truth names.
    pub labelled_only: bool,
    /// A job file.
    pub jobs: Option<PathBuf>,
    /// Files of the topology.
    pub topology: Vec<PathBuf>,
    /// Files of configurations to score beside the default.
    pub config: Vec<PathBuf>,
    /// The model of all configurations but the default.
    pub model: Option<ModelKind>,
    /// Keys and values to try: `KEY=V1,V2,…`.
    pub sweep: Vec<String>,
    /// Threads that run configurations; as many as there are processors without it.
    pub threads: Option<NonZero<usize>>,
    /// Most false seconds per series and hour of a configuration to propose.
    pub false_seconds_max: f64,
    /// Seconds around a true stretch in which nothing is false.
    pub edge_s: f64,
}

/// Scores configurations; calls `progress` after each batch of rows.
///
/// # Errors
/// What stopped it: a key, a line of the truth or a file that cannot be used.
pub fn run(
    request: &Request,
    by: &dyn Configuration,
    progress: impl FnMut(Progress),
) -> anyhow::Result<Answer> {
    let sweeps = Sweep::parse_all(&request.sweep, by)?;
    let wanted = Wanted { files: &request.config, model: request.model, sweeps: &sweeps };
    let candidates = candidate::candidates(&wanted, by)?;
    let truth = Truth::read(&request.truth)?;
    let answers = feed::run(&input(request)?, &candidates, threads(request), progress)?;
    let judged = Judged::of(&truth, &answers.facts[0], request.labelled_only)?;
    let rules = Rules { edge_s: request.edge_s };
    let choice = Choice::of(&judged, &answers.facts, rules, request.false_seconds_max);
    let warnings = answers.unused.iter().chain(&judged.warnings).cloned().collect();
    let Candidate { keys, .. } = &candidates[choice.best()];
    let toml = answer::toml(keys);
    let (rows, false_seconds_max) = (answers.rows, request.false_seconds_max);
    Ok(Answer { candidates, judged, choice, rows, false_seconds_max, warnings, toml })
}

fn input(request: &Request) -> anyhow::Result<Input> {
    let network = match request.topology.as_slice() {
        [] => None,
        files => Some(Arc::new(Network::of(topology::readers::read(files)?.topology))),
    };
    let jobs = request.jobs.as_deref().map_or(Ok(Vec::new()), jobs::read_job_file)?;
    Ok(Input { rows: request.rows.clone(), jobs, network })
}

fn threads(request: &Request) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    request.threads.map_or_else(processors, NonZero::get)
}
