//! The detector's jobs: where baselines start anew, which series are whose, what was lost.

use super::Detector;
use crate::jobs::{self, Facts};
use schemas::{Job, JobResult, Metric, Name, SeriesIndex, Time};

/// A job row that comes this many seconds after the job's start still starts its nodes anew.
const JOB_ROW_DELAY_S: f64 = 10.0;
/// Seconds after its end in which a job's result may still change: episodes settle, rows come late.
const JOB_SETTLES_S: f64 = 300.0;

impl Detector {
    pub(super) fn set_boundary(&mut self, series: SeriesIndex, node: &Name) {
        let last = self.coverage.last(series).unwrap_or(Time::MIN);
        let from = last.plus_seconds(-JOB_ROW_DELAY_S);
        let next = self.jobs.boundaries(node).into_iter().find(|t| *t > from);
        self.series[series.at()].next_boundary = next.unwrap_or(Time(i64::MAX));
    }

    pub(super) fn pass_boundary(&mut self, series: SeriesIndex, time: Time) {
        let node = &self.ingest.series()[series.at()].component;
        let next = self.jobs.boundaries(node).into_iter().find(|t| *t > time);
        self.series[series.at()].next_boundary = next.unwrap_or(Time(i64::MAX));
    }
    /// Series that belong to a node alone; a router's links serve many.
    pub(super) fn node_series(&self, node: &Name) -> Vec<SeriesIndex> {
        let of = |metric| self.ingest.series_of(metric, node);
        let mut series = of(Metric::LustreWriteRate);
        series.extend(of(Metric::IbWaitRatio));
        series.retain(|s| s.at() < self.series.len());
        series
    }

    /// Results of all jobs, as far as the data reaches.
    pub fn job_results(&self) -> Vec<JobResult> {
        let all = self.jobs.all().map(|job| self.result_of(job, &self.series_of_job(job)));
        all.collect()
    }

    pub(super) fn result_of(&self, job: &Job, series: &[SeriesIndex]) -> JobResult {
        let facts = Facts {
            series,
            table: self.ingest.series(),
            episodes: &self.episodes,
            coverage: &self.coverage,
            now: self.ingest.newest().unwrap_or(job.start),
            tick_s: self.settings.stream.tick_s,
        };
        jobs::result(job, &facts)
    }

    /// Results of the jobs that can still change, and the series newly assigned to them.
    pub(super) fn news_of_jobs(&mut self) -> (Vec<JobResult>, Vec<(Name, SeriesIndex)>) {
        let Some(now) = self.ingest.newest() else { return (Vec::new(), Vec::new()) };
        let mut results = Vec::new();
        let mut new = Vec::new();
        let settled = |job: &&Job| job.end.is_some_and(|end| now.seconds_since(end) > JOB_SETTLES_S);
        for job in self.jobs.all().filter(|job| self.finished || !settled(job)) {
            let series = self.series_of_job(job);
            results.push(self.result_of(job, &series));
            let pairs = series.into_iter().map(|s| (job.job_id.clone(), s));
            new.extend(pairs.filter(|pair| !self.assigned.contains(pair)));
        }
        self.assigned.extend(new.iter().cloned());
        (results, new)
    }

    /// A job's own nodes' series, and the routers (as a whole) that its nodes hang on.
    pub(super) fn series_of_job(&self, job: &Job) -> Vec<SeriesIndex> {
        let mut series: Vec<SeriesIndex> = Vec::new();
        for node in &job.nodes {
            series.extend(self.node_series(node));
            for router in self.ingest.routers_of(node) {
                let all = self.ingest.series_of(Metric::AriesStallRatio, &router);
                series.extend(all.into_iter().filter(|s| self.ingest.series()[s.at()].part.is_none()));
            }
        }
        series.sort();
        series.dedup();
        series
    }
}
