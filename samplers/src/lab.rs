//! The lab: any network under known jobs, with the truth about every link and every second that a job loses.
//!
//! It works with flows, not with packets: in each second, every pair of hosts that talks has a rate, every link has a
//! load, and stalls follow from loads ([`stalls`]). Nothing is solved again while nothing changes. It emits what the
//! decoder makes of samplers' rows, [`schemas::CounterBatch`] and [`schemas::Sources`], and the scheduler's jobs;
//! noise touches these alone. Pure and deterministic: the same [`Setup`] gives the same counters.
//!
//! | module | what it holds |
//! |---|---|
//! | [`job`] | [`LabJob`], [`Pattern`], [`LabIo`], [`Event`], [`Change`], [`Noise`] |
//! | `setup` | [`Setup`], and why one is refused |
//! | `pattern` | which rank sends to which |
//! | `routing` | [`Routing`]: the paths that a flow may take; what becomes of them while links are down |
//! | `placement` | the path that each flow does take, and its parts |
//! | `flows` | flows and paths in columns |
//! | `osts` | what the OSTs of a file system take of each writer |
//! | `shares` | max-min fair shares |
//! | [`stalls`] | arrivals, stalls a word, back-pressure |
//! | `scene` | one moment: aggressors of each link |
//! | `losses` | losses of jobs in a second, by aggressor |
//! | `links` | which links are contended, cause and kind |
//! | `faults` | the state of failures after each event |
//! | `run` | running jobs |
//! | `moved` | what links carry and hosts write |
//! | [`truth`] | [`LabTruth`]: what really happened |
//! | `asked` | what jobs ask of links if nothing holds them back, and what they get |
//! | `congestion` | full queues of InfiniBand's switches, and marked packets |
//! | `counters` | sources and cumulative counters |
//! | `rows` | the same as lines of LDMS |
//! | `drawn` | a switch with tables drawn at random |
//! | [`scenarios`] | labelled cases, one class of cause each |

mod asked;
mod congestion;
mod counters;
mod drawn;
mod faults;
mod flows;
pub mod job;
mod links;
mod losses;
mod moved;
mod osts;
mod pattern;
mod placement;
mod routing;
mod rows;
mod run;
pub mod scenarios;
mod scene;
mod setup;
mod shares;
pub mod stalls;
#[cfg(test)]
mod tests;
pub mod truth;

pub use asked::{FlowPath, asked, flow_bandwidths, flow_paths};
pub use congestion::Congestion;
pub use counters::{Counters, Lustre, Sampled, Traffic};
pub use drawn::{DrawnError, vishnu_drawn};
pub use job::{Change, Event, LabIo, LabJob, Noise, Pattern, Phases, TrafficClass};
pub use pattern::UNIFORM_PARTNERS;
pub use routing::{Routing, STRIPES, Striping, fpar, reweigh};
pub use rows::{
    put_client_rows, put_nic_rows, put_port_rows, put_router_rows, put_target_rows, put_wait_rows,
};
pub use setup::{LabError, Setup};
pub use truth::{Aggressor, LabJobTruth, LabTruth, LinkLoss, LinkTruth, Lost};

use faults::Faults;
use flows::Flows;
use links::Judge;
use losses::{LossRate, Losses};
use placement::{Choices, Placed};
use run::{CLASSES, Run};
use scene::{Alone, Scene};
use schemas::{CounterBatch, Job, Name, Sources, Time};
use stalls::Load;
use std::collections::HashMap;
use std::sync::Arc;
use topology::{ParallelLinks, Topology, VertexIndex};
use truth::Stretch;

/// Mount that clients write to.
pub const FILE_SYSTEM: &str = "scratch";
/// When second 0 begins.
pub const START: Time = Time(1_800_000_000_000_000);

/// The rows of one second.
#[derive(Clone, Copy, Debug)]
pub struct Tick<'l> {
    /// End of the second, when the counters are read.
    pub time: Time,
    /// A row of every source that is not missing.
    pub counters: &'l CounterBatch,
    /// What the sources are; the same in every second.
    pub sources: &'l Sources,
    /// Jobs that started at the beginning of the second or ended in it, as they stand at its end.
    pub jobs: &'l [Job],
}

/// The lab while it runs.
#[derive(Clone, Debug)]
pub struct Lab {
    setup: Setup,
    parallel: ParallelLinks,
    flows: Flows,
    /// What flows may take while all links are up.
    healthy: Choices,
    /// The links that were down last, and what flows may take meanwhile; kept for links that flap.
    detours: Option<(Vec<bool>, Choices)>,
    faults: Faults,
    runs: Vec<Run>,
    alone: Vec<HashMap<[bool; 2], Alone>>,
    load: Load,
    rates: Vec<LossRate>,
    /// Bytes a second that links carry; of those on which hosts send on average: a job that waits sends nothing meanwhile.
    moved: Vec<f64>,
    written: Vec<f64>,
    /// Bytes a second written, times as long as each takes against an empty network, by vertex.
    waited: Vec<f64>,
    /// Bytes a second written to a server, by vertex.
    stored: Vec<f64>,
    /// Where rows have what it gives.
    congestion: Option<Congestion>,
    counters: Counters,
    changes: Vec<Job>,
    stretches: Vec<Stretch>,
    second: u32,
}

impl Lab {
    /// The lab before its first second. Its rows have the metrics that seconds lost follow from.
    ///
    /// # Errors
    /// [`LabError`] names what cannot be played.
    pub fn new(setup: Setup) -> Result<Lab, LabError> {
        Lab::sampled(setup, Sampled::Costs)
    }

    /// The lab before its first second, whose rows have the metrics of `sampled`. All else is as in [`Lab::new`], noise included.
    ///
    /// # Errors
    /// [`LabError`] names what cannot be played.
    pub fn sampled(setup: Setup, sampled: Sampled) -> Result<Lab, LabError> {
        setup::check(&setup)?;
        let topology = Arc::clone(&setup.topology);
        let flows = Flows::of(&topology, &setup.jobs, setup.seed);
        let healthy = Choices::of(&topology, setup.routing, &flows, &[]);
        if let Some(flow) = healthy.stuck(&flows) {
            return Err(LabError::NoWay { from: flow.from.0, to: flow.to.0 });
        }
        let mut clients: Vec<VertexIndex> = setup.jobs.iter().flat_map(|job| job.nodes.clone()).collect();
        clients.sort_unstable();
        let mut servers: Vec<VertexIndex> =
            setup.jobs.iter().filter_map(|job| job.io.as_ref()).flat_map(|io| io.targets.clone()).collect();
        servers.sort_unstable();
        servers.dedup();
        let lustre = Lustre { clients: &clients, servers: &servers };
        Ok(Lab {
            parallel: ParallelLinks::of(&topology),
            detours: None,
            faults: Faults::new(setup.events.clone(), capacities(&topology)),
            runs: setup.jobs.iter().map(Run::new).collect(),
            alone: vec![HashMap::new(); setup.jobs.len()],
            load: Load::idle(topology.link_count()),
            rates: vec![LossRate::default(); setup.jobs.len()],
            moved: vec![0.0; topology.link_count()],
            written: vec![0.0; topology.vertex_count()],
            waited: vec![0.0; topology.vertex_count()],
            stored: vec![0.0; topology.vertex_count()],
            congestion: (sampled == Sampled::All).then(|| Congestion::none(&topology)),
            counters: Counters::new(&topology, lustre, sampled, setup.noise, setup.seed)?,
            changes: Vec::new(),
            stretches: Vec::new(),
            second: 0,
            flows,
            healthy,
            setup,
        })
    }

    /// The network.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.setup.topology
    }

    /// What the lab was built from.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// All sources; the same in every second.
    pub fn sources(&self) -> &Sources {
        &self.counters.sources
    }

    /// Seconds that have passed.
    pub fn seconds(&self) -> u32 {
        self.second
    }

    /// Whether all jobs have ended.
    pub fn is_over(&self) -> bool {
        self.runs.iter().all(|run| run.end_s.is_some())
    }

    /// Lets a second pass.
    pub fn step(&mut self) -> Tick<'_> {
        self.changes.clear();
        let changed = self.start_jobs() | self.break_links() | self.note_activity();
        if changed {
            self.solve();
        }
        let time = at(f64::from(self.second + 1));
        let (carried, ratio) = (&self.moved, &self.load.ratio);
        let (written, waited, congestion) = (&self.written, &self.waited, self.congestion.as_ref());
        let (down, stored) = (&self.faults.down, &self.stored);
        let traffic = Traffic { carried, ratio, down, written, waited, stored, congestion };
        self.counters.pass(&traffic, time);
        self.pass_jobs();
        self.second += 1;
        Tick { time, counters: &self.counters.batch, sources: &self.counters.sources, jobs: &self.changes }
    }

    /// What really happened up to now.
    pub fn truth(&self) -> LabTruth {
        let started = self.runs.iter().zip(&self.setup.jobs).filter(|(run, _)| run.started);
        LabTruth {
            jobs: started.map(|(run, job)| run.truth(job)).collect(),
            stretches: self.stretches.clone(),
            seconds: self.second,
        }
    }

    /// Bytes that wanted through each link in the last second, over its present capacity, by number.
    pub fn utilisations(&self) -> Vec<f64> {
        self.load
            .arriving
            .iter()
            .zip(&self.faults.capacities)
            .map(|(bytes, capacity)| bytes / capacity)
            .collect()
    }

    /// Bytes that each link carried in the bursts of the last second, without noise, by number.
    pub fn carried(&self) -> &[f64] {
        &self.load.carried
    }

    /// Stalls a word of each link in the last second, without noise, by number.
    pub fn ratios(&self) -> &[f64] {
        &self.load.ratio
    }

    /// The links that were contended in the last second, by number.
    pub fn contended(&self) -> &[LinkTruth] {
        self.stretches.last().map_or(&[], |stretch| &stretch.links)
    }

    fn start_jobs(&mut self) -> bool {
        let mut any = false;
        for job_index in 0..self.runs.len() {
            if !self.runs[job_index].started && self.setup.jobs[job_index].start_s <= self.second {
                self.runs[job_index].started = true;
                self.report_job(job_index);
                any = true;
            }
        }
        any
    }

    fn break_links(&mut self) -> bool {
        let topology = &self.setup.topology;
        let changed = self.faults.pass(topology, self.second, &mut self.counters);
        let down = &self.faults.down;
        let is_new = self.detours.as_ref().is_none_or(|(known, _)| known != down);
        if changed.down && is_new && self.faults.any_down() {
            let choices = Choices::of(topology, self.setup.routing, &self.flows, down);
            self.detours = Some((down.clone(), choices));
        }
        changed.down || changed.widths
    }

    fn note_activity(&mut self) -> bool {
        let mut changed = false;
        for (run, job) in self.runs.iter_mut().zip(&self.setup.jobs) {
            let active = run.activity(job, self.second);
            changed |= std::mem::replace(&mut run.active, active) != active;
        }
        changed
    }

    fn active_of(&self, job_index: usize) -> Vec<u32> {
        let active = CLASSES.iter().zip(self.runs[job_index].active).filter(|(_, active)| *active);
        active.flat_map(|(class, _)| self.flows.range(job_index, *class)).collect()
    }

    /// Computes loads, losses and contended links again.
    fn solve(&mut self) {
        let of_jobs: Vec<Vec<u32>> =
            (0..self.runs.len()).map(|job_index| self.active_of(job_index)).collect();
        self.solve_alone(&of_jobs);
        let active: Vec<u32> = of_jobs.iter().flatten().copied().collect();
        let Faults { whole, capacities, .. } = &self.faults;
        let detours = self.detours.as_ref().filter(|_| self.faults.any_down());
        let choices = detours.map_or(&self.healthy, |(_, choices)| choices);
        let (placed, load) = moment(choices, &active, capacities);
        let healthy = (!self.faults.is_whole()).then(|| moment(&self.healthy, &active, whole));
        let alone: Vec<&Alone> =
            self.alone.iter().zip(&self.runs).map(|(alone, run)| &alone[&run.active]).collect();
        let scene = Scene::of(&placed, &load, capacities);
        let mut losses = Losses::new(&scene, healthy.as_ref());
        let jobs = &self.setup.jobs;
        let rates = (0..jobs.len()).map(|at| losses.of(at as u32, &jobs[at], &of_jobs[at], alone[at]));
        let rates = rates.collect();
        let judge = Judge {
            topology: &self.setup.topology,
            capacities,
            parallel: &self.parallel,
            down: &self.faults.down,
            jobs,
            alone: &alone,
            scene: &scene,
            healthy: healthy.as_ref().map(|(_, load)| load),
            adaptive: healthy.is_none() && self.setup.routing.is_adaptive(),
        };
        let links = judge.contended();
        drop(losses);
        drop(scene);
        self.stretches.push(Stretch { from_s: self.second, links });
        self.rates = rates;
        self.load = load;
        self.move_bytes(&placed);
    }

    /// Remembers what each job would have alone with its present traffic.
    fn solve_alone(&mut self, of_jobs: &[Vec<u32>]) {
        for (job_index, flows) in of_jobs.iter().enumerate() {
            self.alone[job_index].entry(self.runs[job_index].active).or_insert_with(|| {
                let (placed, load) = moment(&self.healthy, flows, &self.faults.whole);
                Alone::of(flows, &placed, &load)
            });
        }
    }

    fn pass_jobs(&mut self) {
        let jobs = &self.setup.jobs;
        let mut ended = Vec::new();
        for (job_index, run) in self.runs.iter_mut().enumerate().filter(|(_, run)| run.runs()) {
            let name = |other: u32| jobs[other as usize].job_id;
            if run.pass(&jobs[job_index], self.second, &self.rates[job_index], name) {
                ended.push(job_index);
            }
        }
        ended.into_iter().for_each(|job_index| self.report_job(job_index));
    }

    /// Queues the scheduler's report of a job that started or ended.
    fn report_job(&mut self, job_index: usize) {
        let job = &self.setup.jobs[job_index];
        let Some(job_id) = Name::parse(&job.job_id.to_string()).ok().filter(|_| job.known) else { return };
        self.changes.push(Job {
            job_id,
            label: String::new(),
            user: job.user.clone(),
            name: job.name.clone(),
            nodes: job.nodes.iter().map(|node| self.setup.topology.name(*node).clone()).collect(),
            start: at(f64::from(job.start_s)),
            end: self.runs[job_index].end_s.map(at),
            end_presumed: false,
            app: Some(job.app.clone()),
        });
    }
}

/// The time of a second of the lab.
pub fn at(second: f64) -> Time {
    START.plus_seconds(second)
}

/// What all links carry, in bytes a second; infinite where it is not known.
fn capacities(topology: &Topology) -> Vec<f64> {
    let known = |bytes: &f64| if *bytes > 0.0 { *bytes } else { f64::INFINITY };
    topology.capacities().iter().map(known).collect()
}

/// `flows` on the paths that they choose, and what that makes of the links.
fn moment(choices: &Choices, flows: &[u32], capacities: &[f64]) -> (Placed, Load) {
    let placed = choices.place(flows, capacities);
    let load = placed.load(flows, capacities);
    (placed, load)
}
