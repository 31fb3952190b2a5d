//! `tailback report JOB`: what a job lost, when, on which resource, the causes, and what is not known.

#[cfg(test)]
mod tests;

use crate::runtime::clock;
use anyhow::{Context, bail};
use configuration::{RunConfig, page_address};
use report::{Source, Stamp};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Most columns of a page.
const WIDTH: usize = 100;

/// What a job lost to contention: how much, when, on which resource, and the causes
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The scheduler's number of the job
    #[arg(required_unless_present = "compare")]
    job: Option<String>,
    /// The store that `tailback run` or `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    store: PathBuf,
    /// Query the database of this configuration (TOML) instead of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    config: Option<PathBuf>,
    /// Compare with an earlier run: `report 1234 --compare 1198`, or `report --compare 1234 1198`
    #[arg(long, value_name = "JOB", num_args = 1..=2)]
    compare: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Write one page of HTML to this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Print a mail instead: subject, empty line, plain text of 78 columns
    #[arg(long, conflicts_with_all = ["json", "html", "compare"])]
    mail: bool,
    /// Print at most 50 characters instead, for the comment of a job in Slurm
    #[arg(long, conflicts_with_all = ["json", "html", "compare", "mail"])]
    comment: bool,
    /// Address of the page, for a link to the job in the report; without it http.public_url of --config
    #[arg(long, value_name = "URL", value_parser = page_address)]
    page: Option<String>,
}

impl ReportArgs {
    /// The job, and the run that it is compared with.
    fn jobs(&self) -> anyhow::Result<(&str, Option<&str>)> {
        match (self.job.as_deref(), self.compare.as_slice()) {
            (Some(job), []) => Ok((job, None)),
            (Some(job), [other]) => Ok((job, Some(other))),
            (None, [job, other]) => Ok((job, Some(other))),
            _ => bail!("two jobs are compared: report 1234 --compare 1198, or report --compare 1234 1198"),
        }
    }
}

/// Prints the requested post-mortem.
///
/// # Errors
/// One sentence naming the store that cannot be read, or the job that is not in it and those that might be meant.
pub fn run(args: &ReportArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let (job, other) = args.jobs()?;
    let source = source(args.config.as_deref(), &args.store)?;
    let facts = source.post_mortem(job)?;
    let stamp = Stamp { version: env!("CARGO_PKG_VERSION"), written: clock::now(), page: page(args)? };
    if args.comment {
        return writeln!(out, "{}", facts.comment()).context("the report cannot be written");
    }
    if args.mail {
        return out.write_all(facts.mail(&stamp).as_bytes()).context("the report cannot be written");
    }
    let compared = other.map(|other| source.comparison(&facts, other)).transpose()?;
    if let Some(path) = &args.html {
        let page = facts.html(compared.as_ref(), &stamp);
        return lab::files::write(path, &page);
    }
    let text = match (compared, args.json) {
        (None, true) => facts.json(&stamp)?,
        (None, false) => facts.text(terminal_width(), colour(), &stamp),
        (Some(compared), true) => compared.json()?,
        (Some(compared), false) => compared.text(terminal_width()),
    };
    out.write_all(text.as_bytes()).context("the report cannot be written")
}

/// The database of the configuration if one is given, else the store.
pub(super) fn source(config: Option<&Path>, store: &Path) -> anyhow::Result<Source> {
    Ok(match config {
        Some(config) => Source::Server(Box::new(RunConfig::load(Some(config))?.database.pg_settings())),
        None => Source::Store(store.to_path_buf()),
    })
}

/// The address of the page: that of the option, else that of the configuration.
fn page(args: &ReportArgs) -> anyhow::Result<Option<String>> {
    let Some(config) = args.config.as_deref().filter(|_| args.page.is_none()) else {
        return Ok(args.page.clone());
    };
    Ok(RunConfig::load(Some(config))?.http.page())
}

/// Colours only on a terminal, and only without NO_COLOR (no-color.org).
fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Columns of the terminal, at most 100.
pub(super) fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.filter(|_| std::io::stdout().is_terminal());
    columns.and_then(|c| c.parse().ok()).unwrap_or(WIDTH).min(WIDTH)
}
