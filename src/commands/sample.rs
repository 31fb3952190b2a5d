//! `tailback sample`: the native sampler on a node; reads arguments, opens the output, runs until a stop is requested.

mod output;

use crate::shutdown;
use anyhow::{Context, bail, ensure};
use clap::Args;
use samplers::native::looping::{self, Note, Plan};
use samplers::native::{
    Event, Node, ProcessorTime, Roots, Sampler, Schedule, Selection, Sink, SystemClock, TickStatistics,
};
use schemas::Name;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

/// What to sample, when, and where rows go.
#[derive(Debug, Args)]
pub struct SampleArgs {
    #[command(flatten)]
    output: output::OutputArgs,
    /// Name of this node in the rows, as Slurm knows it [default: the host name up to its first dot]
    #[arg(long, value_name = "NAME")]
    producer: Option<String>,
    /// LDMS's number of this node [default: the digits that the name ends in, or 0]
    #[arg(long, value_name = "NUMBER")]
    component_id: Option<u64>,
    /// Milliseconds between two samples, 100 to 60000
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    interval_ms: u64,
    /// Milliseconds from the whole multiple of the interval to the sample
    #[arg(long, value_name = "MS", default_value_t = 0)]
    offset_ms: u64,
    /// Seconds between two looks for devices and mounts
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    rescan_s: u64,
    /// Read every counter that the drivers have, not only those of contention
    #[arg(long)]
    all_counters: bool,
    /// Write one row of each set now, and end
    #[arg(long, conflicts_with = "figures")]
    once: bool,
    /// End after so many samples and print jitter and processor time on standard error
    #[arg(long, value_name = "TICKS", value_parser = clap::value_parser!(u64).range(1..))]
    figures: Option<u64>,
    /// Where sysfs is mounted
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    sysfs: PathBuf,
    /// Where procfs is mounted
    #[arg(long, value_name = "DIR", default_value = "/proc")]
    procfs: PathBuf,
    /// Where debugfs is mounted [default: kernel/debug in sysfs]
    #[arg(long, value_name = "DIR")]
    debugfs: Option<PathBuf>,
    /// Where programs keep what they run with; Slingshot's retry handlers have their counters there
    #[arg(long, value_name = "DIR", default_value = "/run")]
    run: PathBuf,
}

/// Longest wait for the output after SIGTERM; rows that remain are dropped.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest wait for the output of a run of so many samples: a broker may still have to create the topics.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);

/// Samples until Ctrl-C or SIGTERM.
///
/// # Errors
/// Arguments that make no sense, an output that cannot be opened.
pub fn run(args: &SampleArgs) -> anyhow::Result<()> {
    let interval = Duration::from_millis(args.interval_ms);
    let schedule = Schedule::new(interval, Duration::from_millis(args.offset_ms))?;
    let mut roots = Roots::new(&args.sysfs, &args.procfs, args.debugfs.as_deref());
    roots.run.clone_from(&args.run);
    let selection = if args.all_counters { Selection::All } else { Selection::Listed };
    let mut sampler = Sampler::new(roots, node(args)?, selection);
    let mut sink = args.output.open()?;
    let (stopper, stop) = channel();
    let mut clock = SystemClock::new(stop);
    if args.once {
        let _keep = stopper;
        let found = looping::once(&mut sampler, &clock, sink.as_mut(), &mut log);
        ensure!(
            found,
            "there is nothing to sample: no InfiniBand port, Lustre mount or Slingshot interface can be read"
        );
        return end(sink.as_mut(), DELIVERY_TIMEOUT);
    }
    shutdown::send_when_requested(stopper)?;
    let rescan_us = i64::try_from(args.rescan_s)? * 1_000_000;
    let plan = Plan { schedule, rescan_us, ticks: args.figures };
    let mut statistics = TickStatistics::default();
    let begun = ProcessorTime::now();
    let mut note = |note: Note<'_>| match note {
        Note::Event(event) => log(event),
        // Ticks of an endless run would fill the memory.
        Note::Tick { .. } if args.figures.is_some() => statistics.record(note),
        Note::Tick { .. } => {}
    };
    looping::run(plan, &mut sampler, &mut clock, sink.as_mut(), &mut note);
    let used = begun.elapsed();
    end(sink.as_mut(), if args.figures.is_some() { DELIVERY_TIMEOUT } else { STOP_TIMEOUT })?;
    if args.figures.is_some() {
        write!(std::io::stderr(), "{statistics}{used}")?;
    }
    Ok(())
}

fn node(args: &SampleArgs) -> anyhow::Result<Node> {
    let producer = match &args.producer {
        Some(name) => Name::parse(name).context("--producer")?,
        None => {
            Node::host_name(&args.procfs).context("this host's name cannot stand in rows: set --producer")?
        }
    };
    let mut node = Node::named(producer);
    node.component_id = args.component_id.unwrap_or(node.component_id);
    Ok(node)
}

/// Writes the rows that wait, and reports those that the output did not take.
fn end(sink: &mut dyn Sink, timeout: Duration) -> anyhow::Result<()> {
    sink.finish(timeout);
    let mut events = Vec::new();
    sink.drain_events(&mut events);
    events.iter().for_each(log);
    match sink.dropped() {
        0 => Ok(()),
        dropped if sink.is_over() => bail!("the reader of the rows is gone; {dropped} rows were dropped"),
        dropped => {
            tracing::warn!(dropped, "rows were dropped because the output did not take them");
            Ok(())
        }
    }
}

fn log(event: &Event) {
    if event.is_warning() { tracing::warn!("{event}") } else { tracing::info!("{event}") }
}
