//! How much progress each job may report, so that none harms the others.

use crate::runtime::limits;
use configuration::sections::Limits;
use schemas::Name;
use schemas::progress_report::Report;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// What was not reported for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);
/// Time between two looks for jobs to forget; while the book is full.
const LOOK_FULL: Duration = Duration::from_secs(1);
/// The same while it is not.
const LOOK: Duration = Duration::from_secs(60);
/// A job may be ahead of its rate by so much.
const AHEAD_MAX: Duration = Duration::from_secs(1);

/// The quotas of all jobs that report. Times are since the start of the process.
pub(super) struct Quotas {
    limits: Limits,
    jobs: HashMap<Name, JobQuota>,
    looked: Duration,
}

/// Why reports are refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// One sentence, with the limit.
    pub why: String,
    /// When they may be sent again.
    pub after: Duration,
}

/// What one job reported.
#[derive(Default)]
struct JobQuota {
    latest: Duration,
    /// Until when its reports would last at the allowed rate.
    used_until: Duration,
    names: Seen<String>,
    ranks: Seen<u32>,
}

/// When each was seen last.
#[derive(Default)]
struct Seen<K>(BTreeMap<K, Duration>);

impl Quotas {
    pub fn new(limits: &Limits) -> Quotas {
        Quotas { limits: limits.clone(), jobs: HashMap::new(), looked: Duration::ZERO }
    }

    /// Counts the reports of a request, or none of them.
    ///
    /// # Errors
    /// The limit that they exceed.
    pub fn take(&mut self, job: &Name, reports: &[Report], now: Duration) -> Result<(), Refusal> {
        let (is_new, most) = (!self.jobs.contains_key(job), self.limits.progress_jobs);
        self.forget(now, is_new && self.jobs.len() >= most);
        if is_new && self.jobs.len() >= most {
            return Err(full("jobs report progress here", "progress_jobs", most));
        }
        let quota = self.jobs.entry(job.clone()).or_default();
        let taken = quota.take(reports, &self.limits, now);
        limits::note("progress_jobs", self.jobs.len(), most);
        taken
    }

    /// Forgets jobs that were silent for long.
    fn forget(&mut self, now: Duration, is_full: bool) {
        let pause = if is_full { LOOK_FULL } else { LOOK };
        if now.saturating_sub(self.looked) >= pause {
            self.looked = now;
            self.jobs.retain(|_, quota| now.saturating_sub(quota.latest) < FORGOTTEN_AFTER);
        }
    }
}

impl JobQuota {
    fn take(&mut self, reports: &[Report], limits: &Limits, now: Duration) -> Result<(), Refusal> {
        self.latest = now;
        let per_s = limits.progress_per_s;
        let wait = self.used_until.saturating_sub(now + AHEAD_MAX);
        if !wait.is_zero() {
            let why = format!("the job reports more than limits.progress_per_s = {per_s} counts a second");
            return Err(Refusal { why, after: wait });
        }
        let names: BTreeSet<String> = reports.iter().map(|report| report.name.clone()).collect();
        let ranks: BTreeSet<u32> = reports.iter().map(|report| report.rank).collect();
        if !self.names.has_room(&names, limits.progress_names, now) {
            return Err(full("names of the job are counted", "progress_names", limits.progress_names));
        }
        if !self.ranks.has_room(&ranks, limits.progress_ranks, now) {
            return Err(full("ranks of the job report", "progress_ranks", limits.progress_ranks));
        }
        self.names.note(names, now);
        self.ranks.note(ranks, now);
        self.used_until =
            self.used_until.max(now) + Duration::from_secs(1) * reports.len() as u32 / per_s as u32;
        let used = (self.used_until - now).as_secs_f64() * per_s as f64;
        limits::note_largest("progress_per_s", used.round() as usize, per_s);
        limits::note_largest("progress_names", self.names.0.len(), limits.progress_names);
        limits::note_largest("progress_ranks", self.ranks.0.len(), limits.progress_ranks);
        Ok(())
    }
}

fn full(what: &str, limit: &str, most: usize) -> Refusal {
    Refusal { why: format!("{most} {what}, which is limits.{limit}"), after: FORGOTTEN_AFTER }
}

impl<K: Ord> Seen<K> {
    /// Whether `keys` may be added to those that were seen lately.
    fn has_room(&mut self, keys: &BTreeSet<K>, most: usize, now: Duration) -> bool {
        let fresh = keys.iter().filter(|key| !self.0.contains_key(key)).count();
        if self.0.len() + fresh > most {
            self.0.retain(|key, seen| keys.contains(key) || now.saturating_sub(*seen) < FORGOTTEN_AFTER);
        }
        self.0.len() + fresh <= most
    }

    fn note(&mut self, keys: BTreeSet<K>, now: Duration) {
        self.0.extend(keys.into_iter().map(|key| (key, now)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use configuration::RunConfig;

    fn quotas() -> Quotas {
        let mut limits = RunConfig::load(None).unwrap().limits;
        limits.progress_jobs = 2;
        limits.progress_names = 2;
        limits.progress_ranks = 2;
        limits.progress_per_s = 10;
        Quotas::new(&limits)
    }

    fn report(name: &str, rank: u32) -> Report {
        Report { name: name.to_string(), count: 1, rank, time_s: None }
    }

    fn take(quotas: &mut Quotas, job: &str, reports: &[Report], at_s: f64) -> Result<(), (String, f64)> {
        let taken = quotas.take(&Name::parse(job).unwrap(), reports, Duration::from_secs_f64(at_s));
        taken.map_err(|refusal| (refusal.why, refusal.after.as_secs_f64()))
    }

    #[test]
    fn a_job_that_reports_too_often_waits_and_another_does_not() {
        let mut quotas = quotas();
        let many = vec![report("steps", 0); 30];
        take(&mut quotas, "1", &many, 5.0).unwrap();
        let (why, after) = take(&mut quotas, "1", &many[..1], 5.0).unwrap_err();
        assert!(why.contains("limits.progress_per_s = 10") && after == 2.0, "{why} {after}");
        take(&mut quotas, "2", &many[..1], 5.0).unwrap();
        assert!(take(&mut quotas, "1", &many[..1], 6.9).is_err());
        take(&mut quotas, "1", &many[..1], 7.0).unwrap();
    }

    #[test]
    fn ten_reports_a_second_are_taken_for_ever_and_eleven_are_not() {
        for (each_second, refused) in [(10, false), (11, true)] {
            let mut quotas = quotas();
            let reports = vec![report("steps", 0); each_second];
            let is_refused =
                (0..100).any(|second| take(&mut quotas, "1", &reports, f64::from(second)).is_err());
            assert_eq!(is_refused, refused, "{each_second}");
        }
    }

    #[test]
    fn further_names_and_ranks_are_refused_until_others_are_forgotten() {
        let mut quotas = quotas();
        take(&mut quotas, "1", &[report("steps", 0), report("bytes", 1)], 0.0).unwrap();
        assert!(take(&mut quotas, "1", &[report("files", 0)], 1.0).unwrap_err().0.contains("progress_names"));
        assert!(take(&mut quotas, "1", &[report("steps", 2)], 2.0).unwrap_err().0.contains("progress_ranks"));
        take(&mut quotas, "1", &[report("steps", 0)], 200.0).unwrap();
        assert!(take(&mut quotas, "1", &[report("files", 0)], 299.0).is_err());
        take(&mut quotas, "1", &[report("files", 2)], 300.0).unwrap();
        assert!(take(&mut quotas, "1", &[report("bytes", 0)], 301.0).is_err(), "steps are counted still");
    }

    #[test]
    fn a_refused_request_counts_nothing() {
        let mut quotas = quotas();
        take(&mut quotas, "1", &[report("steps", 0)], 0.0).unwrap();
        let three = [report("bytes", 1), report("bytes", 2), report("bytes", 3)];
        assert!(take(&mut quotas, "1", &three, 0.0).is_err());
        take(&mut quotas, "1", &[report("files", 1)], 0.0).unwrap();
    }

    #[test]
    fn further_jobs_are_refused_until_others_are_forgotten() {
        let mut quotas = quotas();
        for (job, at_s, taken) in [
            ("1", 0.0, true),
            ("2", 100.0, true),
            ("3", 299.0, false),
            ("1", 299.5, true),
            ("3", 399.0, false),
            ("3", 400.0, true),
        ] {
            assert_eq!(take(&mut quotas, job, &[report("steps", 0)], at_s).is_ok(), taken, "{job} at {at_s}");
        }
        assert_eq!(quotas.jobs.len(), 2);
        take(&mut quotas, "3", &[report("steps", 0)], 1_000.0).unwrap();
        assert_eq!(quotas.jobs.len(), 1, "jobs are forgotten where none is new, too");
    }
}
