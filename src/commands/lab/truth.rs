//! `tailback lab truth`: how far results are from the truth on random scenarios.

use crate::bars;
use clap::Args;
use lab::calibration::{self, Line};
use lab::truth::{Half, goals, table};
use std::io::Write;
use std::path::PathBuf;

/// Which kinds and seeds.
#[derive(Debug, Args)]
pub struct TruthArgs {
    /// Kinds of scenarios; all without any
    #[arg(value_name = "KIND")]
    pub kinds: Vec<String>,
    /// Scenarios of each kind
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: u32,
    /// Odd seeds, on which parameters are tuned, instead of the even ones that are reported
    #[arg(long)]
    pub tuning: bool,
    /// Folder for the calibration of each kind, which `tailback lab report` draws
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Answer as JSON, one kind a line, with each scenario; the last line is the calibration of all kinds
    #[arg(long)]
    pub json: bool,
    /// Scenarios played at the same time; as many as there are processors without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

/// Plays the scenarios and prints the scores.
///
/// # Errors
/// There is no such kind.
pub(super) fn run(args: &TruthArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let kinds = goals::named(&args.kinds)?;
    let half = if args.tuning { Half::Tuning } else { Half::HeldOut };
    let bar = bars::of_items(kinds.len() as u64 * u64::from(args.seeds));
    let scores = lab::truth::scores(&kinds, half, |_| args.seeds, args.threads, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let lines = table::calibration(&kinds, &scores);
    if let Some(folder) = &args.out {
        lab::files::make(folder)?;
        calibration::write(folder, &lines)?;
    }
    if !args.json {
        let (scores, held) = (table::markdown(&kinds, &scores), calibration::markdown(&lines));
        return Ok(write!(out, "{scores}\n{held}")?);
    }
    for score in &scores {
        writeln!(out, "{}", serde_json::to_string(score)?)?;
    }
    Ok(writeln!(out, "{}", serde_json::to_string(&Line::all(&lines))?)?)
}
