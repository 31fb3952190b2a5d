//! Jobs on a network over time: what each lost, and to whom.

use super::super::scenario::Steps;
use super::super::variation::Variation;
use super::moment::{Group, GroupMoment, Links, Moment, moment};
use samplers::lab::{Change, Event, FlowPath, LabJob, Noise, Routing, TrafficClass, flow_paths};
use samplers::rng::Rng;
use schemas::{Cause, CauseKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::{LinkIndex, Topology};

/// Part of a second from which a job is slowed: its onset.
const ONSET: f64 = 0.03;

/// Everything that decides what happens.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The network.
    pub topology: Arc<Topology>,
    /// How flows find their way; not adaptive.
    pub routing: Routing,
    /// The jobs. Writes of a job that sends messages too continue beside them: it does not wait for them.
    pub jobs: Vec<LabJob>,
    /// Cables that fail or get narrower.
    pub events: Vec<Event>,
    /// Noise of the counters.
    pub noise: Noise,
    /// Stalls a word in the queue of a link that is half used, and of one without load.
    pub stalls: [f64; 2],
    /// Seconds to play.
    pub seconds: u32,
    /// Jobs whose loss is scored; all if empty.
    pub subjects: Vec<u64>,
    /// The cause and kind of the region that it is made to have.
    pub verdict: Option<(Cause, Option<CauseKind>)>,
    /// Jobs that report their steps, by number: as many as they got done.
    pub reports: Vec<(u64, Steps)>,
    /// Seed of patterns and noise.
    pub seed: u64,
}

/// What a job lost, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// To each other job.
    pub to_jobs: BTreeMap<u64, f64>,
    /// To cables that failed or got narrower.
    pub to_cables_s: f64,
    /// When it was first slowed, in seconds of the scenario.
    pub onset_s: Option<f64>,
}

impl Lost {
    /// To whatever it was.
    pub fn all_s(&self) -> f64 {
        self.to_jobs.values().sum::<f64>() + self.to_cables_s
    }
}

/// A job as it runs.
pub struct Run {
    /// Flows by class.
    flows: [Vec<FlowPath>; 2],
    /// Which classes send.
    active: [bool; 2],
    done_s: f64,
    /// Steps that it made, where it counts them.
    steps: Option<(Steps, Variation, f64)>,
    on_s: f64,
    pause_s: u32,
    /// Whether it started.
    pub started: bool,
    /// When it ended, in seconds of the scenario.
    pub end_s: Option<f64>,
    /// What it lost.
    pub lost: Lost,
    /// Parts of a second, since the last change.
    rates: (BTreeMap<u64, f64>, f64, f64),
    /// Speed alone, by what is active.
    alone: BTreeMap<[bool; 2], f64>,
}

/// The scenario while it runs.
pub struct World<'s> {
    scenario: &'s Scenario,
    whole: Vec<f64>,
    /// Bytes a second of links now.
    capacities: Vec<f64>,
    /// Jobs, in the order of the scenario.
    pub runs: Vec<Run>,
    /// The network since the last change.
    pub now: Moment,
    /// By vertex: bytes a second written.
    pub written: Vec<f64>,
    /// First and last second in which flows are slowed on a link.
    pub slow: BTreeMap<LinkIndex, (u32, u32)>,
    /// Seconds that have passed.
    pub second: u32,
}

impl<'s> World<'s> {
    /// Before the first second.
    pub fn new(scenario: &'s Scenario) -> World<'s> {
        let known = |bytes: &f64| if *bytes > 0.0 { *bytes } else { f64::INFINITY };
        let whole: Vec<f64> = scenario.topology.capacities().iter().map(known).collect();
        let runs = scenario.jobs.iter().map(|job| Run::of(scenario, job)).collect();
        let written = vec![0.0; scenario.topology.vertex_count()];
        let mut world = World {
            scenario,
            capacities: whole.clone(),
            whole,
            runs,
            now: Moment::default(),
            written,
            slow: BTreeMap::new(),
            second: 0,
        };
        world.solve();
        world
    }

    /// Starts the jobs of the coming second.
    pub fn start(&mut self) {
        for (run, job) in self.runs.iter_mut().zip(&self.scenario.jobs) {
            run.started |= job.start_s <= self.second;
        }
    }

    /// Lets a second pass.
    pub fn step(&mut self) {
        let mut changed = self.change_cables();
        for (run, job) in self.runs.iter_mut().zip(&self.scenario.jobs) {
            let active = run.activity(job, self.second);
            changed |= std::mem::replace(&mut run.active, active) != active;
        }
        if changed {
            self.solve();
        }
        for link in &self.now.slow {
            self.slow.entry(*link).or_insert((self.second, self.second)).1 = self.second;
        }
        for (run, job) in self.runs.iter_mut().zip(&self.scenario.jobs) {
            run.pass(job, self.second);
        }
        self.second += 1;
    }

    fn change_cables(&mut self) -> bool {
        let mut changed = false;
        for event in self.scenario.events.iter().filter(|event| event.at_s == self.second) {
            if let Change::Narrow { link, percent } = event.change {
                for link in [link, self.scenario.topology.reverse(link)] {
                    self.capacities[link.at()] = self.whole[link.at()] * f64::from(percent) / 100.0;
                }
                changed = true;
            }
        }
        changed
    }

    fn links<'c>(&self, capacities: &'c [f64]) -> Links<'c> {
        let [queue_at_half, unloaded] = self.scenario.stalls;
        Links { capacities, queue_at_half, unloaded }
    }

    fn solve(&mut self) {
        let of = |(at, run): (usize, &Run)| {
            let active = CLASSES.into_iter().filter(|class| run.active[*class as usize]);
            active.map(move |class| (at, class)).collect::<Vec<_>>()
        };
        let keys: Vec<(usize, TrafficClass)> = self.runs.iter().enumerate().flat_map(of).collect();
        let group = |(at, class): &(usize, TrafficClass)| self.group(*at, *class);
        let groups: Vec<Group<'_>> = keys.iter().map(group).collect();
        let now = moment(&groups, self.links(&self.capacities));
        let healthy = (self.capacities != self.whole).then(|| moment(&groups, self.links(&self.whole)));
        let alone: Vec<f64> = keys.iter().map(|key| self.alone(key)).collect();
        let waited: Vec<WaitedFor> = keys
            .iter()
            .enumerate()
            .map(|(number, key)| {
                let before =
                    healthy.as_ref().map_or(now.groups[number].speed, |then| then.groups[number].speed);
                self.waited_for(&keys, &now, number, alone[number], before, key.0)
            })
            .collect();
        self.written.fill(0.0);
        for ((at, class), of) in keys.iter().zip(&now.groups) {
            if *class == TrafficClass::Io {
                for (flow, rate) in self.runs[*at].flows[1].iter().zip(&of.rates) {
                    if let Some(first) = flow.links.first() {
                        self.written[self.scenario.topology.from(*first).at()] += rate;
                    }
                }
            }
        }
        self.runs.iter_mut().for_each(|run| run.rates = WaitedFor::default());
        for (((at, class), waited), alone) in keys.iter().zip(waited).zip(alone) {
            let run = &mut self.runs[*at];
            if *class == TrafficClass::Mpi || run.flows[0].is_empty() {
                run.rates = waited;
                run.alone.insert(run.active, alone);
            }
        }
        self.now = now;
    }

    fn group(&self, at: usize, class: TrafficClass) -> Group<'_> {
        let coupling = if class == TrafficClass::Mpi { self.scenario.jobs[at].coupling } else { 0.0 };
        Group { coupling, flows: &self.runs[at].flows[class as usize] }
    }

    /// The speed of a group that has the whole network for itself, beside the job's other traffic.
    fn alone(&self, (at, class): &(usize, TrafficClass)) -> f64 {
        let run = &self.runs[*at];
        if let Some(known) = run.alone.get(&run.active).filter(|_| *class == TrafficClass::Mpi) {
            return *known;
        }
        let classes: Vec<TrafficClass> = CLASSES.into_iter().filter(|c| run.active[*c as usize]).collect();
        let groups: Vec<Group<'_>> = classes.iter().map(|class| self.group(*at, *class)).collect();
        let alone = moment(&groups, self.links(&self.whole));
        let own = classes.iter().position(|of| of == class).unwrap_or(0);
        alone.groups[own].speed
    }

    /// Parts of a second that a group loses to each other job and to cables, and the sum of them.
    fn waited_for(
        &self,
        keys: &[(usize, TrafficClass)],
        now: &Moment,
        number: usize,
        alone: f64,
        healthy: f64,
        own: usize,
    ) -> WaitedFor {
        let of: &GroupMoment = &now.groups[number];
        let (speed, healthy) = (of.speed.min(alone), healthy.min(alone));
        let to_cables = ((healthy - speed) / alone).max(0.0);
        let to_others = ((alone - healthy.max(speed)) / alone).max(0.0);
        let mut weights: BTreeMap<u64, f64> = BTreeMap::new();
        let mut at_link: BTreeMap<LinkIndex, f64> = BTreeMap::new();
        of.waits.iter().for_each(|(weight, link)| *at_link.entry(*link).or_default() += weight);
        for ((other, class), moment) in keys.iter().zip(&now.groups).filter(|((other, _), _)| *other != own) {
            for (flow, rate) in self.runs[*other].flows[*class as usize].iter().zip(&moment.rates) {
                for link in &flow.links {
                    if let Some(weight) = at_link.get(link) {
                        let part = rate / now.carried[link.at()].max(1.0);
                        *weights.entry(self.scenario.jobs[*other].job_id).or_default() += weight * part;
                    }
                }
            }
        }
        let all: f64 = weights.values().sum();
        if all > 0.0 {
            weights.values_mut().for_each(|weight| *weight *= to_others / all);
        }
        (weights, to_cables, if all > 0.0 { to_others + to_cables } else { to_cables })
    }
}

/// Parts of a second lost to each job, to cables, and in all.
type WaitedFor = (BTreeMap<u64, f64>, f64, f64);

const CLASSES: [TrafficClass; 2] = [TrafficClass::Mpi, TrafficClass::Io];

impl Run {
    fn of(scenario: &Scenario, job: &LabJob) -> Run {
        let paths = flow_paths(&scenario.topology, scenario.routing, job, scenario.seed);
        let (writes, messages) = paths.into_iter().partition(|flow| flow.class == TrafficClass::Io);
        Run {
            flows: [messages, writes],
            active: [false; 2],
            done_s: 0.0,
            steps: scenario
                .reports
                .iter()
                .find(|(number, _)| *number == job.job_id)
                .map(|(number, steps)| (*steps, Variation::new(Rng::new(scenario.seed, number << 40)), 0.0)),
            on_s: 0.0,
            pause_s: 0,
            started: false,
            end_s: None,
            lost: Lost::default(),
            rates: WaitedFor::default(),
            alone: BTreeMap::new(),
        }
    }

    /// Steps that it has made, where it runs and counts them.
    pub fn made(&self) -> Option<f64> {
        self.steps.as_ref().filter(|_| self.runs()).map(|(_, _, made)| *made)
    }

    fn runs(&self) -> bool {
        self.started && self.end_s.is_none()
    }

    fn activity(&self, job: &LabJob, second: u32) -> [bool; 2] {
        let since = second.saturating_sub(job.start_s);
        let writes = job.io.as_ref().is_some_and(|io| {
            let turn =
                since.checked_sub(io.from_s).map(|of| if io.every_s == 0 { of } else { of % io.every_s });
            turn.is_some_and(|turn| turn < io.for_s)
        });
        let sends = self.pause_s == 0 && !self.flows[0].is_empty();
        [self.runs() && sends, self.runs() && writes]
    }

    fn pass(&mut self, job: &LabJob, second: u32) {
        if !self.runs() {
            return;
        }
        if self.pause_s > 0 {
            self.pause_s -= 1;
            return;
        }
        let (to_jobs, to_cables, all) = &self.rates;
        if *all >= ONSET {
            self.lost.onset_s.get_or_insert(f64::from(second));
        }
        let speed = (1.0 - all).max(1e-6);
        let took_s = ((job.work_s - self.done_s) / speed).min(1.0);
        for (other, part) in to_jobs {
            *self.lost.to_jobs.entry(*other).or_default() += part * took_s;
        }
        self.lost.to_cables_s += to_cables * took_s;
        self.done_s += speed * took_s;
        if let Some((steps, noise, made)) = &mut self.steps {
            noise.draw(&steps.noise);
            *made += steps.per_s * noise.factor * speed * took_s;
        }
        self.on_s += speed * took_s;
        if self.done_s >= job.work_s - 1e-9 {
            self.end_s = Some(f64::from(second) + took_s);
        } else if let Some(phases) = job.phases.filter(|phases| self.on_s >= phases.on_s - 1e-9) {
            self.on_s = 0.0;
            self.pause_s = phases.off_s;
        }
    }
}
