//! The physics of the whole machine: from one event to the next, exactly, whatever the ticks are.

use crate::aries::NODES_PER_ROUTER;
use crate::jobs::{Behaviour, JobSpec};
use crate::lustre::FileSystem;
use crate::network::{Network, Spread};
use crate::rng::Rng;
use crate::scenario::Scenario;
use crate::truth::Loss;
use std::collections::{BTreeMap, VecDeque};

mod lifecycle;
mod losses;

/// Two events closer than this are one. It is far above the rounding of a time after years,
/// so that each step of the machine makes progress.
const INSTANT_S: f64 = 1e-6;
/// Number of the first job.
const FIRST_JOB: u64 = 1001;

/// A component whose series may be contended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Component {
    Client(u32),
    Tile(u32),
}

/// A job that has started.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: u64,
    /// Which of the scenario's jobs.
    pub(crate) spec: usize,
    pub(crate) start: f64,
    pub(crate) end: Option<f64>,
    pub(crate) loss: Loss,
    /// Seconds of work done, for jobs whose work is counted so.
    done: f64,
    /// When its phase changes; infinite if it never does.
    next_phase: f64,
    /// Whether it writes or sends now.
    active: bool,
    next_spike: f64,
    rng: Rng,
}

/// A change that the job rows report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    Started(u64),
    Ended(u64),
}

/// The machine and its jobs. Times are seconds from the start of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) scenario: Scenario,
    pub(crate) files: FileSystem,
    pub(crate) network: Network,
    pub(crate) runs: VecDeque<Run>,
    pub(crate) series: BTreeMap<Component, Loss>,
    pub(crate) changes: Vec<Change>,
    /// The job that a node would name now; 0 for none.
    pub(crate) node_jobs: Vec<u64>,
    pub(crate) now: f64,
    waiting: VecDeque<usize>,
    pub(crate) round_start: f64,
    last_end: f64,
    next_id: u64,
    seed: u64,
    stale: bool,
}

impl Machine {
    pub(crate) fn new(scenario: Scenario, seed: u64) -> Machine {
        let layout = scenario.layout;
        let spread = Spread { load: scenario.noise.rate, ratio: scenario.noise.ratio };
        let mut machine = Machine {
            files: FileSystem::new(layout.nodes(), scenario.noise.rate, seed),
            network: Network::new(layout, spread, seed),
            runs: VecDeque::new(),
            series: BTreeMap::new(),
            changes: Vec::new(),
            node_jobs: vec![0; layout.nodes() as usize],
            now: 0.0,
            waiting: VecDeque::new(),
            round_start: 0.0,
            last_end: 0.0,
            next_id: FIRST_JOB,
            seed,
            stale: true,
            scenario,
        };
        machine.schedule();
        machine
    }

    pub(crate) fn run(&self, id: u64) -> Option<&Run> {
        let first = self.runs.front()?.id;
        self.runs.get(id.checked_sub(first)? as usize)
    }

    pub(crate) fn spec(&self, run: &Run) -> &JobSpec {
        &self.scenario.jobs[run.spec]
    }

    /// Whether every job has come and gone; then also when the last one went.
    pub(crate) fn all_done(&self) -> Option<f64> {
        let done = self.waiting.is_empty() && self.runs.iter().all(|r| r.end.is_some());
        done.then_some(self.last_end)
    }

    /// Ends what still runs and begins the scenario again, under new numbers.
    pub(crate) fn repeat(&mut self) {
        let running: Vec<u64> = self.runs.iter().filter(|r| r.end.is_none()).map(|r| r.id).collect();
        for id in running {
            self.end(id);
        }
        let forget = self.round_start;
        while self.runs.front().is_some_and(|r| r.start < forget) {
            self.runs.pop_front();
        }
        for loss in self.series.values_mut() {
            loss.forget_before(forget);
        }
        self.series.retain(|_, loss| !loss.is_empty());
        self.round_start = self.now;
        self.schedule();
    }

    /// Draws the noise and the load balances of the second that begins.
    pub(crate) fn begin_tick(&mut self) {
        self.files.begin_tick();
        self.network.begin_tick();
        for run in &mut self.runs {
            let Behaviour::HaloExchange(halo) = &self.scenario.jobs[run.spec].behaviour else {
                continue;
            };
            if run.end.is_none() && run.active && run.next_spike < self.now + 1.0 {
                let times = run.rng.between(halo.spike.start, halo.spike.end);
                run.next_spike =
                    self.now + run.rng.between(halo.balance_every_s.start, halo.balance_every_s.end);
                self.network.spike(run.id, times);
            }
        }
    }

    /// Advances to `until`, stopping wherever something changes.
    pub(crate) fn advance(&mut self, until: f64) {
        loop {
            self.handle_events();
            if std::mem::take(&mut self.stale) {
                self.files.solve();
                self.network.solve();
            }
            if self.now >= until - INSTANT_S {
                return;
            }
            let to = self.next_event().min(until);
            self.step(to - self.now);
            self.now = to;
        }
    }

    fn schedule(&mut self) {
        let mut order: Vec<usize> = (0..self.scenario.jobs.len()).collect();
        order.sort_by(|a, b| self.scenario.jobs[*a].start_s.total_cmp(&self.scenario.jobs[*b].start_s));
        self.waiting = order.into();
    }

    fn next_start(&self) -> f64 {
        let start = |spec: &usize| self.round_start + self.scenario.jobs[*spec].start_s;
        self.waiting.front().map_or(f64::INFINITY, start)
    }

    fn next_event(&self) -> f64 {
        let mut next = self.next_start().min(self.now + self.files.seconds_to_end());
        for run in self.runs.iter().filter(|r| r.end.is_none()) {
            next = next.min(run.next_phase).min(self.work_end(run));
        }
        next.max(self.now)
    }

    /// When a job will be done at its present pace; infinite for one that ends with its last byte.
    fn work_end(&self, run: &Run) -> f64 {
        let behaviour = &self.spec(run).behaviour;
        if let Behaviour::CheckpointWriter(checkpoint) = behaviour {
            return run.start + checkpoint.run_s;
        }
        let Some(work) = work_s(behaviour) else {
            return f64::INFINITY;
        };
        self.now + (work - run.done).max(0.0) / (1.0 - self.lost_per_second(run))
    }

    fn lost_per_second(&self, run: &Run) -> f64 {
        self.network.loss_of(run.id).map_or(0.0, |(lost, _, _)| lost)
    }

    fn handle_events(&mut self) {
        while self.next_start() <= self.now + INSTANT_S {
            if let Some(spec) = self.waiting.pop_front() {
                self.start(spec);
            }
        }
        self.stale |= self.files.remove_done(self.now, INSTANT_S);
        let running = self.runs.iter().filter(|r| r.end.is_none());
        let (mut ended, mut turning) = (Vec::new(), Vec::new());
        for run in running {
            if self.is_done(run) {
                ended.push(run.id);
            } else if run.next_phase <= self.now + INSTANT_S {
                turning.push(run.id);
            }
        }
        turning.into_iter().for_each(|id| self.turn(id));
        ended.into_iter().for_each(|id| self.end(id));
    }

    /// Lets `seconds` pass in which nothing changes.
    fn step(&mut self, seconds: f64) {
        let (from, to) = (self.now, self.now + seconds);
        if seconds > 0.0 {
            self.lose_on_network(from, to);
            self.lose_on_files(from, to);
            self.files.advance(seconds);
            self.network.advance(seconds);
        }
    }

    /// Power-cycles the blade of a node: its client and its router count from 0.
    pub(crate) fn reset(&mut self, node: u32) {
        self.files.reset(node);
        self.network.reset(node / NODES_PER_ROUTER);
    }
}

fn work_s(behaviour: &Behaviour) -> Option<f64> {
    match behaviour {
        Behaviour::Write { .. } | Behaviour::CheckpointWriter(_) => None,
        Behaviour::HaloExchange(halo) => Some(halo.work_s),
        Behaviour::AllToAll { work_s, .. } => Some(*work_s),
    }
}
