//! The simulated cluster, live, through all stages into a store that survives `kill -9`.
//!
//! | file | what it holds |
//! |---|---|
//! | `guide.rs` | what to look at, and when |
//! | `pace.rs` | simulated time against the wall clock |
//! | `resume.rs` | what a restart after `kill -9` continues from |
//! | `summary.rs` | what was found beside the simulator's truth |

pub mod guide;
mod pace;
mod resume;
mod summary;

use aggregator::Decoded;
use alerts::AlertSettings;
use alerts::receivers::Receiver;
use alerts::rule::Rule;
use detector::fabric::Network;
use detector::factors::learnt::learn;
use detector::model::ModelKind;
use detector::settings::Settings;
use pace::Pace;
use resume::Position;
use samplers::{Cluster, Rows, scenario};
use schemas::{ResultBatch, Time};
use stages::in_process::{InProcess, InProcessSettings};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::sqlite::Store;
use topology::generate::Aries;
use topology::{Machine, Topology, link_places, node_places};

/// Least wall-clock time between two commits; the page shows no more than four a second.
const COMMIT_EVERY: Duration = Duration::from_millis(250);

/// Times that the end waits for other connections to the store.
const FINISH_TRIES: u32 = 4;

/// Simulated seconds between two looks at what finished runs teach.
const LEARN_EVERY_S: u64 = 60;

/// What to play.
#[derive(Debug)]
pub struct Request<'a> {
    /// The store; one that a killed demo left is continued.
    pub store: PathBuf,
    /// Simulated seconds to play; without it until it is stopped.
    pub seconds: Option<u64>,
    /// Simulated seconds per second; 0 is as fast as possible.
    pub speed: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// First simulated second, in seconds since the epoch.
    pub start_s: i64,
    /// Size of the store above which its oldest signals go, in bytes.
    pub bytes_max: u64,
    /// What is an alert.
    pub rules: &'a [Rule],
    /// Who gets notices.
    pub receivers: &'a [Receiver],
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Update {
    /// So many seconds were played.
    Second(u64),
    /// Results are in the store.
    Committed(Progress),
}

/// How far the demo is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time of the newest row.
    pub event_time: Option<Time>,
    /// Rows so far.
    pub rows: u64,
    /// Rows per second of the wall clock.
    pub rows_per_s: f64,
    /// Simulated seconds per second of the wall clock.
    pub speed: f64,
    /// Whether it has ended.
    pub is_finished: bool,
}

/// A demo at some second.
pub struct Demo<'a> {
    request: &'a Request<'a>,
    cluster: Cluster,
    rows: Rows,
    decoded: Decoded,
    stages: InProcess,
    store: Store,
    position: Position,
    /// Results since the last commit.
    results: ResultBatch,
}

impl<'a> Demo<'a> {
    /// Opens the store, and continues or begins.
    ///
    /// # Errors
    /// A store that is not a demo's, a full disk.
    pub fn open(request: &'a Request<'a>) -> anyhow::Result<Demo<'a>> {
        let topology = Machine::Aries(demo_routers()).build()?;
        let (places, links) = (node_places(&topology), link_places(&topology));
        let settings = settings(request, topology);
        let (mut store, left) = resume::open(&request.store, &settings, request.bytes_max)?;
        store.put_places(&places)?;
        store.put_links(&links)?;
        let begin = Position { seed: request.seed, start_s: request.start_s, ticks: 0, ended: false };
        let position = left.as_ref().map_or(begin, |left| left.position);
        let stages = left.map_or_else(|| InProcess::new(&settings), |left| left.stages);
        let start = Time(position.start_s * 1_000_000);
        let cluster = Cluster::new(scenario::demo().endless(), start, position.seed)?;
        let (rows, decoded, results) = (Rows::default(), Decoded::default(), ResultBatch::default());
        let mut demo = Demo { request, cluster, rows, decoded, stages, store, position, results };
        // The states contain what the stages know of these seconds; simulator and decoder are not part of them.
        (0..position.ticks).for_each(|_| demo.simulate());
        // From now on the file is marked as a demo's, whatever happens before the first results.
        demo.commit()?;
        Ok(demo)
    }

    /// Simulated seconds in the store.
    pub fn second(&self) -> u64 {
        self.position.ticks
    }

    /// Plays until `stop`, or until the requested seconds are over; then commits what is left.
    ///
    /// # Errors
    /// The store's.
    pub fn play(&mut self, stop: &AtomicBool, update: &mut dyn FnMut(Update)) -> anyhow::Result<()> {
        let pace = Pace::new(self.request.speed, self.position.ticks);
        let mut committed = Instant::now();
        let mut learn_at = self.position.ticks + LEARN_EVERY_S;
        let seconds = self.request.seconds.unwrap_or(u64::MAX);
        while self.position.ticks < seconds && !stop.load(Ordering::Relaxed) {
            self.simulate();
            self.stages.feed(&self.decoded);
            // Each second by itself: the reports depend on the simulation, not on the commit schedule of the wall clock.
            self.results.add(self.stages.take());
            self.position.ticks += 1;
            if committed.elapsed() >= COMMIT_EVERY {
                self.commit()?;
                committed = Instant::now();
                if self.position.ticks >= learn_at {
                    self.store.learn(learn)?;
                    learn_at = self.position.ticks + LEARN_EVERY_S;
                }
                update(Update::Committed(self.progress(&pace, false)));
            }
            update(Update::Second(self.position.ticks));
            pace.wait(self.position.ticks, stop);
        }
        self.position.ended = true;
        self.results.add(self.stages.finish());
        self.commit()?;
        self.store.learn(learn)?;
        update(Update::Committed(self.progress(&pace, true)));
        Ok(())
    }

    /// Leaves everything in the one file of the store, once page and deliveries have closed it, too; a file that stays open
    /// elsewhere stays valid.
    ///
    /// # Errors
    /// The store's.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        for _ in 0..FINISH_TRIES {
            if self.store.finish()? {
                break;
            }
            std::thread::sleep(COMMIT_EVERY);
        }
        Ok(())
    }

    /// What was found, beside the truth.
    pub fn summary(&self) -> String {
        let (last, results) = (self.cluster.last_round(), self.stages.job_results());
        let whole = last.is_some();
        let jobs = last.unwrap_or_else(|| self.cluster.truth().jobs);
        summary::table(&jobs, whole, &results, &self.request.store) + &self.size()
    }

    /// Size of the store and its limit, in a line.
    fn size(&self) -> String {
        let (path, limit) = (&self.request.store, self.request.bytes_max as f64 / 1e6);
        let Ok(known) = std::fs::metadata(path) else { return String::new() };
        format!(
            "{} has {:.1} MB, of at most {limit:.0} MB (--max-size)\n",
            path.display(),
            known.len() as f64 / 1e6
        )
    }

    fn commit(&mut self) -> anyhow::Result<()> {
        let results = std::mem::take(&mut self.results);
        resume::commit(&mut self.store, &results, &self.stages, &self.position)
    }

    fn simulate(&mut self) {
        self.cluster.tick(&mut self.rows);
        self.decoded.clear();
        for (schema, line) in self.rows.lines() {
            self.stages.decoder.json_line(Some(schema.name()), line, &mut self.decoded);
        }
    }

    fn progress(&self, pace: &Pace, is_finished: bool) -> Progress {
        let (wall_s, played_s) = pace.passed_s(self.position.ticks);
        let rows = self.stages.rows();
        let rows_per_tick = rows as f64 / self.position.ticks.max(1) as f64;
        Progress {
            event_time: self.stages.detector().newest(),
            rows,
            rows_per_s: rows_per_tick * played_s / wall_s,
            speed: played_s / wall_s,
            is_finished,
        }
    }
}

fn settings(request: &Request<'_>, topology: Topology) -> InProcessSettings {
    let routes = request.receivers.iter().filter_map(Receiver::route).collect();
    let alerts = AlertSettings::new(request.rules.to_vec(), routes, &node_places(&topology));
    InProcessSettings {
        network: Some(Arc::new(Network::of(topology))),
        alerts: Arc::new(alerts),
        ..InProcessSettings::of(Settings::of(ModelKind::Robust))
    }
}

/// The routers of the demo's machine: two chassis of one group.
fn demo_routers() -> Aries {
    Aries { populated: vec!["c0-0c0".to_string(), "c0-0c1".to_string()], ..Aries::new(1) }
}
