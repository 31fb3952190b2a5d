//! The pace of jobs by their own reports: what each got done, in cells of time.

use crate::ingest::reported::Gain;
use crate::jobs::Pace;
use schemas::{Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Jobs whose reports are kept.
const JOBS_MAX: usize = 10_000;
/// Names that are kept of a job.
const NAMES_MAX: usize = 8;
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

    /// What a job reported, by name; of a run of a requeued job what all runs did, under the number that they share.
    pub fn of(&self, job_id: &Name) -> impl Iterator<Item = (&Name, &Pace)> {
        let found = Name::parse(number_of(job_id.as_str())).ok().and_then(|number| self.jobs.get(&number));
        found.into_iter().flat_map(|reported| &reported.paces)
    }

    /// Forgets reports of jobs other than those `kept`, an hour after their last.
    pub fn forget<'a>(&mut self, now: Time, kept: impl Iterator<Item = &'a Name>) {
        let kept: HashSet<&str> = kept.map(|job_id| number_of(job_id.as_str())).collect();
        self.jobs.retain(|job_id, reported| {
            kept.contains(job_id.as_str()) || now.seconds_since(reported.latest) <= KEPT_S
        });
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

/// The number of a job without that of its run: later runs of a requeued job have `.r1`, `.r2`, … behind it.
fn number_of(job_id: &str) -> &str {
    match job_id.rsplit_once(".r") {
        Some((number, run)) if !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit()) => number,
        _ => job_id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_requeued_job_share_its_reports() {
        let mut reports = Reports::default();
        let name = |text: &str| Name::parse(text).unwrap();
        let at = Time::from_seconds;
        let gain = Gain { job_id: name("42"), name: name("steps"), from: at(10.0), to: at(11.0), count: 3 };
        assert!(reports.add(&gain));
        for (job_id, wanted) in [("42", 1), ("42.r1", 1), ("42.r", 0), ("43", 0)] {
            assert_eq!(reports.of(&name(job_id)).count(), wanted, "{job_id}");
        }
        reports.forget(at(10_000.0), std::iter::once(&name("42.r2")));
        assert_eq!(reports.len(), 1);
        reports.forget(at(10_000.0), std::iter::once(&name("43")));
        assert!(reports.is_empty());
    }
}
