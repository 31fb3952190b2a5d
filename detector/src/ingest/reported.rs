//! What jobs report of their own progress: a counter for each name and rank of a job, made into gains between two reports.
//!
//! A job counts for itself, in whatever steps: reports come as its steps end. They move no clock, and one that fails to come is no
//! silence.

use schemas::job_words::{self, JOB_WORDS};
use schemas::{DropCounts, DropReason, Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Counters that are kept, and reports that wait, of all jobs.
const KEPT_MAX: usize = 100_000;
const WAITING_MAX: usize = 200_000;
/// Seconds between two reports after which nothing is known of the time in between, and without one after which a counter ends.
const GAP_MAX_S: f64 = 900.0;
/// Seconds between two looks for such counters.
const TIDIED_S: f64 = 60.0;

/// What a job got done between two of its reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// The job.
    pub job_id: Name,
    /// What it counts.
    pub name: Name,
    /// Time of the earlier report.
    pub from: Time,
    /// Time of the later one.
    pub to: Time,
    /// By how much its counter grew.
    pub count: u64,
}

/// Reports that wait for earlier ones, and the latest count of each counter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReportedCounters {
    /// Counts by time, job and part, which is the name and the rank.
    waiting: BTreeMap<(Time, Name, Name), u64>,
    /// Up to here reports were used; older ones are late.
    settled: Option<Time>,
    latest: HashMap<(Name, Name), (Time, u64)>,
    newest: Option<Time>,
    tidied: Time,
}

impl ReportedCounters {
    /// Takes a row of `part`: the counter and the words of its job.
    ///
    /// # Errors
    /// Why the row is not used.
    pub fn row(&mut self, part: &Name, time: Time, row: &[u64]) -> Result<(), DropReason> {
        let (counters, words) = row.split_last_chunk::<JOB_WORDS>().ok_or(DropReason::BadValue)?;
        let job_id = job_words::unpack(words).ok_or(DropReason::BadName)?;
        let count = *counters.first().ok_or(DropReason::BadValue)?;
        if Some(time) <= self.settled {
            return Err(DropReason::Late);
        }
        if self.waiting.len() >= WAITING_MAX {
            return Err(DropReason::BufferFull);
        }
        // Of two reports of one time the later one counts, whichever arrives first.
        let waiting = self.waiting.entry((time, job_id, part.clone())).or_default();
        *waiting = count.max(*waiting);
        self.newest = self.newest.max(Some(time));
        Ok(())
    }

    /// Uses the reports up to a time; returns what jobs got done by them.
    pub fn settle(&mut self, until: Time, drops: &mut DropCounts) -> Vec<Gain> {
        let mut gains = Vec::new();
        while let Some(entry) = self.waiting.first_entry().filter(|entry| entry.key().0 <= until) {
            let ((time, job_id, part), count) = entry.remove_entry();
            match self.gain(time, job_id, part, count) {
                Ok(gain) => gains.extend(gain),
                Err(reason) => drops.count(reason),
            }
        }
        self.settled = self.settled.max(Some(until));
        if until.seconds_since(self.tidied) >= TIDIED_S {
            self.tidied = until;
            self.latest.retain(|_, (last, _)| until.seconds_since(*last) <= GAP_MAX_S);
        }
        gains
    }

    /// What a counter gained since its report before; `None` where there is none, or it is too long ago.
    fn gain(&mut self, time: Time, job_id: Name, part: Name, count: u64) -> Result<Option<Gain>, DropReason> {
        let known = self.latest.len();
        let key = (job_id, part);
        if known >= KEPT_MAX && !self.latest.contains_key(&key) {
            return Err(DropReason::BufferFull);
        }
        let Some((last, counted)) = self.latest.insert(key.clone(), (time, count)) else { return Ok(None) };
        let count = count.checked_sub(counted).ok_or(DropReason::CounterReset)?;
        let (job_id, part) = key;
        let name = part.as_str().rsplit_once('.').and_then(|(name, _)| Name::parse(name).ok());
        let gain = Gain { job_id, name: name.unwrap_or(part), from: last, to: time, count };
        Ok((time.seconds_since(last) <= GAP_MAX_S).then_some(gain))
    }

    /// Time of the latest report.
    pub fn newest(&self) -> Option<Time> {
        self.newest
    }

    /// Counters that are kept.
    pub fn len(&self) -> usize {
        self.latest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.latest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    struct Job(ReportedCounters, DropCounts);

    impl Job {
        fn report(&mut self, second: f64, part: &str, count: u64) -> Result<(), DropReason> {
            let mut row = vec![count];
            row.extend(job_words::pack(&name("42")).unwrap());
            self.0.row(&name(part), Time::from_seconds(second), &row)
        }

        fn settle(&mut self, second: f64) -> Vec<(String, f64, u64)> {
            let gains = self.0.settle(Time::from_seconds(second), &mut self.1);
            gains.iter().map(|g| (g.name.to_string(), g.to.seconds_since(g.from), g.count)).collect()
        }
    }

    fn job() -> Job {
        Job(ReportedCounters::default(), DropCounts::default())
    }

    #[test]
    fn two_reports_of_one_rank_make_a_gain_in_any_order_of_arrival() {
        let reports = [(100.0, "steps.0", 7), (101.0, "steps.1", 900), (130.5, "steps.0", 10)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut job = job();
            for at in order {
                let (second, part, count) = reports[at];
                job.report(second, part, count).unwrap();
            }
            assert_eq!(job.settle(130.0), []);
            assert_eq!(job.settle(131.0), [("steps".to_string(), 30.5, 3)]);
        }
    }

    #[test]
    fn late_repeated_and_reset_reports_make_no_gain() {
        let mut job = job();
        job.report(100.0, "steps.0", 7).unwrap();
        job.report(100.0, "steps.0", 7).unwrap();
        assert_eq!(job.settle(100.0), []);
        assert_eq!(job.report(99.0, "steps.0", 8), Err(DropReason::Late));
        job.report(101.0, "steps.0", 2).unwrap();
        job.report(102.0, "steps.0", 5).unwrap();
        assert_eq!(job.settle(103.0), [("steps".to_string(), 1.0, 3)]);
        assert_eq!(job.1.get(DropReason::CounterReset), 1);
    }

    #[test]
    fn a_counter_ends_after_a_long_pause() {
        let mut job = job();
        job.report(100.0, "steps.0", 7).unwrap();
        job.report(2_000.0, "steps.0", 9).unwrap();
        assert_eq!(job.settle(2_000.0), []);
        assert_eq!(job.settle(4_000.0), []);
        assert!(job.0.is_empty());
    }
}
