//! A file system and the jobs that write to it, as the file of an experiment describes them.

use crate::truth::scenario::{Capacity, Counts, FileSystem, Job, Noise, Phase, Scenario};
use samplers::rng::Rng;
use serde::Deserialize;

/// A file system whose bandwidth its clients share.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSystemSpec {
    /// Bytes a second of all clients.
    pub bytes_per_s: f64,
    /// Seeds that are played.
    #[serde(default = "seeds")]
    pub seeds: u32,
    /// Whether the odd seeds are played, which parameters are chosen by, instead of the even ones.
    #[serde(default)]
    pub tuning: bool,
    /// Age of an answer, in seconds: of rows, stages, commit and request.
    #[serde(default = "answer_delay_s")]
    pub answer_delay_s: u32,
}

fn seeds() -> u32 {
    10
}

fn answer_delay_s() -> u32 {
    2
}

/// A job that computes and writes in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriterSpec {
    /// The scheduler's number.
    pub id: u64,
    /// Cases in which it runs; all of them, where none is named.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Its nodes.
    pub nodes: u32,
    /// Demand of each of them while it writes.
    pub bytes_per_s: f64,
    /// Spread of that from second to second, as a part of it.
    #[serde(default = "noise")]
    pub noise: f64,
    /// When it starts, in seconds.
    #[serde(default)]
    pub start_s: Span,
    /// How often it computes and then writes.
    pub steps: u32,
    /// Seconds of computing of a step.
    pub compute_s: Span,
    /// Seconds of writing of a step, where its demand is served in full.
    pub write_s: Span,
    /// How it postpones writes, if it asks.
    pub postpone: Option<PostponeSpec>,
}

fn noise() -> f64 {
    0.05
}

/// How a job that asks postpones its writes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostponeSpec {
    /// Its reason to.
    pub adapts: Adapts,
    /// Seconds until it writes again, in the mean: drawn from half to one and a half of it.
    pub retry_s: f64,
    /// Most bytes that a node keeps while it computes.
    pub buffer_bytes: f64,
    /// Most seconds from the beginning of a write until the job no longer postpones it.
    pub longest_s: f64,
    /// Whether it does nothing meanwhile, where it has nothing to compute or its buffer is too small. Otherwise it continues to write.
    #[serde(default)]
    pub waits: bool,
}

/// When a contended job sets its write aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adapts {
    /// Always.
    DelayIo,
    /// If it is contended since its write began: otherwise the other one came later, and it is this job's turn.
    TakeTurns,
}

/// A number, or two between which each seed draws.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Span {
    /// The same in all seeds.
    Fixed(f64),
    /// From the first to the second.
    Between([f64; 2]),
}

impl Default for Span {
    fn default() -> Span {
        Span::Fixed(0.0)
    }
}

impl Span {
    fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Span::Fixed(value) => value,
            Span::Between([low, high]) => rng.between(low, high),
        }
    }

    fn is_valid(self) -> bool {
        match self {
            Span::Fixed(value) => value >= 0.0 && value.is_finite(),
            Span::Between([low, high]) => (0.0..=high).contains(&low) && high.is_finite(),
        }
    }
}

impl FileSystemSpec {
    /// Refuses a file system that serves nothing.
    ///
    /// # Errors
    /// The key, its value, and what it should be.
    pub fn check(&self) -> anyhow::Result<()> {
        let Self { bytes_per_s, seeds, answer_delay_s, .. } = self;
        anyhow::ensure!(*bytes_per_s > 0.0, "bytes_per_s = {bytes_per_s} of file_system must be above 0");
        anyhow::ensure!((1..=10_000).contains(seeds), "seeds = {seeds} of file_system must be 1 to 10000");
        anyhow::ensure!(*answer_delay_s <= 60, "answer_delay_s = {answer_delay_s} must be at most 60");
        Ok(())
    }
}

impl WriterSpec {
    /// Refuses a job that cannot run.
    ///
    /// # Errors
    /// The job, the key and what it should be.
    pub fn check(&self) -> anyhow::Result<()> {
        let id = self.id;
        anyhow::ensure!((1..=1_000).contains(&self.nodes), "writer {id}: nodes must be 1 to 1000");
        anyhow::ensure!((1..=10_000).contains(&self.steps), "writer {id}: steps must be 1 to 10000");
        anyhow::ensure!(self.bytes_per_s > 0.0, "writer {id}: bytes_per_s must be above 0");
        anyhow::ensure!((0.0..=1.0).contains(&self.noise), "writer {id}: noise must be 0 to 1");
        let spans = [self.start_s, self.compute_s, self.write_s];
        anyhow::ensure!(
            spans.iter().all(|span| span.is_valid()),
            "writer {id}: start_s, compute_s and write_s must be seconds, or [least, most]"
        );
        if let Some(PostponeSpec { retry_s, longest_s, buffer_bytes, .. }) = self.postpone {
            anyhow::ensure!(retry_s >= 1.0, "writer {id}: retry_s must be at least 1");
            anyhow::ensure!(
                longest_s >= 0.0 && buffer_bytes >= 0.0,
                "writer {id}: longest_s and buffer_bytes must not be negative"
            );
        }
        Ok(())
    }

    fn job(&self, seed: u64) -> Job {
        let mut rng = Rng::new(seed, self.id);
        let start_s = self.start_s.draw(&mut rng).round();
        let mut phases = Vec::new();
        for _ in 0..self.steps {
            phases.push(Phase::Pause { seconds: self.compute_s.draw(&mut rng) });
            let bytes = self.write_s.draw(&mut rng) * self.bytes_per_s;
            phases.push(Phase::Write { bytes, rate: self.bytes_per_s });
        }
        Job {
            id: self.id,
            app: format!("app{}", self.id),
            nodes: self.nodes,
            system: 0,
            start_s,
            end_s: f64::INFINITY,
            phases,
            noise: Noise { sigma: self.noise, ..Noise::default() },
            slow_node: None,
            reads: [(0.0, 0.0); 2],
            operation_cost: 1.0,
            steps: None,
        }
    }
}

/// The scenario of a seed.
pub fn scenario(system: &FileSystemSpec, writers: &[&WriterSpec], seconds: u32, seed: u64) -> Scenario {
    Scenario {
        seconds,
        systems: vec![FileSystem {
            name: "scratch".to_string(),
            capacity: Capacity::Fixed(system.bytes_per_s),
            slow: Vec::new(),
        }],
        jobs: writers.iter().map(|writer| writer.job(seed)).collect(),
        subjects: Vec::new(),
        unseen: Vec::new(),
        served_by_job: false,
        counts: Counts::Bytes,
        seed,
    }
}
