//! Rows to all candidates at once: they are decoded once, and each batch goes to every candidate.
//!
//! Recordings may have any length: besides the candidates' states only `BATCHES_AHEAD` batches are in memory. A candidate
//! sees the same batches in the same order whatever the number of threads, so its answer is that of `tailback replay`.

use super::candidate::Candidate;
use super::facts::Facts;
use aggregator::merge::Replay;
use aggregator::{Decoded, Decoder, unused};
use anyhow::Context;
use detector::fabric::Network;
use schemas::{Job, Source, Sources};
use stages::in_process::{InProcess, InProcessSettings};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Batches, of about 1,000 rows each, by which reading may be ahead of the slowest thread.
const BATCHES_AHEAD: usize = 8;
/// Series times candidates at most: at about 1 KB a state these are 4 GB.
pub const STATES_MAX: usize = 4_000_000;

/// What all candidates are given.
#[derive(Debug)]
pub struct Input {
    /// Files of rows.
    pub rows: Vec<PathBuf>,
    /// Jobs of a job file.
    pub jobs: Vec<Job>,
    /// The network, where it is known.
    pub network: Option<Arc<Network>>,
}

/// What came of it.
#[derive(Debug)]
pub struct Answers {
    /// Results of each candidate, in their order.
    pub facts: Vec<Facts>,
    /// Rows of counters.
    pub rows: u64,
    /// Sentences on rows and files that were not used.
    pub unused: Vec<String>,
}

/// How far the rows were read.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Configurations that get them.
    pub configurations: usize,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

/// One batch; the sources are those that no earlier one has.
struct Batch {
    sources: Vec<Arc<Source>>,
    rows: Decoded,
}

/// Runs all candidates over the rows, on `threads` threads beside the one that reads; calls `progress` after each batch.
///
/// # Errors
/// Rows that cannot be read, or more states than [`STATES_MAX`].
pub fn run(
    input: &Input,
    candidates: &[Candidate],
    threads: usize,
    progress: impl FnMut(Progress),
) -> anyhow::Result<Answers> {
    let series = AtomicUsize::new(0);
    let threads = threads.clamp(1, candidates.len().max(1));
    std::thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut workers = Vec::new();
        for worker in 0..threads {
            let (sender, receiver) = sync_channel(BATCHES_AHEAD);
            let own: Vec<(usize, &Candidate)> =
                candidates.iter().enumerate().skip(worker).step_by(threads).collect();
            let series = &series;
            workers.push(scope.spawn(move || work(input, &own, &receiver, series)));
            senders.push(sender);
        }
        let read = read(input, senders, candidates.len(), &series, progress);
        let mut facts: Vec<(usize, Facts)> = Vec::new();
        for worker in workers {
            facts.extend(worker.join().map_err(|_| anyhow::anyhow!("a thread of the backtest ended early"))?);
        }
        let (rows, unused) = read?;
        within_memory(series.load(Ordering::Relaxed), candidates.len())?;
        facts.sort_by_key(|(at, _)| *at);
        Ok(Answers { facts: facts.into_iter().map(|(_, facts)| facts).collect(), rows, unused })
    })
}

fn within_memory(series: usize, candidates: usize) -> anyhow::Result<()> {
    let states = series * candidates;
    anyhow::ensure!(
        states <= STATES_MAX,
        "{candidates} configurations of {series} series need {states} states, more than {STATES_MAX}: \
         give fewer values or fewer rows"
    );
    Ok(())
}

/// Decodes all rows and hands them on; how many there were, and what was not used.
fn read(
    input: &Input,
    senders: Vec<SyncSender<Arc<Batch>>>,
    candidates: usize,
    series: &AtomicUsize,
    mut progress: impl FnMut(Progress),
) -> anyhow::Result<(u64, Vec<String>)> {
    let mut replay = Replay::open(&input.rows)?;
    let (mut decoder, mut decoded) = (Decoder::default(), Decoded::default());
    let total_bytes = replay.total_bytes();
    let (mut rows, mut sent) = (0, 0);
    while replay.next_batch(&mut decoder, &mut decoded)? {
        within_memory(series.load(Ordering::Relaxed), candidates)?;
        rows += decoded.counters.len() as u64;
        let sources = decoder.sources().as_slice()[sent..].to_vec();
        sent += sources.len();
        let batch = Arc::new(Batch { sources, rows: std::mem::take(&mut decoded) });
        for sender in &senders {
            sender.send(Arc::clone(&batch)).context("a thread of the backtest ended early")?;
        }
        progress(Progress { configurations: candidates, read_bytes: replay.bytes_read(), total_bytes });
    }
    anyhow::ensure!(rows > 0, "no row was used: {}", unused::why_nothing(&decoder, decoder.drops()));
    Ok((rows, unused::lines(&decoder, replay.skipped(), decoder.drops())))
}

/// One thread: its candidates, each batch one after the other.
fn work(
    input: &Input,
    own: &[(usize, &Candidate)],
    batches: &Receiver<Arc<Batch>>,
    series: &AtomicUsize,
) -> Vec<(usize, Facts)> {
    let mut sources = Sources::default();
    let mut running: Vec<(usize, InProcess, Facts)> = own
        .iter()
        .map(|(at, candidate)| (*at, stages(input, candidate), Facts::new(&candidate.settings)))
        .collect();
    for batch in batches {
        for source in &batch.sources {
            sources.intern(Source::clone(source));
        }
        for (_, stages, facts) in &mut running {
            stages.feed_of(&sources, &batch.rows);
            facts.take(stages.take());
            series.fetch_max(facts.series.len(), Ordering::Relaxed);
        }
    }
    let finished = running.into_iter().map(|(at, mut stages, mut facts)| {
        facts.take(stages.finish());
        (at, facts)
    });
    finished.collect()
}

fn stages(input: &Input, candidate: &Candidate) -> InProcess {
    let (fabric, network) = (candidate.fabric.clone(), input.network.clone());
    let settings = InProcessSettings { fabric, network, ..InProcessSettings::of(candidate.settings.clone()) };
    let mut stages = InProcess::new(&settings);
    stages.declare(input.jobs.clone());
    stages
}
