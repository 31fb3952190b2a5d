//! What jobs report of their steps.

use super::scenario::Steps;
use schemas::{CounterBatch, Metric, Name, Source, SourceIndex, Sources, Time, job_words};

/// Jobs that report.
pub(super) struct Reported(Vec<Reporter>);

struct Reporter {
    /// Its index in the scenario.
    job: usize,
    report_s: u32,
    source: SourceIndex,
    /// Of its number.
    words: Vec<u64>,
}

impl Reported {
    /// Jobs by their index and number, whose sources `sources` gains.
    pub(super) fn of(
        jobs: impl Iterator<Item = (usize, u64, Steps)>,
        sources: &mut Sources,
    ) -> anyhow::Result<Reported> {
        let metric = Metric::all().find(|metric| metric.is_of_jobs());
        let metric =
            metric.ok_or_else(|| anyhow::anyhow!("the catalogue has no metric of what jobs report"))?;
        let reporter = |(job, number, steps): (usize, u64, Steps)| {
            let name = Name::parse(&number.to_string())?;
            let words = job_words::pack(&name);
            let words = words.ok_or_else(|| anyhow::anyhow!("the number of job {number} is too long"))?;
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
            anyhow::Ok(Reporter { job, report_s: steps.report_s, source, words: words.into() })
        };
        Ok(Reported(jobs.map(reporter).collect::<anyhow::Result<_>>()?))
    }

    /// Adds the reports that are due at `second`; `made` has the steps of a job that runs.
    pub(super) fn sample(
        &self,
        (second, time): (u32, Time),
        made: impl Fn(usize) -> Option<f64>,
        batch: &mut CounterBatch,
    ) {
        for Reporter { job, source, words, .. } in
            self.0.iter().filter(|of| second.is_multiple_of(of.report_s))
        {
            if let Some(made) = made(*job) {
                let row: Vec<u64> = std::iter::once(made as u64).chain(words.iter().copied()).collect();
                batch.push(*source, time, &row);
            }
        }
    }
}
