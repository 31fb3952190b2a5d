//! The loop of the demo: simulate a second, decode, detect, commit, update the page.

use super::resume::{self, Position};
use super::{DemoArgs, summary};
use aggregator::Decoded;
use alerts::AlertSettings;
use alerts::receivers::Receiver;
use configuration::sections::Alerts;
use dashboards::Progress;
use detector::fabric::Network;
use detector::factors::learnt::learn;
use detector::model::ModelKind;
use detector::settings::Settings;
use indicatif::ProgressBar;
use samplers::{Cluster, Rows, scenario};
use schemas::{ResultBatch, Time};
use stages::in_process::{InProcess, InProcessSettings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use store::sqlite::Store;
use tokio::sync::watch;
use topology::generate::Aries;
use topology::{Machine, link_places, node_places};

/// Least wall-clock time between two commits; the page shows no more than four a second.
const COMMIT_EVERY: Duration = Duration::from_millis(250);

/// Simulated seconds between two looks at what finished runs teach.
const LEARN_EVERY_S: u64 = 60;

/// A demo at some second.
pub struct Demo {
    cluster: Cluster,
    rows: Rows,
    decoded: Decoded,
    stages: InProcess,
    store: Store,
    position: Position,
    /// What is not committed yet.
    results: ResultBatch,
}

impl Demo {
    /// Opens the store, and continues or begins.
    ///
    /// # Errors
    /// See [`super::run`].
    pub fn open(args: &DemoArgs, alerts: &Alerts) -> anyhow::Result<Demo> {
        let topology = Machine::Aries(demo_routers()).build()?;
        let places = node_places(&topology);
        let links = link_places(&topology);
        let routes = alerts.receivers.iter().map(Receiver::route).collect();
        let rules = Arc::new(AlertSettings::new(alerts.rules.clone(), routes, &places));
        let (_, fabric) = configuration::settings(None, None, None, None)?;
        let settings = InProcessSettings {
            detector: Settings::of(ModelKind::Robust),
            fabric,
            network: Some(Arc::new(Network::of(topology))),
            alerts: rules,
        };
        let (mut store, left) = resume::open(&args.store, &settings)?;
        store.put_places(&places)?;
        store.put_links(&links)?;
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let start_s = args.start.unwrap_or(now_s);
        let begin = Position { seed: args.seed, start_s, ticks: 0, ended: false };
        let position = left.as_ref().map_or(begin, |left| left.position);
        let cluster =
            Cluster::new(scenario::demo().endless(), Time(position.start_s * 1_000_000), position.seed)?;
        let stages = match left {
            Some(left) => {
                eprintln!("continuing the demo in {} at second {}", args.store.display(), position.ticks);
                left.stages
            }
            None => InProcess::new(&settings),
        };
        let (rows, decoded) = (Rows::default(), Decoded::default());
        let results = ResultBatch::default();
        let mut demo = Demo { cluster, rows, decoded, stages, store, position, results };
        // The states contain what the stages know of these seconds; simulator and decoder are not part of them.
        (0..position.ticks).for_each(|_| demo.simulate());
        // From now on the file is marked as a demo's, whatever happens before the first results.
        demo.commit()?;
        Ok(demo)
    }

    /// Plays until `stop`, or until the requested seconds are over; then commits what is left.
    ///
    /// # Errors
    /// The store's.
    pub fn play(
        &mut self,
        args: &DemoArgs,
        stop: &AtomicBool,
        progress: &watch::Sender<Progress>,
        bar: &ProgressBar,
    ) -> anyhow::Result<()> {
        let pace = Pace::new(args.speed, self.position.ticks);
        let mut committed = Instant::now();
        let mut learn_at = self.position.ticks + LEARN_EVERY_S;
        let wanted = |ticks: u64| args.seconds.is_none_or(|seconds| ticks < seconds);
        while wanted(self.position.ticks) && !stop.load(Ordering::Relaxed) {
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
                progress.send_replace(self.progress(&pace, false));
            }
            bar.set_position(self.position.ticks);
            pace.wait(self.position.ticks, stop);
        }
        self.position.ended = true;
        self.results.add(self.stages.finish());
        self.commit()?;
        self.store.learn(learn)?;
        progress.send_replace(self.progress(&pace, true));
        Ok(())
    }

    /// What was found, beside the truth.
    pub fn summary(&self, args: &DemoArgs) -> String {
        summary::table(&self.cluster.truth(), &self.stages, args)
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

    fn progress(&self, pace: &Pace, finished: bool) -> Progress {
        let wall_s = pace.began.elapsed().as_secs_f64().max(1e-3);
        let played = (self.position.ticks - pace.from) as f64;
        let rows = self.stages.rows();
        let rows_per_tick = rows as f64 / self.position.ticks.max(1) as f64;
        Progress {
            event_time: self.stages.detector().newest(),
            rows,
            rows_per_s: rows_per_tick * played / wall_s,
            lag_s: 0.0,
            speed: played / wall_s,
            finished,
        }
    }
}

/// The routers of the demo's machine: two chassis of one group.
fn demo_routers() -> Aries {
    Aries { populated: vec!["c0-0c0".to_string(), "c0-0c1".to_string()], ..Aries::new(1) }
}

/// Simulated time against the wall clock.
struct Pace {
    began: Instant,
    from: u64,
    speed: f64,
}

impl Pace {
    fn new(speed: f64, from: u64) -> Pace {
        Pace { began: Instant::now(), from, speed }
    }

    /// Waits until second `ticks` is due, or until `stop`.
    fn wait(&self, ticks: u64, stop: &AtomicBool) {
        if self.speed == 0.0 {
            return;
        }
        let due = self.began + Duration::from_secs_f64((ticks - self.from) as f64 / self.speed);
        while let Some(left) = due.checked_duration_since(Instant::now()) {
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }
}
