//! `tailback backtest`: what a configuration is worth on recorded rows whose truth is known, and which one is best.

use crate::bars;
use crate::commands::replay::ModelName;
use clap::Args;
use configuration::{Origin, Problem};
use detector::model::ModelKind;
use indicatif::ProgressBar;
use lab::backtest::answer::Answer;
use lab::backtest::configuration::{Configuration, Configured, WrongValue};
use lab::backtest::feed::Progress;
use lab::backtest::{self, Request, table};
use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};

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
    let mut bar = None;
    let answer = backtest::run(&request(args), &OfProgram, |progress| show(&mut bar, progress))?;
    bar.iter().for_each(ProgressBar::finish_and_clear);
    answer.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    print(args, &answer)
}

fn request(args: &BacktestArgs) -> Request {
    Request {
        rows: args.rows.clone(),
        truth: args.truth.clone(),
        labelled_only: args.labelled_only,
        jobs: args.jobs.clone(),
        topology: args.topology.clone(),
        config: args.config.clone(),
        model: args.model.map(ModelKind::from),
        sweep: args.sweep.clone(),
        threads: args.threads,
        false_seconds_max: args.false_seconds_max,
        edge_s: args.edge_s,
    }
}

fn show(bar: &mut Option<ProgressBar>, progress: Progress) {
    let begun = bar.get_or_insert_with(|| {
        let message = format!("{} configurations", progress.configurations);
        bars::of_bytes(progress.total_bytes).with_message(message)
    });
    begun.set_position(progress.read_bytes);
}

/// The configuration of `tailback run`: keys are set as the environment would.
struct OfProgram;

impl Configuration for OfProgram {
    fn has_section(&self, section: &str) -> bool {
        toml::from_str::<toml::Table>(configuration::DEFAULT).is_ok_and(|table| table.contains_key(section))
    }

    fn of_file(&self, file: Option<&Path>, model: Option<ModelKind>) -> anyhow::Result<Configured> {
        Ok(configuration::settings(file, model, None, None)?)
    }

    fn of_values(&self, values: &BTreeMap<String, String>) -> Result<Configured, Option<WrongValue>> {
        let variables = values.iter().map(|(key, value)| (variable(key), value.clone()));
        let examined = configuration::examine(None, variables);
        let problem = examined.problems.first();
        let config = examined.config.ok_or_else(|| problem.map(|problem| wrong(problem, values)))?;
        Ok((config.settings(), config.fabric))
    }
}

/// The environment variable of a key.
fn variable(key: &str) -> String {
    format!("TAILBACK_{}", key.to_uppercase().replace('.', "__"))
}

/// A problem without the variables, which are internal.
fn wrong(problem: &Problem, values: &BTreeMap<String, String>) -> WrongValue {
    let text = problem.text.split(" (TAILBACK_").next().unwrap_or_default();
    let key = values.keys().find(|key| problem.origin == Origin::Environment(variable(key)));
    WrongValue { key: key.cloned(), text: text.to_string() }
}

fn print(args: &BacktestArgs, answer: &Answer) -> anyhow::Result<()> {
    let text = if args.json { format!("{:#}\n", answer.json()) } else { table::text(answer) };
    match &args.out {
        Some(path) => lab::files::write(path, &text),
        None => Ok(std::io::stdout().lock().write_all(text.as_bytes())?),
    }
}

#[cfg(test)]
mod tests;
