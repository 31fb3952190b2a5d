//! `tailback explain EPISODE`: what was measured, which rule decided, the causes, and what data was missing.

use super::report::{source, terminal_width};
use anyhow::Context;
use std::io::Write;
use std::path::PathBuf;

/// Why a stretch was called contended
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Number of the episode; in a database `partition:number`, or as the page's address has it
    episode: String,
    /// The store that `tailback run` or `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    store: PathBuf,
    /// Query the database of this configuration (TOML) instead of a store
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    config: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Prints the requested explanation.
///
/// # Errors
/// One sentence naming what cannot be read, or the episode that is not there.
pub fn run(args: &ExplainArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let facts = source(args.config.as_deref(), &args.store)?.explanation(&args.episode)?;
    let text = if args.json { facts.json()? } else { facts.text(terminal_width()) };
    out.write_all(text.as_bytes()).context("the explanation cannot be written")
}
