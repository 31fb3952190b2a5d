//! `tailback state`: a savepoint of the states of all stages, written, read or listed.

mod fits;
mod listing;

use crate::runtime::clock;
use anyhow::Context;
use clap::{Args, Subcommand};
use configuration::RunConfig;
use configuration::stage::Stage;
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use store::postgres::{export_states, import_states, stored_states};
use store::savepoint::{FORMAT, Head, Input, SavepointError, SavepointReader, StateHead};

/// Which command.
#[derive(Debug, Args)]
pub struct StateArgs {
    #[command(subcommand)]
    command: Command,
    /// Configuration (TOML) with the database and the topics; `tailback config` prints the defaults
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Answer as one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the states of all stages and their positions in Kafka to a new file, stopped or while stages run
    Export {
        /// The new file; only its owner may read it, since it holds the jobs of users
        file: PathBuf,
    },
    /// Put the states of a file into the database: the stages continue from there
    Import {
        /// What `tailback state export` wrote
        file: PathBuf,
        /// Replace the states that the database holds; results that it has are not written again
        #[arg(long)]
        force: bool,
    },
    /// List stage, partition, version, bytes and offset of the states in the database, or in a file
    Show {
        /// What `tailback state export` wrote; without it the database
        file: Option<PathBuf>,
    },
}

/// Runs a command.
///
/// # Errors
/// One sentence: a file that is no savepoint or damaged, a database or brokers that do not answer, states that do not fit.
pub fn run(args: &StateArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let config = || RunConfig::load(args.config.as_deref());
    let (text, json) = match &args.command {
        Command::Export { file } => runtime.block_on(export(file, &config()?))?,
        Command::Import { file, force } => {
            let (head, states) = read(file)?;
            let config = config()?;
            fits::check(&head, &states, &config).with_context(|| cannot("import", file))?;
            runtime.block_on(import(file, &config, *force))?
        }
        Command::Show { file: Some(file) } => {
            let (head, states) = read(file)?;
            (listing::savepoint(&head, &states), json!({ "head": head, "states": states }))
        }
        Command::Show { file: None } => {
            let states = runtime.block_on(stored_states(&config()?.database.pg_settings()))?;
            (listing::states(&states), json!({ "states": states }))
        }
    };
    let answer = if args.json { format!("{json:#}\n") } else { text };
    out.write_all(answer.as_bytes()).context("the answer cannot be written")
}

/// Exports to a file that gets its name once it is complete.
async fn export(file: &Path, config: &RunConfig) -> anyhow::Result<(String, serde_json::Value)> {
    anyhow::ensure!(!file.exists(), "{} exists already: name a new file", file.display());
    let mut name = file.file_name().with_context(|| cannot("export to", file))?.to_os_string();
    name.push(".partial");
    let partial = file.with_file_name(name);
    let _ = fs::remove_file(&partial);
    let written = write(&partial, config).await;
    let moved = match written {
        Ok(states) => fs::rename(&partial, file).map(|()| states).map_err(SavepointError::from),
        Err(error) => Err(error),
    };
    let states = moved.inspect_err(|_| drop(fs::remove_file(&partial)));
    let states = states.with_context(|| cannot("export to", file))?;
    let bytes: u64 = states.iter().map(|state| state.bytes).sum();
    let text = format!("exported {} states, {bytes} bytes, to {}\n", states.len(), file.display());
    Ok((text, json!({ "file": file, "states": states })))
}

async fn write(file: &Path, config: &RunConfig) -> Result<Vec<StateHead>, SavepointError> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    let head = |generation| head(generation, config);
    let (out, states) = export_states(&config.database.pg_settings(), head, BufWriter::new(created)).await?;
    let file = out.into_inner().map_err(|error| SavepointError::File(error.into_error()))?;
    file.sync_all()?;
    Ok(states)
}

fn head(generation: i64, config: &RunConfig) -> Head {
    let kafka = &config.kafka;
    let input = |(stage, topic): (Stage, Option<&String>)| Input {
        stage: stage.name().to_string(),
        topic: topic.cloned(),
        group: kafka.group_of(stage),
    };
    let stages = [
        (Stage::Aggregator, None),
        (Stage::Detector, Some(&kafka.counters_topic)),
        (Stage::Rollup, Some(&kafka.partials_topic)),
    ];
    Head {
        tailback_savepoint: FORMAT,
        written_by: env!("CARGO_PKG_VERSION").to_string(),
        time_s: clock::now().seconds(),
        generation,
        inputs: stages.map(input).to_vec(),
    }
}

async fn import(file: &Path, config: &RunConfig, force: bool) -> anyhow::Result<(String, serde_json::Value)> {
    let mut savepoint = open(file)?;
    let imported = import_states(&config.database.pg_settings(), &mut savepoint, force).await;
    let imported = imported.with_context(|| cannot("import", file))?;
    let text = listing::imported(&imported);
    let states: Vec<_> =
        imported.iter().map(|state| json!({ "state": state.head, "position": state.position })).collect();
    Ok((text, json!({ "imported": states })))
}

fn open(file: &Path) -> anyhow::Result<SavepointReader<BufReader<File>>> {
    let opened = File::open(file).map_err(SavepointError::from);
    let reader = opened.and_then(|opened| SavepointReader::new(BufReader::new(opened)));
    reader.with_context(|| cannot("read", file))
}

/// Reads and checks a whole savepoint.
fn read(file: &Path) -> anyhow::Result<(Head, Vec<StateHead>)> {
    let mut reader = open(file)?;
    let mut states = Vec::new();
    while let Some(state) = reader.next_state().with_context(|| cannot("read", file))? {
        states.push(state.head);
    }
    Ok((reader.head, states))
}

fn cannot(what: &str, file: &Path) -> String {
    format!("failed to {what} {}", file.display())
}
