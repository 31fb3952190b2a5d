//! `tailback metrics`: the catalogue, metric files checked, and one tried on recorded rows.

use anyhow::bail;
use clap::{Args, Subcommand};
use lab::replay::trial::{self, Trial};
use schemas::Metric;
use schemas::metric::catalogue::{catalogue, name_of, use_folder};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// What to do with metrics.
#[derive(Debug, Args)]
pub struct MetricsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the metrics in use, those of --metrics too, with the schemas that they are read from
    List {
        /// Answer as JSON, one metric a line
        #[arg(long)]
        json: bool,
    },
    /// Check metric files; the exit code is not 0 if one is wrong
    Check {
        /// Metric files (TOML)
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Read recorded rows with a metric file, and print what it makes of them
    Try {
        /// Metric file (TOML)
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Recorded rows: LDMS JSON-lines, store_csv files or folders of them
        #[arg(required = true, value_name = "ROWS")]
        rows: Vec<PathBuf>,
        /// Answer as JSON, one series a line
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// A file that is wrong or cannot be read, rows of which the metric uses none.
pub fn run(args: &MetricsArgs, out: &mut impl Write) -> anyhow::Result<()> {
    match &args.command {
        Command::List { json } => list(*json, out),
        Command::Check { files } => check(files, out),
        Command::Try { file, rows, json } => {
            let name = name_of(file)?;
            use_folder(file)?;
            let Some(metric) = Metric::from_name(&name) else { bail!("{}: not in use", file.display()) };
            print(&trial::run(metric, rows)?, metric, *json, out)
        }
    }
}

fn list(as_json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for file in catalogue().files() {
        let schemas: Vec<&str> = file.source.iter().map(|source| source.schema.as_str()).collect();
        if as_json {
            let line = json!({
                "name": file.name, "subject": file.subject, "title": file.title, "unit": file.unit, "direction": file.direction,
                "measures": file.measures, "schemas": schemas,
            });
            writeln!(out, "{line}")?;
        } else {
            let schemas = schemas.join(", ");
            writeln!(out, "{}: {}, {}, {}; from {schemas}", file.name, file.subject, file.title, file.unit)?;
        }
    }
    Ok(())
}

fn check(files: &[PathBuf], out: &mut impl Write) -> anyhow::Result<()> {
    let mut wrong = 0;
    for file in files {
        match name_of(file) {
            Ok(name) => writeln!(out, "{}: metric {name}", file.display())?,
            Err(error) => {
                wrong += 1;
                writeln!(out, "{error}")?;
            }
        }
    }
    if wrong > 0 { bail!("{wrong} of {} metric files are wrong", files.len()) } else { Ok(()) }
}

fn print(trial: &Trial, metric: Metric, as_json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for series in &trial.series {
        let (name, mean) = (&series.name, series.mean());
        if as_json {
            let line = json!({
                "series": name, "readings": series.readings, "active": series.active,
                "least": series.least, "mean": mean, "most": series.most, "unit": metric.unit(),
            });
            writeln!(out, "{line}")?;
        } else if series.active == 0 {
            writeln!(out, "{name}: {} readings, all below active_per_s", series.readings)?;
        } else {
            writeln!(
                out,
                "{name}: {} readings, {} of them active; {:.4e} to {:.4e} {}, mean {mean:.4e}",
                series.readings,
                series.active,
                series.least,
                series.most,
                metric.unit(),
            )?;
        }
    }
    for (reason, rows) in trial.drops.nonzero() {
        eprintln!("{rows} rows were not used: {}", reason.name());
    }
    match trial.series.is_empty() {
        true => bail!("no row has the columns of {}; {}", metric.name(), trial.seen),
        false => Ok(()),
    }
}
