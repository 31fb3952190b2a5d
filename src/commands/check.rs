//! `tailback check` and `tailback config`: what is wrong with a configuration, what results from it. No network.

use clap::Args;
use configuration::{Examined, Origin, Problem, effective};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Which configuration, and how to answer.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Configuration over the defaults (TOML); without it the defaults and the environment are checked
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Answer as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the default file, which explains every key, and check nothing
    #[arg(long, conflicts_with_all = ["config", "json"])]
    pub defaults: bool,
}

/// Checks a configuration and prints what results.
///
/// # Errors
/// If something is wrong with it, after everything was printed.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> anyhow::Result<()> {
    if args.defaults {
        return print_defaults(out);
    }
    let examined = configuration::examine(args.config.as_deref(), configuration::environment());
    match args.json {
        true => writeln!(out, "{:#}", as_json(&examined))?,
        false => print(&examined, out)?,
    }
    out.flush()?;
    let wrong = examined.problems.len();
    anyhow::ensure!(
        wrong == 0,
        "the configuration is not valid: {wrong} error{}",
        if wrong == 1 { "" } else { "s" }
    );
    Ok(())
}

/// Prints the default file.
///
/// # Errors
/// If the output cannot be written.
pub fn print_defaults(out: &mut impl Write) -> anyhow::Result<()> {
    out.write_all(configuration::DEFAULT.as_bytes())?;
    Ok(out.flush()?)
}

fn print(examined: &Examined, out: &mut impl Write) -> std::io::Result<()> {
    for problem in &examined.problems {
        writeln!(out, "error: {problem}")?;
    }
    for warning in &examined.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    if examined.problems.is_empty() {
        writeln!(out, "# In effect; a value without an origin is the default.")?;
        write!(out, "{}", effective::as_toml(&examined.values))?;
    }
    Ok(())
}

fn as_json(examined: &Examined) -> Value {
    let values = examined.values.iter().map(|effective| {
        let path = match effective.section.as_str() {
            "" => effective.key.clone(),
            section => format!("{section}.{}", effective.key),
        };
        json!({ "key": path, "value": effective.value, "origin": effective.origin })
    });
    json!({
        "valid": examined.problems.is_empty(),
        "errors": examined.problems.iter().map(problem).collect::<Vec<_>>(),
        "warnings": examined.warnings.iter().map(problem).collect::<Vec<_>>(),
        "values": values.collect::<Vec<_>>(),
    })
}

fn problem(problem: &Problem) -> Value {
    let (file, line, variable) = match &problem.origin {
        Origin::File { file, line } => (Some(file), Some(line).filter(|line| **line > 0), None),
        Origin::Environment(name) => (None, None, Some(name)),
        Origin::Default => (None, None, None),
    };
    json!({ "file": file, "line": line, "variable": variable, "key": problem.key, "text": problem.text })
}
