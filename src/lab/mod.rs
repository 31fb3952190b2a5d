//! `tailback lab`: experiments on simulated machines, whose truth is known: those of the papers, and a site's own.
//!
//! | module | what it holds |
//! |---|---|
//! | [`experiment`] | the file of an experiment |
//! | [`machine`] | its network |
//! | [`storage`] | what a job writes |
//! | [`select`] | placement of jobs |
//! | [`case`] | from words to a lab that can be played |
//! | [`play`] | a case through all stages |
//! | `paths` | the reported state of hosts whose links fail |
//! | [`measure`] | what can be expected |
//! | [`facts`] | its values |
//! | `calculations` | requests and messages by themselves |
//! | [`expect`] | expectations and whether they hold |
//! | [`mod@run`] | `lab run` |
//! | [`record`] | `lab record`: a case as rows, jobs, topology and truth |
//! | [`outcome`] | what came out, in a file |
//! | [`report`] | `lab report`: table and page |
//! | `picture` | a case as SVG |
//! | [`builtin`] | experiments that the binary brings along |

pub mod builtin;
mod calculations;
pub mod case;
pub mod expect;
pub mod experiment;
pub mod facts;
pub mod machine;
pub mod measure;
pub mod outcome;
mod paths;
mod picture;
pub mod play;
pub mod record;
pub mod report;
pub mod run;
pub mod select;
pub mod storage;

use clap::{Args, Subcommand};
use std::io::Write;

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
    Run(run::RunArgs),
    /// Write a case as a site would have it: rows of LDMS, jobs, topology, and the truth
    Record(record::RecordArgs),
    /// Summarise what `lab run --out` wrote: a table, and a page with pictures
    Report(report::ReportArgs),
}

/// Runs one of the commands.
///
/// # Errors
/// Those of the command.
pub fn run(args: &LabArgs, out: &mut impl Write) -> anyhow::Result<()> {
    match &args.command {
        LabCommand::List => list(out),
        LabCommand::Show { name } => Ok(write!(out, "{}", builtin::text(name)?)?),
        LabCommand::Run(args) => run::run(args, out),
        LabCommand::Record(args) => record::run(args),
        LabCommand::Report(args) => report::run(args, out),
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
