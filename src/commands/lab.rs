//! `tailback lab`: experiments on simulated machines, whose truth is known: those of the papers, and a site's own.

mod report;
mod truth;

use crate::bars;
use clap::{Args, Subcommand};
use lab::record::Recording;
use lab::run::{Choice, Work, chosen};
use lab::{builtin, files, machine};
use std::io::Write;
use std::path::PathBuf;

/// What to do in the laboratory.
#[derive(Debug, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// List the built-in experiments and machines
    List,
    /// Print the file of a built-in experiment, to be changed and run
    Show {
        /// Its name
        name: String,
    },
    /// Play experiments and hold what comes out against what they expect
    Run(RunArgs),
    /// Write a case as a site would have it: rows of LDMS, jobs, topology, and the truth
    Record(RecordArgs),
    /// Summarise what `lab run --out` and `lab truth --out` wrote: tables, and a page with pictures
    Report(report::ReportArgs),
    /// Score Tailback on random scenarios whose losses are known: a table beside the goals
    Truth(truth::TruthArgs),
}

/// Which experiments, and where their outcomes go.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Names of built-in experiments, or files; all built-in ones without any
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// Only those of the quick subset
    #[arg(long)]
    pub quick: bool,
    /// Folder for an outcome of each experiment, which `tailback lab report` reads
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Answer as JSON, one experiment a line
    #[arg(long)]
    pub json: bool,
    /// Seed of all cases, instead of their own
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of seeds of cases that are played with several, instead of their own
    #[arg(long, value_name = "N", conflicts_with = "seed", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: Option<u32>,
    /// Of such cases the odd seeds, on which parameters are tuned, instead of the even ones that are reported
    #[arg(long, conflicts_with = "seed")]
    pub tuning: bool,
    /// Cases played at the same time; as many as there are processors without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

/// Which case, and where to write.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Name of a built-in experiment, or a file
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: String,
    /// Its case; the first one without it
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Folder for ldms.SCHEMA.jsonl, jobs.jsonl, topology.json and truth.jsonl
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Runs one of the commands.
///
/// # Errors
/// Those of the command.
pub fn run(args: &LabArgs, out: &mut impl Write) -> anyhow::Result<()> {
    match &args.command {
        LabCommand::List => list(out),
        LabCommand::Show { name } => Ok(write!(out, "{}", builtin::text(name)?)?),
        LabCommand::Run(args) => play(args, out),
        LabCommand::Record(args) => record(args),
        LabCommand::Report(args) => report::run(args, out),
        LabCommand::Truth(args) => truth::run(args, out),
    }
}

fn list(out: &mut impl Write) -> anyhow::Result<()> {
    for (name, experiment) in builtin::all()? {
        let quick = if experiment.quick { "quick" } else { "" };
        writeln!(out, "{name:30} {quick:6} {:14} {}", experiment.checks.join(" "), experiment.title)?;
    }
    writeln!(out, "\nmachines:")?;
    for (name, what) in machine::NAMES {
        writeln!(out, "{name:30} {what}")?;
    }
    Ok(out.flush()?)
}

/// Plays experiments and prints their outcomes; expectations that do not hold are an error, after everything was printed.
fn play(args: &RunArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let RunArgs { quick, seed, seeds, tuning, .. } = *args;
    let experiments = chosen(&args.experiments, Choice { quick, seed, seeds, tuning })?;
    args.out.as_deref().map_or(Ok(()), files::make)?;
    let work = Work::of(&experiments);
    let bar = bars::of_seconds(Some(work.seconds()));
    let outcomes = work.outcomes(args.threads, &|| bar.inc(1));
    bar.finish_and_clear();
    let mut missed = 0;
    for outcome in outcomes {
        let outcome = outcome?;
        missed += outcome.judged.iter().filter(|judged| !judged.held).count();
        if let Some(folder) = &args.out {
            outcome.write(folder)?;
        }
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string(&outcome)?)?,
            false => lab::report::in_words(&outcome, out)?,
        }
    }
    out.flush()?;
    anyhow::ensure!(missed == 0, "{missed} expectations do not hold");
    Ok(())
}

fn record(args: &RecordArgs) -> anyhow::Result<()> {
    let recording = Recording::of(&args.experiment, args.case.as_deref())?;
    let bar = bars::of_seconds(Some(u64::from(recording.seconds)));
    recording.write(&args.out, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(())
}
