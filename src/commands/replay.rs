//! `tailback replay`: recorded rows to signals, episodes and job results.

use crate::bars;
use aggregator::RowOrder;
use clap::{Args, ValueEnum};
use detector::model::ModelKind;
use indicatif::ProgressBar;
use lab::replay::{self, Request};
use std::path::PathBuf;

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
    /// Remove the results that DIR contains first; without it, a folder with results is refused
    #[arg(long)]
    pub force: bool,
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
/// What stopped it: an input that cannot be read, an option out of range, a full disk, no row that was used.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let model = args.model.map(ModelKind::from);
    let (detector, fabric) = configuration::settings(args.config.as_deref(), model, args.window, args.eta)?;
    let request = Request {
        inputs: args.inputs.clone(),
        order: if args.arrival_order { RowOrder::Arrival } else { RowOrder::Time },
        jobs: args.jobs.clone(),
        topology: args.topology.clone(),
        detector,
        fabric,
        out: args.out.clone(),
        is_stored: !args.no_store,
        is_forced: args.force,
    };
    let mut bar = None;
    let outcome = replay::run(&request, |read_bytes, total_bytes| {
        bar.get_or_insert_with(|| bars::of_bytes(total_bytes)).set_position(read_bytes);
    })?;
    bar.iter().for_each(ProgressBar::finish_and_clear);
    outcome.lines.iter().for_each(|line| eprintln!("{line}"));
    outcome.unused.map_or(Ok(()), |why| Err(anyhow::anyhow!("no row was used: {why}")))
}
