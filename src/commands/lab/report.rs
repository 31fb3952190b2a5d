//! `tailback lab report`: what `lab run` and `lab truth` wrote, as tables and pictures.

use clap::Args;
use lab::calibration::{self, Line};
use lab::outcome::Outcome;
use lab::{files, report};
use std::io::Write;
use std::path::PathBuf;

/// Where the outcomes are.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folder that `tailback lab run --out` and `tailback lab truth --out` wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Write a page with a picture of each case
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write each picture as a file into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// Prints the table; writes the page and the pictures, if requested.
///
/// # Errors
/// A folder without outcomes; a file that cannot be read or written.
pub fn run(args: &ReportArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let outcomes = Outcome::read_all(&args.folder)?;
    let mut calibration = calibration::read(&args.folder)?;
    anyhow::ensure!(
        !outcomes.is_empty() || !calibration.is_empty(),
        "{} contains no outcome of `tailback lab run` or `tailback lab truth`",
        args.folder.display()
    );
    calibration.extend(report::calibration_of(&outcomes));
    if !outcomes.is_empty() {
        write!(out, "{}", report::table(&outcomes))?;
    }
    if calibration.iter().any(Line::has_any) {
        write!(out, "\n{}", calibration::markdown(&calibration))?;
    }
    if let Some(path) = &args.html {
        files::write(path, &report::page(&outcomes, &calibration))?;
    }
    args.svg.as_deref().map_or(Ok(()), |folder| report::write_pictures(&outcomes, &calibration, folder))?;
    Ok(out.flush()?)
}
