//! `ask`: many running jobs in a store, and as many clients that ask once a second whether they are contended, or report their progress.

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use load::asking::{Load, fill, measure};
use std::io::Write;
use std::path::PathBuf;

/// Makes a store with running jobs, or asks about them once a second.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a store with running jobs, a tenth of them contended
    Fill {
        /// File of the store, which must not exist.
        store: PathBuf,
        /// Running jobs.
        #[arg(long, default_value_t = 10_000)]
        jobs: u32,
        /// Series of each job.
        #[arg(long, default_value_t = 20)]
        series: u32,
    },
    /// Ask about each of them once a second; prints latencies and the server's processor time as JSON
    Ask {
        /// Address of the server: 127.0.0.1:8642.
        address: String,
        /// Its process.
        #[arg(long)]
        pid: u32,
        /// Jobs that ask.
        #[arg(long, default_value_t = 10_000)]
        jobs: u32,
        /// Seconds that are measured, after three of warming up.
        #[arg(long, default_value_t = 30)]
        seconds: u32,
        /// A connection for each request, as `tailback ask` makes it, instead of one for each job.
        #[arg(long)]
        reconnect: bool,
        /// A request only where the last answer may not be used any more, as the clients of applications do it.
        #[arg(long)]
        paced: bool,
        /// Report progress instead, once in ten seconds each.
        #[arg(long, conflicts_with = "paced")]
        report: bool,
        /// File with the keys of job tokens; without it the requests have no token.
        #[arg(long)]
        key_file: Option<PathBuf>,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Fill { store, jobs, series } => {
            ensure!(!store.exists(), "{} exists already", store.display());
            fill(&store, jobs, series)
        }
        Command::Ask { address, pid, jobs, seconds, reconnect, paced, report, key_file } => {
            let keys =
                key_file.map(std::fs::read_to_string).transpose().context("the key file cannot be read")?;
            let load = Load { address, pid, jobs, seconds, reconnect, paced, report, keys };
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            let figures = runtime.block_on(measure(load))?;
            Ok(writeln!(std::io::stdout(), "{figures:#}")?)
        }
    }
}
