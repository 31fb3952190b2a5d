//! `tailback backtest`: what a configuration is worth on recorded rows whose truth is known, and which one is best.
//!
//! | file | what it holds |
//! |---|---|
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

mod answer;
mod candidate;
mod choice;
mod facts;
mod feed;
mod labels;
mod losses;
mod score;
mod stretches;
mod sweep;
mod table;
mod truth;

use crate::outputs::create;
use crate::replay::ModelName;
use aggregator::jobs;
use answer::Answer;
use candidate::{Candidate, Wanted};
use choice::Choice;
use clap::Args;
use detector::fabric::Network;
use detector::model::ModelKind;
use feed::Input;
use labels::Judged;
use score::Rules;
use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use sweep::Sweep;
use truth::Truth;

/// What to score, by which truth, and how to answer.
#[derive(Debug, Args)]
pub struct BacktestArgs {
    /// LDMS JSON-lines or store_csv files, as `tailback replay` takes them
    #[arg(required = true, value_name = "ROWS")]
    pub rows: Vec<PathBuf>,
    /// The truth: truth.jsonl of `tailback simulate`, or lines of that form by hand; a series not in it was never contended
    #[arg(long, value_name = "FILE")]
    pub truth: PathBuf,
    /// Judge only series that the truth names
    #[arg(long)]
    pub labelled_only: bool,
    /// Jobs, one JSON object a line: job_id, user, name, nodes, start, end, app
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// Topology of the machine, as `tailback replay` takes it; repeat for several files
    #[arg(long, value_name = "FILE")]
    pub topology: Vec<PathBuf>,
    /// A configuration to score beside the default (TOML); repeat for several
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// The model of all configurations but the default; without --config, --sweep and this both models are scored
    #[arg(long, value_enum)]
    pub model: Option<ModelName>,
    /// A key of the configuration and values to try, e.g. lustre_write_rate.eta=4,5,6; repeat for a grid, up to 255 points
    #[arg(long, value_name = "KEY=V1,V2,...")]
    pub sweep: Vec<String>,
    /// Threads that run configurations; the answer does not depend on it. Without it as many as there are processors
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZero<usize>>,
    /// Most false seconds per series and hour of a configuration to propose
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub false_seconds_max: f64,
    /// Seconds around a true stretch in which nothing is false
    #[arg(long, value_name = "S", default_value_t = 2.0, value_parser = seconds)]
    pub edge_s: f64,
    /// Answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write the answer to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    if (0.0..=3600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("it must lie between 0 and 3600".to_string())
    }
}

/// Scores configurations.
///
/// # Errors
/// What stopped it: a key, a line of the truth or a file that cannot be used.
pub fn run(args: &BacktestArgs) -> anyhow::Result<()> {
    let sweeps = Sweep::parse_all(&args.sweep)?;
    let model = args.model.map(ModelKind::from);
    let candidates = candidate::candidates(&Wanted { files: &args.config, model, sweeps: &sweeps })?;
    let truth = Truth::read(&args.truth)?;
    let answers = feed::run(&input(args)?, &candidates, threads(args))?;
    let judged = Judged::of(&truth, &answers.facts[0], args.labelled_only)?;
    let rules = Rules { edge_s: args.edge_s };
    let choice = Choice::of(&judged, &answers.facts, rules, args.false_seconds_max);
    let warnings: Vec<String> = answers.unused.iter().chain(&judged.warnings).cloned().collect();
    let Candidate { keys, .. } = &candidates[choice.best()];
    let answer = Answer {
        candidates: &candidates,
        judged: &judged,
        choice: &choice,
        rows: answers.rows,
        false_seconds_max: args.false_seconds_max,
        warnings: &warnings,
        toml: answer::toml(keys),
    };
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    print(args, &answer)
}

fn input(args: &BacktestArgs) -> anyhow::Result<Input> {
    let network = match args.topology.as_slice() {
        [] => None,
        files => Some(Arc::new(Network::of(topology::readers::read(files)?.topology))),
    };
    let jobs = args.jobs.as_deref().map_or(Ok(Vec::new()), jobs::read_job_file)?;
    Ok(Input { rows: args.rows.clone(), jobs, network })
}

fn threads(args: &BacktestArgs) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, NonZero::get);
    args.threads.map_or_else(processors, NonZero::get)
}

fn print(args: &BacktestArgs, answer: &Answer<'_>) -> anyhow::Result<()> {
    let text = if args.json { format!("{:#}\n", answer.json()) } else { table::text(answer) };
    match &args.out {
        Some(path) => {
            let mut file = create(path)?;
            file.write_all(text.as_bytes())?;
            Ok(file.flush()?)
        }
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}
