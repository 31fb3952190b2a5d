//! `tailback replay`: recorded rows to signals, episodes and job results.

use crate::outputs::{Outputs, Summary};
use crate::pipeline::Pipeline;
use crate::{bars, config, wrong_clocks};
use aggregator::merge::Replay;
use aggregator::{Decoded, jobs};
use anyhow::Context;
use clap::{Args, ValueEnum};
use detector::fabric::Network;
use detector::model::ModelKind;
use detector::store::{Retention, Store};
use schemas::DropReason;
use schemas::topology::{link_places, node_places};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to replay and where to write.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// LDMS JSON-lines or store_csv files; told apart by their content
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Jobs, one JSON object a line: job_id, user, name, nodes, start, end, app
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// Topology of the machine, for regions and causes: any file that `tailback topology` reads; repeat for several
    #[arg(long, value_name = "FILE")]
    pub topology: Vec<PathBuf>,
    /// Configuration over the defaults (TOML)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The model that decides
    #[arg(long, value_enum)]
    pub model: Option<ModelName>,
    /// Window in readings, for all metrics
    #[arg(long, value_name = "N")]
    pub window: Option<usize>,
    /// Standard deviations between mean and bound, for all metrics
    #[arg(long, value_name = "X")]
    pub eta: Option<f64>,
    /// Folder for signals.jsonl, episodes.jsonl, jobs.jsonl, dropped.json and tailback.db
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Leave out DIR/tailback.db, which `tailback report` and `tailback serve` read
    #[arg(long)]
    pub no_store: bool,
}

/// Names of the models on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModelName {
    /// SAND2016-9525 as printed, errata applied
    Published,
    /// The default: bounds for means, dated episodes, intervals
    Robust,
}

impl From<ModelName> for ModelKind {
    fn from(name: ModelName) -> ModelKind {
        match name {
            ModelName::Published => ModelKind::Published,
            ModelName::Robust => ModelKind::Robust,
        }
    }
}

/// Runs a replay.
///
/// # Errors
/// What stopped it: an input that cannot be read, an option out of range, a full disk.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let (settings, fabric) =
        config::settings(args.config.as_deref(), args.model.map(ModelKind::from), args.window, args.eta)?;
    let mut pipeline = Pipeline::new(settings);
    let (mut places, mut links) = (Vec::new(), Vec::new());
    if !args.topology.is_empty() {
        let reading = aggregator::topology::read(&args.topology)?;
        (places, links) = (node_places(&reading.topology), link_places(&reading.topology));
        pipeline = pipeline.with_network(Arc::new(Network::of(reading.topology)), fabric);
    }
    if let Some(file) = &args.jobs {
        pipeline.declare(jobs::read_job_file(file)?);
    }
    let mut replay = Replay::open(&args.inputs)?;
    let mut outputs = Outputs::create(&args.out)?;
    let mut store = if args.no_store { None } else { Some(fresh_store(&args.out)?) };
    if let Some(store) = &mut store {
        store.put_places(&places)?;
        store.put_links(&links)?;
    }
    let mut sink = |batch: &schemas::ResultBatch| -> anyhow::Result<()> {
        outputs.write(batch)?;
        store.as_mut().map_or(Ok(()), |store| store.commit(batch, &[]))?;
        Ok(())
    };
    let bar = bars::of_bytes(replay.total_bytes());
    let mut decoded = Decoded::default();
    while replay.next_batch(&mut pipeline.decoder, &mut decoded)? {
        pipeline.feed(&decoded);
        sink(&pipeline.take())?;
        bar.set_position(replay.bytes_read());
    }
    pipeline.detector.finish();
    sink(&pipeline.take())?;
    store.as_mut().map_or(Ok((0, 0)), Store::learn)?;
    bar.finish_and_clear();
    tell(args, &pipeline, &replay, &outputs.finish()?);
    Ok(())
}

/// The store of this replay alone: one of an earlier replay in the same folder is replaced.
fn fresh_store(folder: &Path) -> anyhow::Result<Store> {
    let path = folder.join("tailback.db");
    Store::remove(&path).with_context(|| format!("{} cannot be replaced", path.display()))?;
    // Recorded time may be years ago: what was asked for is kept, whatever its age.
    let retention = Retention { signals_s: f64::INFINITY, episodes_s: f64::INFINITY, bytes_max: None };
    Ok(Store::open(&path, retention)?)
}

fn tell(args: &ReplayArgs, pipeline: &Pipeline, replay: &Replay, summary: &Summary) {
    eprintln!(
        "{} rows, {} series, {} episodes, {} jobs -> {}",
        pipeline.rows(),
        summary.series,
        summary.episodes,
        summary.jobs,
        args.out.display()
    );
    let mut skipped: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for file in replay.skipped() {
        skipped.entry(file.note.as_ref()).or_default().push(&file.path);
    }
    for (note, files) in skipped {
        eprintln!("skipped {} files ({note}), first {}", files.len(), files[0].display());
    }
    wrong_clocks::print(&pipeline.detector);
    for (reason, count) in summary.drops.nonzero() {
        let example = pipeline.decoder.examples().get(reason);
        let example = example.map_or(String::new(), |text| format!(" First: {text}"));
        let used = if reason == DropReason::ClockAhead { "doubted" } else { "not used" };
        eprintln!("{used}: {count} {} - {}{example}", reason.name(), reason.meaning());
    }
}
