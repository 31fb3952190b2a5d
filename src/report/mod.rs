//! `tailback report JOB`: what a job lost, when, on which resource, the causes, and what is not known.
//!
//! | file | what it holds |
//! |---|---|
//! | `post_mortem.rs` | [`PostMortem`], the facts, and the numbers that follow from them |
//! | `source.rs` | reading them from the store, or from PostgreSQL |
//! | `nearest.rs` | known jobs with a similar number |
//! | `render.rs`, `table.rs`, `unknowns.rs` | the facts as text: the page, its table of episodes, its last part |
//! | `sparkline.rs`, `nodes.rs`, `words.rs` | loss over time in one line, node lists, numbers with units |
//! | `parts.rs` | factors and regions in lines |
//! | `json.rs` | the facts as one JSON object |
//! | `html.rs`, `timeline.rs`, `page.css` | the facts as one page of HTML, and its drawing |
//! | `compare.rs` | two runs side by side |
//! | `explain/` | `tailback explain EPISODE` |

mod compare;
pub mod explain;
pub(crate) mod html;
mod json;
mod nearest;
mod nodes;
mod parts;
mod post_mortem;
mod render;
mod source;
mod sparkline;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod unknowns;
mod words;

pub use json::PostMortemJson;
pub use post_mortem::PostMortem;
pub use render::render;

use crate::config::RunConfig;
use crate::run::pg_settings;
use anyhow::{Context, bail};
use serde_json::json;
use source::Source;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Columns of a page that is not written to a terminal, or to one of unknown width.
const WIDTH: usize = 120;

/// What a job lost to contention: how much, when, on which resource, and the causes
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The scheduler's number of the job
    #[arg(required_unless_present = "compare")]
    pub job: Option<String>,
    /// The store that `tailback run` or `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    pub store: PathBuf,
    /// Query the database of this configuration (TOML) instead of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    pub config: Option<PathBuf>,
    /// Compare with an earlier run: `report 1234 --compare 1198`, or `report --compare 1234 1198`
    #[arg(long, value_name = "JOB", num_args = 1..=2)]
    pub compare: Vec<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Write one page of HTML to this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
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

    fn source(&self) -> anyhow::Result<Source<'_>> {
        Ok(match &self.config {
            Some(config) => Source::Server(Box::new(pg_settings(&RunConfig::load(Some(config))?))),
            None => Source::Store(&self.store),
        })
    }
}

/// Prints the requested post-mortem.
///
/// # Errors
/// One sentence naming the store that cannot be read, or the job that is not in it and those that might be meant.
pub fn run(args: &ReportArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let (job, other) = args.jobs()?;
    let source = args.source()?;
    let facts = source.load(job)?;
    let compared = other.map(|other| source.compare(&facts, other)).transpose()?;
    let compared = compared.as_ref().map(|(other, items)| (other.as_str(), items.as_slice()));
    if let Some(path) = &args.html {
        let page = html::page(&facts, compared);
        return std::fs::write(path, page).with_context(|| format!("{} cannot be written", path.display()));
    }
    let text = match (args.json, compared) {
        (true, None) => serde_json::to_string_pretty(&PostMortemJson::from(&facts))? + "\n",
        (true, Some((other, items))) => {
            let jobs = [facts.job.job_id.as_str(), other];
            serde_json::to_string_pretty(&json!({ "jobs": jobs, "items": items }))? + "\n"
        }
        (false, None) => render(&facts, terminal_width(), colour()),
        (false, Some((other, items))) => compare::render(facts.job.job_id.as_str(), other, items),
    };
    out.write_all(text.as_bytes()).context("the report cannot be written")
}

/// Colours only on a terminal, and only without NO_COLOR (no-color.org).
fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.filter(|_| std::io::stdout().is_terminal());
    columns.and_then(|c| c.parse().ok()).unwrap_or(WIDTH)
}
