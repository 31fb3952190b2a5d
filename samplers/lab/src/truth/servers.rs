//! What the servers of a file system count by job, as LDMS' `lustre_ost_job_stats` samples it: rows of two OSTs.

use super::physics::World;
use super::scenario::Scenario;
use schemas::{CounterBatch, Metric, Name, Source, SourceIndex, Sources, Time, job_words};

/// OSTs of a file system: each takes the same part of every job.
const OSTS: usize = 2;
/// Bytes that a client counts before the scenario begins.
const BEFORE: f64 = 1e12;

/// Counters of the servers.
pub(super) struct Servers {
    sources: Vec<[SourceIndex; OSTS]>,
    /// Bytes of each job read and written as they were sampled last.
    counters: Vec<[f64; 2]>,
}

impl Servers {
    /// The servers of all file systems, whose sources `sources` gains.
    pub(super) fn of(
        scenario: &Scenario,
        metrics: &[Metric],
        sources: &mut Sources,
    ) -> anyhow::Result<Servers> {
        let mut of_systems = Vec::new();
        for system in &scenario.systems {
            let mut osts = [SourceIndex(0); OSTS];
            for (number, ost) in osts.iter_mut().enumerate() {
                let name = Name::parse(&format!("{}-OST{number:04}", system.name))?;
                *ost = sources.intern(Source {
                    schema: Name::parse("lustre_ost_job_stats")?,
                    producer: name.clone(),
                    metrics: metrics.to_vec(),
                    component: name.clone(),
                    set: Some(name),
                    parts: vec![Name::parse(&system.name)?],
                    rank: 0,
                    by_job: true,
                });
            }
            of_systems.push(osts);
        }
        Ok(Servers { sources: of_systems, counters: vec![[0.0; 2]; scenario.jobs.len()] })
    }

    /// Adds the rows of a second that were sampled at `time`: of jobs that moved something in it.
    pub(super) fn sample(
        &mut self,
        scenario: &Scenario,
        world: &World<'_>,
        (second_s, time): (f64, Time),
        batch: &mut CounterBatch,
    ) -> anyhow::Result<()> {
        for (at, (job, counters)) in scenario.jobs.iter().zip(&mut self.counters).enumerate() {
            let moved: f64 = (0..job.nodes).map(|node| world.written(at, node as usize, 0.0) - BEFORE).sum();
            let (new, share) = (moved - counters.iter().sum::<f64>(), world.read_share(at, second_s));
            if new <= 0.0 {
                continue;
            }
            *counters = [counters[0] + share * new, counters[1] + (1.0 - share) * new];
            let words = job_words::pack(&Name::parse(&job.id.to_string())?);
            let words = words.ok_or_else(|| anyhow::anyhow!("the number of job {} is too long", job.id))?;
            let mut row: Vec<u64> = counters.iter().map(|counter| (counter / OSTS as f64) as u64).collect();
            row.extend(words);
            self.sources[job.system].iter().for_each(|ost| batch.push(*ost, time, &row));
        }
        Ok(())
    }
}
