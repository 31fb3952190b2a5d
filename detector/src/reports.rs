//! The pace of jobs by their own reports: what each got done, in cells of time.

use crate::ingest::reported::Gain;
use crate::jobs::Pace;
use schemas::{Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Jobs whose reports are kept.
const JOBS_MAX: usize = 20_000;
/// Names that are kept of a job.
const NAMES_MAX: usize = 4;
/// Seconds without a report after which those of a job that is not known, or over, are forgotten.
const KEPT_S: f64 = 3_600.0;

/// Reports of all jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reports {
    jobs: BTreeMap<Name, Reported>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Reported {
    latest: Time,
    paces: BTreeMap<Name, Pace>,
}

impl Reports {
    /// Adds what a job got done. Further names of a job, and further jobs, are not kept where there are too many; whether it was
    /// kept.
    pub fn add(&mut self, gain: &Gain) -> bool {
        if self.jobs.len() >= JOBS_MAX && !self.jobs.contains_key(&gain.job_id) {
            return false;
        }
        let reported = self.jobs.entry(gain.job_id.clone()).or_default();
        if reported.paces.len() >= NAMES_MAX && !reported.paces.contains_key(&gain.name) {
            return false;
        }
        reported.latest = reported.latest.max(gain.to);
        reported.paces.entry(gain.name.clone()).or_default().add(gain.from, gain.to, gain.count as f64);
        true
    }

    /// What a job reported, by name.
    pub fn of(&self, job_id: &Name) -> impl Iterator<Item = (&Name, &Pace)> {
        self.jobs.get(job_id).into_iter().flat_map(|reported| &reported.paces)
    }

    /// Forgets reports of jobs that are not `kept`, an hour after their last.
    pub fn forget(&mut self, now: Time, kept: impl Fn(&Name) -> bool) {
        self.jobs.retain(|job_id, reported| kept(job_id) || now.seconds_since(reported.latest) <= KEPT_S);
    }

    /// Jobs whose reports are kept.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }
}
