//! `tailback report JOB`: what a job lost, when, on which resource, to whom, and what is not known.
//!
//! | file | what it holds |
//! |---|---|
//! | `post_mortem.rs` | [`PostMortem`], the facts, and the figures that follow from them |
//! | `load.rs` | reading them from the store; the statements are the `.sql` files here |
//! | `nearest.rs` | which known job somebody may have meant |
//! | `render.rs`, `table.rs`, `unknowns.rs` | the facts as text: the page, its table of episodes, its last part |
//! | `sparkline.rs`, `nodes.rs`, `words.rs` | loss over time in one line, node lists, figures with units |
//! | `json.rs` | the facts as one JSON object |

mod json;
mod load;
mod nearest;
mod nodes;
mod post_mortem;
mod render;
mod sparkline;
mod table;
#[cfg(test)]
mod tests;
mod unknowns;
mod words;

pub use json::PostMortemJson;
pub use post_mortem::{PostMortem, ResourceEpisode, SeriesCount};
pub use render::render;

use anyhow::Context;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Columns of a page that is not written to a terminal, or to one that does not tell its width.
const WIDTH: usize = 120;

/// What a job lost to contention: how much, when, on which resource, and to whom
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The scheduler's number of the job
    pub job: String,
    /// The store that `tailback run` or `tailback demo` writes
    #[arg(long, value_name = "FILE", default_value = "tailback.db")]
    pub store: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Prints the post-mortem that `args` ask for.
///
/// # Errors
/// One sentence naming the store that cannot be read, or the job that is not in it and those that might be meant.
pub fn run(args: &ReportArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let facts = load::load(&args.store, &args.job)?;
    let text = if args.json {
        serde_json::to_string_pretty(&PostMortemJson::from(&facts))? + "\n"
    } else {
        render(&facts, terminal_width(), colour())
    };
    out.write_all(text.as_bytes()).context("the report cannot be written")
}

/// Colours only for a person, and only for one who did not decline them (no-color.org).
fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.filter(|_| std::io::stdout().is_terminal());
    columns.and_then(|c| c.parse().ok()).unwrap_or(WIDTH)
}
