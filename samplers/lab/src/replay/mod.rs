//! Recorded rows to signals, episodes and job results: files and, where it is wanted, a store.
//!
//! | file | what it holds |
//! |---|---|
//! | `out.rs` | the folder of the results: new, or to be replaced |
//! | `files.rs` | the four files |
//! | `caused.rs` | what jobs cost each other |
//! | `trial.rs` | a metric tried on recorded rows |
//! | `unmatched.rs` | jobs and ports that fit nothing |

mod caused;
mod files;
mod out;
pub mod trial;
mod unmatched;

use aggregator::{Decoded, Replay, RowOrder, SkippedFile, jobs, unused};
use alerts::AlertSettings;
use alerts::rule::{DEFAULTS, Rule};
use detector::fabric::{FabricSettings, Network};
use detector::factors::learnt::learn;
use detector::settings::Settings;
use files::{Files, Summary};
use schemas::{DropCounts, DropReason, Name, ResultBatch};
use stages::in_process::{InProcess, InProcessSettings};
use stages::wrong_clocks;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::sqlite::{Retention, Store};
use topology::{LinkPlace, NodePlace, Topology, link_places, node_places, unknown_ports};
use unmatched::JobNodes;

/// What to replay, by which settings, and where to write.
#[derive(Debug)]
pub struct Request {
    /// Files of rows, or folders of them.
    pub inputs: Vec<PathBuf>,
    /// Whether rows are taken by their time, or as they stand in the files.
    pub order: RowOrder,
    /// A job file.
    pub jobs: Option<PathBuf>,
    /// Files of the topology.
    pub topology: Vec<PathBuf>,
    /// The detector's settings.
    pub detector: Settings,
    /// Rules of the fabric.
    pub fabric: FabricSettings,
    /// Folder of the results.
    pub out: PathBuf,
    /// Whether `tailback.db` is written, too.
    pub is_stored: bool,
    /// Whether results that are in the folder are removed first; else they stop the replay.
    pub is_forced: bool,
}

/// What a replay found.
pub struct Outcome {
    /// For a person: counts, doubted clocks, rows that were not used.
    pub lines: Vec<String>,
    /// Why no row was used, if none was.
    pub unused: Option<String>,
}

/// Replays; calls `progress` with the bytes read and those of all files.
///
/// # Errors
/// A folder with results, an input that cannot be read, a full disk.
pub fn run(request: &Request, mut progress: impl FnMut(u64, u64)) -> anyhow::Result<Outcome> {
    let network = network(request)?.map(|network| Arc::new(Network::of(network)));
    let known = network.as_ref().map(|network| &network.topology);
    let (places, links) = known.map(|known| (node_places(known), link_places(known))).unwrap_or_default();
    let mut job_nodes = JobNodes::default();
    let mut stages = stages(request, network.clone(), &places, &mut job_nodes)?;
    out::prepare(request)?;
    // Rows that have to be sorted may be many: the folder of the results has more room than the system's.
    let mut rows = Replay::open_in(&request.inputs, request.order, &request.out)?;
    let mut sink = Sink::create(request, &places, &links)?;
    let mut decoded = Decoded::default();
    let mut job_rows = 0;
    while rows.next_batch(&mut stages.decoder, &mut decoded)? {
        stages.feed(&decoded);
        job_nodes.note(&decoded);
        job_rows += decoded.jobs.iter().filter(|event| !event.seen).count() as u64;
        sink.write(&stages.take())?;
        progress(rows.bytes_read(), rows.total_bytes());
    }
    sink.write(&stages.finish())?;
    let summary = sink.finish()?;
    let is_used = job_rows + used(stages.rows(), &summary.drops) > 0;
    let unused = (!is_used).then(|| unused::why_nothing(&stages.decoder, &summary.drops));
    let mut lines = lines(request, &stages, rows.skipped(), &summary);
    let ports = known.map(|known| unknown_ports(known, stages.detector().series()));
    lines.extend(ports.and_then(|unknown| unmatched::of_ports(&unknown)));
    lines.extend(job_nodes.line(stages.decoder.sources()));
    Ok(Outcome { lines, unused })
}

fn network(request: &Request) -> anyhow::Result<Option<Topology>> {
    match request.topology.as_slice() {
        [] => Ok(None),
        files => Ok(Some(topology::readers::read(files)?.topology)),
    }
}

/// Stages that know the network and the jobs.
fn stages(
    request: &Request,
    network: Option<Arc<Network>>,
    places: &[NodePlace],
    job_nodes: &mut JobNodes,
) -> anyhow::Result<InProcess> {
    let mut stages = InProcess::new(&InProcessSettings {
        fabric: request.fabric.clone(),
        network,
        // Incidents of file systems are those of the rules; a replay notifies no receiver.
        alerts: Arc::new(AlertSettings::new(default_rules()?, Vec::new(), places)),
        ..InProcessSettings::of(request.detector.clone())
    });
    let mut hosts: BTreeSet<Name> = places.iter().map(|place| place.node.clone()).collect();
    if let Some(file) = &request.jobs {
        let jobs = jobs::read_job_file(file)?;
        job_nodes.declare(&jobs);
        hosts.extend(jobs.iter().flat_map(|job| &job.nodes).cloned());
        stages.declare(jobs);
    }
    let naming = stages.decoder.naming().clone().corrected_by_hosts(&hosts);
    stages.decoder.set_naming(naming);
    Ok(stages)
}

fn default_rules() -> anyhow::Result<Vec<Rule>> {
    let parsed = DEFAULTS.iter().map(|(file, content)| Rule::parse(file, content));
    Ok(parsed.collect::<Result<_, _>>()?)
}

/// Where results go.
struct Sink {
    files: Files,
    store: Option<Store>,
}

impl Sink {
    fn create(request: &Request, places: &[NodePlace], links: &[LinkPlace]) -> anyhow::Result<Sink> {
        // A store that cannot be made leaves no file behind.
        let mut store = if request.is_stored { Some(fresh_store(&request.out)?) } else { None };
        let files = Files::create(&request.out)?;
        if let Some(store) = &mut store {
            store.put_places(places)?;
            store.put_links(links)?;
        }
        Ok(Sink { files, store })
    }

    fn write(&mut self, batch: &ResultBatch) -> anyhow::Result<()> {
        self.files.write(batch)?;
        Ok(self.store.as_mut().map_or(Ok(()), |store| store.commit(batch, &[]))?)
    }

    fn finish(mut self) -> anyhow::Result<Summary> {
        if let Some(store) = &mut self.store {
            store.learn(learn)?;
            store.finish()?;
        }
        self.files.finish()
    }
}

/// The store of this replay alone; [`out::prepare`] removed an earlier one.
fn fresh_store(folder: &Path) -> anyhow::Result<Store> {
    let path = folder.join(out::DATABASE);
    // Recorded time may be years ago: the requested rows are kept, whatever their age.
    let retention = Retention { signals_s: f64::INFINITY, episodes_s: f64::INFINITY, bytes_max: None };
    Ok(Store::open(&path, retention)?)
}

/// Rows that reached the models.
fn used(decoded: u64, drops: &DropCounts) -> u64 {
    let whole_rows = [DropReason::Late, DropReason::Duplicate, DropReason::ClockJump, DropReason::BufferFull];
    decoded.saturating_sub(whole_rows.into_iter().map(|reason| drops.get(reason)).sum())
}

fn lines(request: &Request, stages: &InProcess, skipped: &[SkippedFile], summary: &Summary) -> Vec<String> {
    let counts = format!(
        "{} rows, {} series, {} episodes, {} jobs -> {}",
        stages.rows(),
        summary.series,
        summary.episodes,
        summary.jobs,
        request.out.display()
    );
    let mut lines = vec![counts];
    lines.extend(wrong_clocks::lines(stages.detector()));
    lines.extend(unused::lines(&stages.decoder, skipped, &summary.drops));
    lines
}
