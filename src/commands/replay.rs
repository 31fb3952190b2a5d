//! `tailback replay`: recorded rows to signals, episodes and job results.

use crate::bars;
use crate::outputs::{Outputs, Summary};
use aggregator::merge::{Replay, RowOrder};
use aggregator::unused;
use aggregator::{Decoded, jobs};
use anyhow::Context;
use clap::{Args, ValueEnum};
use detector::fabric::Network;
use detector::factors::learnt::learn;
use detector::model::ModelKind;
use schemas::{DropCounts, DropReason};
use stages::in_process::{InProcess, InProcessSettings};
use stages::wrong_clocks;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::sqlite::{Retention, Store};
use topology::{link_places, node_places};

/// What to replay and where to write.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// LDMS JSON-lines, store_csv files or other tables whose header names known columns, or folders of them;
    /// recognised by their content
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
    /// Take the rows of a file in the order in which they stand there, as a live system gets them: what is late is dropped
    #[arg(long)]
    pub arrival_order: bool,
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
    let model = args.model.map(ModelKind::from);
    let (settings, fabric) = configuration::settings(args.config.as_deref(), model, args.window, args.eta)?;
    let mut stages = InProcessSettings { fabric, ..InProcessSettings::of(settings) };
    let (mut places, mut links) = (Vec::new(), Vec::new());
    if !args.topology.is_empty() {
        let reading = topology::readers::read(&args.topology)?;
        (places, links) = (node_places(&reading.topology), link_places(&reading.topology));
        stages.network = Some(Arc::new(Network::of(reading.topology)));
    }
    let mut stages = InProcess::new(&stages);
    if let Some(file) = &args.jobs {
        stages.declare(jobs::read_job_file(file)?);
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("the folder {} cannot be made", args.out.display()))?;
    let order = if args.arrival_order { RowOrder::Arrival } else { RowOrder::Time };
    // Rows that have to be sorted may be many: the folder of the results has more room than the system's.
    let mut replay = Replay::open_in(&args.inputs, order, &args.out)?;
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
    let mut job_rows = 0;
    while replay.next_batch(&mut stages.decoder, &mut decoded)? {
        stages.feed(&decoded);
        job_rows += decoded.jobs.iter().filter(|event| !event.seen).count() as u64;
        sink(&stages.take())?;
        bar.set_position(replay.bytes_read());
    }
    sink(&stages.finish())?;
    store.as_mut().map_or(Ok((0, 0)), |store| store.learn(learn))?;
    bar.finish_and_clear();
    let summary = outputs.finish()?;
    print_summary(args, &stages, &replay, &summary);
    anyhow::ensure!(
        job_rows + used(stages.rows(), &summary.drops) > 0,
        "no row was used: {}",
        unused::why_nothing(&stages.decoder, &summary.drops)
    );
    Ok(())
}

/// Rows that reached the models.
fn used(decoded: u64, drops: &DropCounts) -> u64 {
    let whole_rows = [DropReason::Late, DropReason::Duplicate, DropReason::ClockJump, DropReason::BufferFull];
    decoded.saturating_sub(whole_rows.into_iter().map(|reason| drops.get(reason)).sum())
}

/// The store of this replay alone: one of an earlier replay in the same folder is replaced.
fn fresh_store(folder: &Path) -> anyhow::Result<Store> {
    let path = folder.join("tailback.db");
    Store::remove(&path).with_context(|| format!("{} cannot be replaced", path.display()))?;
    // Recorded time may be years ago: the requested rows are kept, whatever their age.
    let retention = Retention { signals_s: f64::INFINITY, episodes_s: f64::INFINITY, bytes_max: None };
    Ok(Store::open(&path, retention)?)
}

fn print_summary(args: &ReplayArgs, stages: &InProcess, replay: &Replay, summary: &Summary) {
    eprintln!(
        "{} rows, {} series, {} episodes, {} jobs -> {}",
        stages.rows(),
        summary.series,
        summary.episodes,
        summary.jobs,
        args.out.display()
    );
    wrong_clocks::lines(stages.detector()).iter().for_each(|line| eprintln!("{line}"));
    unused::lines(&stages.decoder, replay.skipped(), &summary.drops)
        .iter()
        .for_each(|line| eprintln!("{line}"));
}
