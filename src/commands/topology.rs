//! `tailback topology`: summary, faults and picture of a network.

use anyhow::Context;
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use topology::readers::read;
use topology::{answers, draw};

/// What to do with a topology.
#[derive(Debug, Args)]
pub struct TopologyArgs {
    #[command(subcommand)]
    command: Command,
}

/// Files that describe one network, in any order.
#[derive(Debug, Args)]
pub struct Files {
    /// ibnetdiscover, ibdiagnet.lst, ibdiagnet.fdbs, LFT dumps, node name maps, rtr --interconnect, cnames,
    /// HPE's point-to-point CSV, /etc/hosts with xnames, the plain form or parameters of a machine; their content decides
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Counts per level and class; one vertex with --at, one way with --path
    Show {
        #[command(flatten)]
        files: Files,
        /// Answer as one JSON object
        #[arg(long)]
        json: bool,
        /// List the ports and peers of this switch, router or host
        #[arg(long, value_name = "NAME", conflicts_with = "path")]
        at: Option<String>,
        /// Walk the forwarding tables from one host to another; without tables, a shortest path
        #[arg(long, num_args = 2, value_names = ["FROM", "TO"])]
        path: Option<Vec<String>>,
    },
    /// Print every contradiction; the exit code is not 0 if there is one
    Check {
        #[command(flatten)]
        files: Files,
        /// Answer as one JSON object
        #[arg(long)]
        json: bool,
        /// Series that report, one name a line or signals.jsonl: those whose port is not in the topology are printed
        #[arg(long, value_name = "FILE")]
        series: Option<PathBuf>,
    },
    /// Draw it as SVG
    Draw {
        #[command(flatten)]
        files: Files,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write it in the plain form
    Export {
        #[command(flatten)]
        files: Files,
        /// JSON instead of TOML
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read, a name is unknown, or `check` found something.
pub fn run(args: &TopologyArgs, out: &mut impl Write) -> anyhow::Result<()> {
    match &args.command {
        Command::Show { files, json, at, path } => {
            let reading = read(&files.files)?;
            match (at, path.as_deref()) {
                (Some(name), _) => answers::ports(&reading, name, *json, out)?,
                (None, Some([from, to])) => answers::path(&reading, from, to, *json, out)?,
                _ => answers::summary(&reading, *json, out)?,
            }
        }
        Command::Check { files, json, series } => {
            answers::faults(&read(&files.files)?, series.as_deref(), *json, out)?;
        }
        Command::Draw { files, out: file } => {
            let picture = draw::picture(&read(&files.files)?);
            match file {
                Some(path) => std::fs::write(path, picture).with_context(|| path.display().to_string())?,
                None => out.write_all(picture.as_bytes())?,
            }
        }
        Command::Export { files, json } => answers::plain_form(&read(&files.files)?, *json, out)?,
    }
    Ok(out.flush()?)
}
