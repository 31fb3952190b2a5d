//! `tailback explain EPISODE`: what was measured, which rule decided, the causes, and what data was missing.
//!
//! | file | what it holds |
//! |---|---|
//! | `facts.rs` | [`Explained`], the facts, and which sample decided |
//! | `load.rs` | reading them from the store, or from PostgreSQL |
//! | `text.rs` | the facts as text |

mod facts;
mod load;
#[cfg(test)]
mod tests;
mod text;

pub use facts::Explained;

use super::source::Source;
use crate::config::RunConfig;
use crate::run::pg_settings;
use anyhow::{Context, anyhow};
use dashboards::answer::EPISODES_OF_PARTITION;
use std::io::Write;
use std::path::PathBuf;

/// Why a stretch was called contended
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Number of the episode; in a database `partition:number`, or as the page's address has it
    pub episode: String,
    /// The store that `tailback run` or `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    pub store: PathBuf,
    /// Query the database of this configuration (TOML) instead of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    pub config: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Prints the requested explanation.
///
/// # Errors
/// One sentence naming what cannot be read, or the episode that is not there.
pub fn run(args: &ExplainArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let (partition, id) = number(&args.episode)?;
    let source = match &args.config {
        Some(config) => Source::Server(Box::new(pg_settings(&RunConfig::load(Some(config))?))),
        None => Source::Store(&args.store),
    };
    let facts = load::load(&source, partition, id)?;
    let text = if args.json { serde_json::to_string_pretty(&facts)? + "\n" } else { text::render(&facts) };
    out.write_all(text.as_bytes()).context("the explanation cannot be written")
}

/// The partition and the number within it: `3:12`, or as the page's addresses have both in one, 3000000000012.
fn number(text: &str) -> anyhow::Result<(i32, i64)> {
    let parsed = match text.split_once(':') {
        Some((partition, id)) => partition.parse().ok().zip(id.parse().ok()),
        None => text.parse().ok().and_then(in_partition),
    };
    parsed.ok_or_else(|| anyhow!("an episode is a number, or partition:number, not {text:?}"))
}

fn in_partition(number: i64) -> Option<(i32, i64)> {
    Some((i32::try_from(number / EPISODES_OF_PARTITION).ok()?, number % EPISODES_OF_PARTITION))
}
