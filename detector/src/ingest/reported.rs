//! What jobs report of their own progress: a counter for each name and rank of a job, made into gains between two reports.
//!
//! A job counts for itself, in whatever steps: reports come as its steps end. They move no clock, and one that fails to come is no
//! silence.

use schemas::job_words::{self, JOB_WORDS};
use schemas::{DropReason, Name, Time};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Counters that are kept, of all jobs.
const KEPT_MAX: usize = 100_000;
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

/// The latest count of each counter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReportedCounters {
    /// By job and part, which is the name and the rank.
    latest: HashMap<(Name, Name), (Time, u64)>,
    tidied: Time,
}

impl ReportedCounters {
    /// Takes a row of `part`: the counter and the words of its job. `None`: there is no earlier report to compare with.
    ///
    /// # Errors
    /// Why the row, or the time before it, is not used.
    pub fn row(&mut self, part: &Name, time: Time, row: &[u64]) -> Result<Option<Gain>, DropReason> {
        let (counters, words) = row.split_last_chunk::<JOB_WORDS>().ok_or(DropReason::BadValue)?;
        let job_id = job_words::unpack(words).ok_or(DropReason::BadName)?;
        let count = *counters.first().ok_or(DropReason::BadValue)?;
        self.tidy(time);
        let key = (job_id, part.clone());
        let Some((last, counted)) = self.latest.get(&key).copied() else {
            if self.latest.len() >= KEPT_MAX {
                return Err(DropReason::BufferFull);
            }
            self.latest.insert(key, (time, count));
            return Ok(None);
        };
        if time <= last {
            return Err(if time == last { DropReason::Duplicate } else { DropReason::Late });
        }
        self.latest.insert(key.clone(), (time, count));
        let count = count.checked_sub(counted).ok_or(DropReason::CounterReset)?;
        let (job_id, part) = key;
        let name =
            part.as_str().rsplit_once('.').and_then(|(name, _)| Name::parse(name).ok()).unwrap_or(part);
        let is_near = time.seconds_since(last) <= GAP_MAX_S;
        Ok(is_near.then_some(Gain { job_id, name, from: last, to: time, count }))
    }

    /// Counters that are kept.
    pub fn len(&self) -> usize {
        self.latest.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.latest.is_empty()
    }

    fn tidy(&mut self, now: Time) {
        if now.seconds_since(self.tidied) >= TIDIED_S {
            self.tidied = now;
            self.latest.retain(|_, (last, _)| now.seconds_since(*last) <= GAP_MAX_S);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn report(
        book: &mut ReportedCounters,
        second: f64,
        part: &str,
        count: u64,
    ) -> Result<Option<Gain>, DropReason> {
        let mut row = vec![count];
        row.extend(job_words::pack(&name("42")).unwrap());
        book.row(&name(part), Time::from_seconds(second), &row)
    }

    #[test]
    fn two_reports_of_one_rank_make_a_gain() {
        let mut book = ReportedCounters::default();
        assert_eq!(report(&mut book, 100.0, "steps.0", 7), Ok(None));
        assert_eq!(report(&mut book, 101.0, "steps.1", 900), Ok(None));
        let gain = report(&mut book, 130.5, "steps.0", 10).unwrap().unwrap();
        assert_eq!((gain.job_id, gain.name, gain.count), (name("42"), name("steps"), 3));
        assert_eq!(gain.to.seconds_since(gain.from), 30.5);
    }

    #[test]
    fn late_repeated_and_reset_reports_make_none() {
        let mut book = ReportedCounters::default();
        report(&mut book, 100.0, "steps.0", 7).unwrap();
        assert_eq!(report(&mut book, 100.0, "steps.0", 8), Err(DropReason::Duplicate));
        assert_eq!(report(&mut book, 99.0, "steps.0", 8), Err(DropReason::Late));
        assert_eq!(report(&mut book, 101.0, "steps.0", 2), Err(DropReason::CounterReset));
        assert_eq!(report(&mut book, 102.0, "steps.0", 5).unwrap().map(|gain| gain.count), Some(3));
    }

    #[test]
    fn a_counter_ends_after_a_long_pause() {
        let mut book = ReportedCounters::default();
        report(&mut book, 100.0, "steps.0", 7).unwrap();
        assert_eq!(report(&mut book, 2_000.0, "steps.0", 9), Ok(None));
        report(&mut book, 4_000.0, "other.0", 1).unwrap();
        assert_eq!(book.len(), 1);
    }
}
