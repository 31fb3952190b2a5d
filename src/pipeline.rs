//! Rows to results. Every source goes this way: decode (outside, since lines and messages differ), jobs,
//! detector, results with all drops counted.

use aggregator::jobs::JobBook;
use aggregator::{Decoded, Decoder};
use detector::detector::Detector;
use detector::settings::Settings;
use schemas::{Job, ResultBatch};

/// One process' worth of stages between a source and a sink.
pub struct Pipeline {
    /// Lines to rows; its source counts its drops.
    pub decoder: Decoder,
    /// Rows to results.
    pub detector: Detector,
    jobs: JobBook,
    rows: u64,
}

impl Pipeline {
    /// A pipeline that has seen nothing.
    pub fn new(settings: Settings) -> Pipeline {
        Pipeline {
            decoder: Decoder::default(),
            detector: Detector::new(settings),
            jobs: JobBook::default(),
            rows: 0,
        }
    }

    /// Announces jobs of a job file.
    pub fn declare(&mut self, jobs: Vec<Job>) {
        for job in jobs {
            let job_id = job.job_id.clone();
            self.jobs.declare(job);
            if let Some(job) = self.jobs.get(&job_id) {
                self.detector.job(job);
            }
        }
    }

    /// Takes decoded rows: jobs first, since they say where baselines start anew.
    pub fn feed(&mut self, decoded: &Decoded) {
        for job in self.jobs.fold(&decoded.jobs) {
            self.detector.job(job);
        }
        self.rows += decoded.counters.len() as u64;
        self.detector.rows(self.decoder.sources(), &decoded.counters);
    }

    /// Passes over rows whose results the detector's restored state holds already.
    pub fn pass(&mut self, decoded: &Decoded) {
        self.jobs.fold(&decoded.jobs);
        self.rows += decoded.counters.len() as u64;
    }

    /// Rows of counters taken so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What became known since the last call, with the drops of all stages.
    pub fn take(&mut self) -> ResultBatch {
        let mut batch = self.detector.take();
        batch.drops.add(self.decoder.drops());
        batch
    }
}
