//! What rows and job events go through once they are in the order of time: jobs, detector, links.

use super::DetectingSettings;
use crate::links::{LinkUpdates, ReadUpTo};
use aggregator::JobBook;
use detector::detector::Detector;
use detector::inbox::Outlet;
use schemas::{CounterBatch, Job, JobEvent, Sources, Time};
use serde::{Deserialize, Serialize};

/// What rows go through once they are in order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ordered {
    pub(super) jobs: JobBook,
    pub(super) detector: Detector,
    pub(super) links: LinkUpdates,
    partition: i32,
    /// Rows taken so far.
    pub(super) rows: u64,
    /// Jobs that ended before this time are not kept.
    pub(super) over: Time,
}

/// What rows go through, with the sources that they are about.
pub(super) struct Downstream<'a> {
    pub(super) ordered: &'a mut Ordered,
    pub(super) sources: &'a Sources,
}

impl Outlet for Downstream<'_> {
    fn rows(&mut self, rows: &CounterBatch) {
        self.ordered.rows += rows.len() as u64;
        self.ordered.detector.rows(self.sources, rows);
    }

    fn jobs(&mut self, events: &[JobEvent]) {
        let current = self.ordered.pass_old_jobs(events);
        if self.ordered.partition == 0 && self.ordered.detector.watches_links() {
            self.ordered.links.jobs(&current);
        }
        // Each of the thousands of nodes of a job reports it: the detector takes it once.
        for job in self.ordered.jobs.fold(&current) {
            self.ordered.detector.job(job);
        }
    }
}

impl Ordered {
    /// Nothing was taken yet.
    pub(super) fn new(partition: i32, settings: &DetectingSettings) -> Ordered {
        let mut detector = Detector::new(settings.settings.clone());
        if settings.links {
            detector.watch_links();
        }
        let stream = &settings.settings.stream;
        Ordered {
            jobs: JobBook::new(settings.settings.jobs_max),
            detector,
            links: LinkUpdates::new(stream.tick_s, stream.lateness_s),
            partition,
            rows: 0,
            over: Time::MIN,
        }
    }

    /// Takes a job of a job file.
    pub(super) fn declare(&mut self, job: Job) {
        let job_id = job.job_id.clone();
        if self.detector.watches_links() {
            self.links.declare(job.clone());
        }
        self.jobs.declare(job);
        if let Some(job) = self.jobs.get(&job_id) {
            self.detector.job(job);
        }
    }

    /// The time of the stream, all partitions being read up to `watermark`; `None` before the first row.
    pub(super) fn stream_time(&self, watermark: Time) -> Option<Time> {
        Some(self.detector.newest()?.min(watermark))
    }

    /// The whole stream was read up to `watermark`: links of complete seconds, silences, old jobs. Returns whether it
    /// looked for jobs to forget.
    pub(super) fn read_up_to(&mut self, watermark: Time) -> bool {
        let read = ReadUpTo { watermark, newest: self.detector.newest(), rows: self.rows };
        if self.detector.watches_links()
            && let Some(until) = self.links.progress(read)
        {
            let ticks = self.detector.take_links(until);
            self.links.ticks(ticks, self.detector.series());
        }
        self.detector.give_up_silent();
        self.detector.look_for_silence(watermark);
        self.forget_jobs(watermark, read.newest)
    }
}
