//! File systems whose clients share bandwidth, and what each job loses to others, to a slow server, to a slow node.
//!
//! A second has four steps. In each, the clients of a file system get their demand, or an equal share where the sum is
//! more than it can serve. The loss of a client is the part of its rate alone that it did not get: alone is the same step
//! with the clients of its own job only, on healthy servers and nodes. An application that makes steps beside its writes waits
//! for them in a part of its time only: it loses what its steps lose.

mod application;
mod aside;

pub use aside::Doing;

use super::scenario::{Capacity, Job, Phase, Scenario, Slow, Unseen};
use super::variation::Variation;
use application::Application;
use aside::Aside;
use samplers::lustre::fair_share;
use samplers::rng::Rng;
use std::collections::VecDeque;

/// Steps of a second.
const STEPS: u32 = 4;

/// What a job truly lost, in seconds, on average of its nodes.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// To other jobs, by their numbers.
    pub to_jobs: std::collections::BTreeMap<u64, f64>,
    /// To slow servers.
    pub to_server_s: f64,
    /// To its slow node: as slow as that node, the job waits for it.
    pub to_node_s: f64,
    /// First second in which it lost more than a twentieth.
    pub onset_s: Option<f64>,
}

impl Lost {
    /// Seconds lost to anything but itself.
    pub fn all_s(&self) -> f64 {
        self.to_jobs.values().sum::<f64>() + self.to_server_s + self.to_node_s
    }
}

/// A job as it runs.
struct Run {
    /// What is left of its phases; the first one is under way.
    phases: VecDeque<Phase>,
    /// Seconds that the phase lasted, and bytes that each node wrote in it.
    phase_s: f64,
    phase_bytes: f64,
    /// When the phase began.
    phase_from_s: f64,
    /// A write that was set aside.
    aside: Option<Aside>,
    ended_s: Option<f64>,
    clients: Vec<Client>,
    application: Option<Application>,
    lost: Lost,
}

struct Client {
    written: f64,
    /// Bytes a second in the last step: counters are sampled in it.
    rate: f64,
    noise: Variation,
}

/// A scenario as it is played.
pub struct World<'a> {
    scenario: &'a Scenario,
    runs: Vec<Run>,
    second: u32,
}

impl<'a> World<'a> {
    /// At second 0.
    pub fn new(scenario: &'a Scenario) -> World<'a> {
        let run = |job: &Job| Run {
            phases: job.phases.iter().copied().collect(),
            phase_s: 0.0,
            phase_bytes: 0.0,
            phase_from_s: job.start_s,
            aside: None,
            ended_s: None,
            clients: (0..job.nodes)
                .map(|node| Client {
                    written: 1e12,
                    rate: 0.0,
                    noise: Variation::new(Rng::new(scenario.seed, (job.id << 16) ^ u64::from(node))),
                })
                .collect(),
            application: job
                .steps
                .map(|steps| Application::new(steps, Rng::new(scenario.seed, job.id << 40))),
            lost: Lost::default(),
        };
        World { scenario, runs: scenario.jobs.iter().map(run).collect(), second: 0 }
    }

    /// Plays a second. Returns false when the scenario is over.
    pub fn step(&mut self) -> bool {
        if self.second >= self.scenario.seconds {
            return false;
        }
        for (run, job) in self.runs.iter_mut().zip(&self.scenario.jobs) {
            run.clients.iter_mut().for_each(|client| client.noise.draw(&job.noise));
            run.application.iter_mut().for_each(Application::draw);
        }
        for step in 0..STEPS {
            let at_s = f64::from(self.second) + f64::from(step) / f64::from(STEPS);
            (0..self.scenario.systems.len()).for_each(|system| self.serve(system, at_s));
            self.advance(at_s);
        }
        self.second += 1;
        true
    }

    /// The share of its bytes that a job reads.
    pub fn read_share(&self, job: usize, second_s: f64) -> f64 {
        self.scenario.jobs[job].read_share(second_s)
    }

    /// Bytes that a client had written `earlier_s` before the end of the last step, which is less than the step.
    pub fn written(&self, job: usize, node: usize, earlier_s: f64) -> f64 {
        let client = &self.runs[job].clients[node];
        client.written - client.rate * earlier_s
    }

    /// Whether the rows of a job's clients are missing at `second_s`.
    pub fn is_unseen(&self, job: usize, second_s: f64) -> bool {
        let id = self.scenario.jobs[job].id;
        let hides = |unseen: &Unseen| unseen.job == id && (unseen.from_s..unseen.to_s).contains(&second_s);
        self.scenario.unseen.iter().any(hides)
    }

    /// When a job ended.
    pub fn ended_s(&self, job: usize) -> Option<f64> {
        self.runs[job].ended_s
    }

    /// Steps that a job has made that runs and counts them.
    pub fn steps(&self, job: usize) -> Option<f64> {
        let is_running = self.is_running(job, f64::from(self.second) - 1.0);
        self.runs[job].application.as_ref().filter(|_| is_running).map(|application| application.made)
    }

    /// What a job has lost.
    pub fn lost(&self, job: usize) -> &Lost {
        &self.runs[job].lost
    }

    fn is_running(&self, job: usize, at_s: f64) -> bool {
        self.runs[job].ended_s.is_none() && self.scenario.jobs[job].start_s <= at_s
    }

    /// Demand of each node of a job in this step, in bytes a second.
    fn asked(&self, job: usize, at_s: f64) -> f64 {
        let run = &self.runs[job];
        match run.phases.front() {
            Some(Phase::Write { rate, .. }) if self.is_running(job, at_s) => *rate,
            Some(Phase::Stream { seconds, rate: [first, last] }) if self.is_running(job, at_s) => {
                first + (last - first) * (run.phase_s / seconds).min(1.0)
            }
            _ => 0.0,
        }
    }

    /// Shares a file system for one step.
    fn serve(&mut self, system: usize, at_s: f64) {
        let spec = &self.scenario.systems[system];
        let health = part_of(spec.slow.iter(), at_s);
        let here: Vec<usize> =
            (0..self.runs.len()).filter(|job| self.scenario.jobs[*job].system == system).collect();
        let asked: Vec<f64> = here.iter().map(|job| self.asked(*job, at_s)).collect();
        let node: Vec<f64> =
            here.iter().map(|job| part_of(self.scenario.jobs[*job].slow_node.iter(), at_s)).collect();
        let demands = |only: Option<usize>, nodes_slow: bool| -> Vec<f64> {
            let chosen = (0..here.len()).filter(|at| only.is_none_or(|only| only == *at) && asked[*at] > 0.0);
            let of_job = |at: usize| {
                let count = self.scenario.jobs[here[at]].nodes as usize;
                let first = asked[at] * if nodes_slow { node[at] } else { 1.0 };
                std::iter::once(first).chain(std::iter::repeat_n(asked[at], count - 1))
            };
            chosen.flat_map(of_job).collect()
        };
        let share = |demands: &[f64], health: f64| spec.capacity.share(demands, health);
        let all = demands(None, true);
        if all.is_empty() {
            return here.iter().for_each(|job| self.runs[*job].take([0.0; 2]));
        }
        let now = share(&all, health);
        let healthy = if health < 1.0 { share(&all, 1.0) } else { now };
        let rates: Vec<f64> = here
            .iter()
            .zip(&asked)
            .map(|(job, asked)| f64::from(self.scenario.jobs[*job].nodes) * asked.min(now))
            .collect();
        for at in 0..here.len() {
            let alone = share(&demands(Some(at), false), 1.0).min(asked[at]);
            if asked[at] > 0.0 {
                let whole = [now, healthy].map(|share| share.min(asked[at]));
                let others = rates.iter().enumerate().filter(|(other, _)| *other != at);
                let by: Vec<(u64, f64)> =
                    others.map(|(other, rate)| (self.scenario.jobs[here[other]].id, *rate)).collect();
                self.runs[here[at]].lose(alone, whole, node[at], at_s, &by);
            }
            let slow = now.min(asked[at] * node[at]);
            self.runs[here[at]].take([slow, now.min(asked[at])]);
        }
    }

    fn advance(&mut self, at_s: f64) {
        for job in 0..self.runs.len() {
            if !self.is_running(job, at_s) {
                continue;
            }
            let (spec, run) = (&self.scenario.jobs[job], &mut self.runs[job]);
            let step_s = 1.0 / f64::from(STEPS);
            run.phase_s += step_s;
            run.application.iter_mut().for_each(|application| application.step(step_s));
            let over = match run.phases.front() {
                Some(Phase::Write { bytes, .. }) => run.phase_bytes >= *bytes,
                Some(Phase::Stream { seconds, .. } | Phase::Pause { seconds }) => run.phase_s >= *seconds,
                None => true,
            };
            if over {
                run.phases.pop_front();
                run.write_next();
                run.begin(at_s + step_s);
            }
            if run.phases.is_empty() || at_s + step_s >= spec.end_s {
                run.ended_s = Some(at_s + step_s);
            }
        }
    }
}

impl Run {
    /// Counts what was lost in a step: `whole` is what a healthy node gets, now and with healthy servers.
    fn lose(&mut self, alone: f64, whole: [f64; 2], node: f64, at_s: f64, by: &[(u64, f64)]) {
        let step_s = 1.0 / f64::from(STEPS);
        let [now, healthy] = whole.map(|rate| (rate / alone).min(1.0));
        let slowest = now.min(node);
        // An application that waits in a part of its time loses less, of each cause the same part.
        let cost = self.application.as_mut().map_or(1.0, |application| application.cost(slowest));
        let step_s = cost * step_s;
        let to_others = (1.0 - healthy) * step_s;
        let all: f64 = by.iter().map(|(_, rate)| rate).sum();
        for (job, rate) in by.iter().filter(|(_, rate)| *rate > 0.0) {
            *self.lost.to_jobs.entry(*job).or_default() += to_others * rate / all;
        }
        self.lost.to_server_s += (healthy - now) * step_s;
        self.lost.to_node_s += (now - slowest) * step_s;
        if 1.0 - slowest > 0.05 && self.lost.onset_s.is_none() {
            self.lost.onset_s = Some(at_s);
        }
    }

    /// Writes for a step: the first node at its own rate, the others at theirs. A phase ends when the first node, the slowest,
    /// has written its part.
    fn take(&mut self, [first, others]: [f64; 2]) {
        let step_s = 1.0 / f64::from(STEPS);
        for (node, client) in self.clients.iter_mut().enumerate() {
            client.rate = if node == 0 { first } else { others } * client.noise.factor;
            client.written += client.rate * step_s;
        }
        let noise =
            self.clients.iter().map(|client| client.noise.factor).sum::<f64>() / self.clients.len() as f64;
        self.phase_bytes += first * noise * step_s;
    }
}

impl Capacity {
    /// Most that one client gets when the clients demand these rates, and the servers serve a part of what they can.
    fn share(self, demands: &[f64], health: f64) -> f64 {
        match self {
            Capacity::Measured => health * fair_share(demands.iter().map(|demand| demand / health)),
            Capacity::Fixed(capacity) => equal_share(demands, capacity * health),
        }
    }
}

/// The equal share that uses up `capacity`; a demand below it is served in full.
fn equal_share(demands: &[f64], capacity: f64) -> f64 {
    let mut sorted = demands.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut left = capacity;
    for (at, demand) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at) as f64;
        if *demand >= share {
            return share;
        }
        left -= demand;
    }
    f64::INFINITY
}

fn part_of<'s>(mut slow: impl Iterator<Item = &'s Slow>, at_s: f64) -> f64 {
    slow.find(|slow| (slow.from_s..slow.to_s).contains(&at_s)).map_or(1.0, |slow| slow.share)
}

#[cfg(test)]
mod tests;
