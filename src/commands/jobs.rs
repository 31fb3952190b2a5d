//! `tailback jobs`: what jobs lost, a line each.

use super::report::{source, terminal_width};
use anyhow::Context;
use report::JobFilter;
use std::io::Write;
use std::path::PathBuf;

/// Which jobs, and from where
#[derive(Debug, clap::Args)]
pub struct JobsArgs {
    /// Only jobs of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Only running jobs
    #[arg(long)]
    running: bool,
    /// Only ended jobs
    #[arg(long, conflicts_with = "running")]
    ended: bool,
    /// Only jobs that ran in this time before the newest data: 90s, 15min, 24h, 7d
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    since: Option<f64>,
    /// Largest loss first, by the lower end of its range; else the latest start first
    #[arg(long)]
    by_loss: bool,
    /// At most so many jobs
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// The store that `tailback run` or `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    store: PathBuf,
    /// Query the database of this configuration (TOML) instead of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    config: Option<PathBuf>,
    /// Print a list of JSON objects instead of a table
    #[arg(long)]
    json: bool,
}

/// Prints the requested jobs.
///
/// # Errors
/// One sentence naming what cannot be read.
pub fn run(args: &JobsArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let filter = JobFilter {
        user: args.user.clone(),
        within_s: args.since,
        running: if args.running { Some(true) } else { args.ended.then_some(false) },
        by_loss: args.by_loss,
        limit: args.limit,
    };
    let jobs = source(args.config.as_deref(), &args.store)?.jobs(&filter)?;
    let text = if args.json { jobs.json()? } else { jobs.text(terminal_width()) };
    out.write_all(text.as_bytes()).context("the jobs cannot be written")
}

/// A length of time with its unit, in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err("it must be a number with s, min, h or d, like 24h".to_string()),
    };
    let number: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    let seconds = number * factor;
    if (0.0..=1e9).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("it must be between 0 and 11574d".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        for (text, want) in [("90s", 90.0), ("1.5min", 90.0), ("24h", 86_400.0), ("7d", 604_800.0)] {
            assert_eq!(seconds(text), Ok(want));
        }
        for text in ["", "24", "h", "2w", "-1h", "1e3h", "99999999d", "nand"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
