//! What jobs report of their steps.

use super::physics::World;
use super::scenario::Scenario;
use schemas::{CounterBatch, Metric, Name, Source, SourceIndex, Sources, Time, job_words};

/// Jobs that report.
pub(super) struct Reported {
    /// Job and source, and the words of the job's number.
    jobs: Vec<(usize, SourceIndex, Vec<u64>)>,
}

impl Reported {
    /// Those of a scenario, whose sources `sources` gains.
    pub(super) fn of(scenario: &Scenario, sources: &mut Sources) -> anyhow::Result<Reported> {
        let metric = Metric::all().find(|metric| metric.is_of_jobs());
        let metric =
            metric.ok_or_else(|| anyhow::anyhow!("the catalogue has no metric of what jobs report"))?;
        let mut jobs = Vec::new();
        for (at, job) in scenario.jobs.iter().enumerate().filter(|(_, job)| job.steps.is_some()) {
            let name = Name::parse(&job.id.to_string())?;
            let words = job_words::pack(&name);
            let words = words.ok_or_else(|| anyhow::anyhow!("the number of job {} is too long", job.id))?;
            let source = sources.intern(Source {
                schema: Name::parse("tailback_progress")?,
                producer: name.clone(),
                metrics: vec![metric],
                component: name,
                set: None,
                parts: vec![Name::parse("steps.0")?],
                rank: 0,
                by_job: true,
            });
            jobs.push((at, source, words.into()));
        }
        Ok(Reported { jobs })
    }

    /// Adds the reports that are due at `second`.
    pub(super) fn sample(
        &self,
        scenario: &Scenario,
        world: &World<'_>,
        (second, time): (u32, Time),
        batch: &mut CounterBatch,
    ) {
        for (job, source, words) in &self.jobs {
            let spec = &scenario.jobs[*job];
            let is_due = spec.steps.is_some_and(|steps| second.is_multiple_of(steps.report_s));
            let is_running = f64::from(second) > spec.start_s && world.ended_s(*job).is_none();
            if let (true, Some(made)) = (is_due && is_running, world.steps(*job)) {
                let row: Vec<u64> = std::iter::once(made as u64).chain(words.iter().copied()).collect();
                batch.push(*source, time, &row);
            }
        }
    }
}
