//! `tailback progress`: reports what the job counted so far, from a batch script.

mod follow;

use super::own_job::{OwnJobArgs, Server};
use anyhow::Context;
use clap::Args;
use follow::Log;
use schemas::Name;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Variables with the rank of this process, of Slurm, PMI and Open MPI.
const RANK_VARIABLES: [&str; 3] = ["SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"];
/// Exit status where the server did not take the report.
const NOT_TAKEN: u8 = 4;
/// Pause between two looks at a log; after each failure it doubles.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(64);

/// What was counted, and of which job
#[derive(Debug, Args)]
pub struct ProgressArgs {
    /// What is counted, such as steps, bytes or iterations: 1 to 32 of a-z, 0-9 and _
    name: String,
    /// The count since the start of the program; it rises
    #[arg(required_unless_present = "follow", conflicts_with = "follow")]
    count: Option<u64>,
    /// Report what the lines of this log count instead, once a second, until the command is ended
    #[arg(long, value_name = "FILE", requires = "pattern")]
    follow: Option<PathBuf>,
    /// Regular expression of these lines: its first group is the count; without a group each line counts one
    #[arg(long, value_name = "REGEX", requires = "follow")]
    pattern: Option<String>,
    /// Rank of the process that counts; without it that in SLURM_PROCID, PMI_RANK or OMPI_COMM_WORLD_RANK, else 0
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    #[command(flatten)]
    own: OwnJobArgs,
}

/// Sends the report; returns the exit status. Why the server did not take it is written to `errors`: a script may continue.
///
/// # Errors
/// No job or no address is given, or the log cannot be read.
pub fn run(args: &ProgressArgs, errors: &mut impl Write) -> anyhow::Result<u8> {
    let reporter = Reporter {
        name: &args.name,
        rank: args.rank.unwrap_or_else(rank),
        job: args.own.job()?,
        server: args.own.server()?,
    };
    if let (Some(path), Some(pattern)) = (&args.follow, &args.pattern) {
        let log = Log::new(path, pattern)?;
        return reporter.follow(log, errors).with_context(|| format!("{} cannot be read", path.display()));
    }
    match reporter.report(args.count.unwrap_or_default()) {
        Ok(()) => Ok(0),
        Err(why) => {
            writeln!(errors, "{why}")?;
            Ok(NOT_TAKEN)
        }
    }
}

struct Reporter<'a> {
    name: &'a str,
    rank: u32,
    job: Name,
    server: Server,
}

impl Reporter<'_> {
    fn report(&self, count: u64) -> Result<(), String> {
        let report = json!({ "name": self.name, "count": count, "rank": self.rank });
        let sent = self.server.send(&self.job, "progress", Some(report.to_string()));
        let why = |error| format!("tailback: progress was not taken: {}", crate::cli::sentence(&error));
        sent.map(drop).map_err(why)
    }

    /// Reports the counts of a log until the process is ended; each reason of failures once.
    fn follow(&self, mut log: Log, errors: &mut impl Write) -> anyhow::Result<u8> {
        let (mut unsent, mut pause, mut reason) = (None, PAUSE, String::new());
        loop {
            unsent = log.read()?.or(unsent);
            match unsent.map(|count| self.report(count)) {
                Some(Err(why)) => {
                    if why != reason {
                        writeln!(errors, "{why}")?;
                    }
                    (reason, pause) = (why, (pause * 2).min(PAUSE_MAX));
                }
                Some(Ok(())) => (unsent, reason, pause) = (None, String::new(), PAUSE),
                None => {}
            }
            std::thread::sleep(pause);
        }
    }
}

fn rank() -> u32 {
    let of = |name: &&str| std::env::var(name).ok()?.parse().ok();
    RANK_VARIABLES.iter().find_map(of).unwrap_or_default()
}
