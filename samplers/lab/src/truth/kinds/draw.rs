//! What kinds draw alike: rates, noise, jobs that write at one rate, and a writer that leaves another less.

use super::super::scenario::{Capacity, Counts, FileSystem, Job, Noise, Phase, Scenario};
use samplers::rng::Rng;

/// Demand of a victim's node, in bytes a second.
const RATE: [f64; 2] = [2e8, 1.2e9];
/// A job that only writes.
pub(super) const WRITES: [(f64, f64); 2] = [(0.0, 0.0); 2];
/// A job without an end of its own.
pub(super) const NO_END_S: f64 = 1e9;

/// Draws from the seed of a scenario.
pub(super) struct Draw {
    pub(super) rng: Rng,
    pub(super) seed: u64,
}

impl Draw {
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.rng.between(low, high)
    }

    pub(super) fn count(&mut self, low: u32, high: u32) -> u32 {
        low + self.rng.below((high - low + 1) as usize) as u32
    }

    pub(super) fn rate(&mut self) -> f64 {
        self.rng.log_between(RATE[0], RATE[1])
    }

    /// Seconds that differ by little, plain noise.
    pub(super) fn white(&mut self) -> Noise {
        Noise { sigma: self.between(0.02, 0.15), ..Noise::default() }
    }

    pub(super) fn scenario(&self, seconds: f64, capacity: f64, jobs: Vec<Job>, subjects: &[u64]) -> Scenario {
        Scenario {
            seconds: seconds as u32,
            systems: vec![FileSystem {
                name: "scratch".to_string(),
                capacity: Capacity::Fixed(capacity),
                slow: Vec::new(),
            }],
            jobs,
            subjects: subjects.to_vec(),
            unseen: Vec::new(),
            served_by_job: false,
            counts: Counts::Bytes,
            seed: self.seed,
        }
    }
}

/// A job that writes at one rate from its start to its end.
pub(super) fn streaming(id: u64, nodes: u32, start_s: f64, seconds: f64, rate: f64, noise: Noise) -> Job {
    Job {
        id,
        app: format!("app{id}"),
        nodes,
        system: 0,
        start_s,
        end_s: NO_END_S,
        phases: vec![stream(seconds, rate)],
        noise,
        slow_node: None,
        reads: WRITES,
        steps: None,
        operation_cost: 1.0,
    }
}

pub(super) fn stream(seconds: f64, rate: f64) -> Phase {
    Phase::Stream { seconds, rate: [rate, rate] }
}

/// A victim alone on a file system that it fills to a part, until a writer comes that leaves it less.
pub(super) struct Contest {
    pub(super) victim: Job,
    pub(super) capacity: f64,
    /// Nodes and rate of the aggressor, which wants more than there is.
    pub(super) nodes: u32,
    pub(super) rate: f64,
}

pub(super) fn contest(draw: &mut Draw, seconds: f64, noise: Noise) -> Contest {
    let (nodes, rate) = (draw.count(1, 4), draw.rate());
    let victim = streaming(1, nodes, 0.0, seconds, rate, noise);
    let capacity = f64::from(nodes) * rate * draw.between(1.05, 1.6);
    // With equal shares the victim is left with this part of its rate.
    let left = draw.between(0.2, 0.75);
    let others = ((capacity / (left * rate)).round() as u32).saturating_sub(nodes).max(1);
    Contest { victim, capacity, nodes: others, rate: 2.0 * rate }
}

pub(super) fn demand_of(job: &Job) -> f64 {
    let rate = match job.phases.first() {
        Some(Phase::Stream { rate: [first, _], .. }) => *first,
        Some(Phase::Write { rate, .. }) => *rate,
        _ => 0.0,
    };
    f64::from(job.nodes) * rate
}
