//! `tailback doctor`: what is wrong with an installation, and how to mend it.

use clap::Args;
use configuration::{environment, examine};
use doctor::finding::Summary;
use doctor::render::{self, Style};
use doctor::words::many;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Which configuration, and how to answer.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Configuration (TOML); `tailback config` prints the defaults
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Answer as one JSON object: findings and summary
    #[arg(long)]
    pub json: bool,
}

/// Looks at everything and prints what was found.
///
/// # Errors
/// If the output cannot be written, or something must be mended, after everything was printed.
pub fn run(args: &DoctorArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let examined = examine(args.config.as_deref(), environment());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let findings = runtime.block_on(doctor::examine(&examined));
    let style = if std::io::stdout().is_terminal() { Style::Marks } else { Style::Plain };
    match args.json {
        true => render::json(&findings, out)?,
        false => render::text(&findings, style, out)?,
    }
    out.flush()?;
    let errors = Summary::of(&findings).error;
    anyhow::ensure!(errors == 0, "{} must be mended", many(errors, "finding"));
    Ok(())
}
