//! What servers count by job: rows of one target (an OST or MDT) and one job each, made into rates.
//!
//! LDMS writes such a row when the server has counted something for the job. So a job without rows is idle while the target has
//! rows of other jobs, and a job that is new counts from 0.

use schemas::job_words::{self, JOB_WORDS};
use schemas::{DropReason, Metric, NOT_MEASURED, Name, Source};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Jobs of targets that are kept. One ends when it has had no row for so many ticks: a server forgets an idle job after ten minutes.
const KEPT_MAX: usize = 100_000;
const KEPT_TICKS: i64 = 900;
/// Ticks between two looks for such jobs.
const TIDIED_TICKS: i64 = 60;
/// Ticks without rows after which a target's jobs may have counted before they were seen.
const SILENT_TICKS: i64 = 10;

/// What a job moved on a file system by the counters of one target.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedRate {
    /// The file system.
    pub mount: Name,
    /// By what metric.
    pub metric: Metric,
    /// The job.
    pub job_id: Name,
    /// Ticks that the rate is of: those behind the first, up to the last.
    pub ticks: [i64; 2],
    /// In the metric's unit.
    pub per_s: f64,
}

/// The latest counters of all targets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServedCounters {
    targets: HashMap<Name, Target>,
    jobs: usize,
    tidied: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Target {
    /// Its latest tick, and the one with rows before that.
    tick: i64,
    before: i64,
    jobs: HashMap<Name, Latest>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Latest {
    tick: i64,
    counters: Vec<u64>,
}

impl ServedCounters {
    /// Takes a row of a source by job at a tick, of `tick_s` seconds; `out` gains the rates.
    ///
    /// # Errors
    /// Why the row, or a part of it, was not used.
    pub fn row(
        &mut self,
        source: &Source,
        (tick, tick_s): (i64, f64),
        row: &[u64],
        out: &mut Vec<ServedRate>,
    ) -> Result<(), DropReason> {
        let (counters, words) = row.split_last_chunk::<JOB_WORDS>().ok_or(DropReason::BadValue)?;
        let job_id = job_words::unpack(words).ok_or(DropReason::BadName)?;
        let (Some(target), Some(mount)) = (&source.set, source.parts.first()) else {
            return Err(DropReason::MissingColumn);
        };
        let Some((since, last)) = self.latest(target, &job_id, tick, counters)? else { return Ok(()) };
        let seconds = (tick - since) as f64 * tick_s;
        let mut outcome = Ok(());
        for (at, (metric, _)) in source.series().enumerate() {
            let columns = source.columns_of(at);
            let counted = counters[columns.clone()].iter().zip(&last[columns]);
            let per_s = counted.map(|(now, last)| gained(*now, *last)).sum::<u64>() as f64 / seconds;
            if per_s > metric.reading().most_per_s {
                outcome = Err(DropReason::Implausible);
            } else if per_s > 0.0 {
                let (mount, job_id) = (mount.clone(), job_id.clone());
                out.push(ServedRate { mount, metric, job_id, ticks: [since, tick], per_s });
            }
        }
        outcome
    }

    /// Keeps the counters of a job of a target. The tick since which they grew, and what they were then; `None` where this is not
    /// known, or the row is not newer.
    fn latest(
        &mut self,
        target: &Name,
        job_id: &Name,
        tick: i64,
        counters: &[u64],
    ) -> Result<Option<(i64, Vec<u64>)>, DropReason> {
        self.tidy(tick);
        let new = || Target { tick, before: i64::MIN, jobs: HashMap::new() };
        let target = self.targets.entry(target.clone()).or_insert_with(new);
        if tick > target.tick {
            (target.before, target.tick) = (target.tick, tick);
        }
        let is_followed = tick.saturating_sub(target.before) <= SILENT_TICKS;
        let latest = Latest { tick, counters: counters.to_vec() };
        match target.jobs.get_mut(job_id) {
            Some(known) if known.tick >= tick => Ok(None),
            Some(known) => {
                let since = known.tick.max(target.before.min(tick - 1));
                Ok(Some((since, std::mem::replace(known, latest).counters)))
            }
            None if self.jobs >= KEPT_MAX => Err(DropReason::BufferFull),
            None => {
                self.jobs += 1;
                target.jobs.insert(job_id.clone(), latest);
                Ok(is_followed.then(|| (target.before, vec![0; counters.len()])))
            }
        }
    }

    fn tidy(&mut self, tick: i64) {
        if tick - self.tidied < TIDIED_TICKS {
            return;
        }
        self.tidied = tick;
        for target in self.targets.values_mut() {
            target.jobs.retain(|_, latest| tick - latest.tick < KEPT_TICKS);
        }
        self.targets.retain(|_, target| !target.jobs.is_empty());
        self.jobs = self.targets.values().map(|target| target.jobs.len()).sum();
    }
}

/// What a counter gained; one that fell began again from 0.
fn gained(now: u64, last: u64) -> u64 {
    match (now, last) {
        (NOT_MEASURED, _) | (_, NOT_MEASURED) => 0,
        _ => now.checked_sub(last).unwrap_or(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    struct Server(ServedCounters, Source);

    impl Server {
        fn new() -> Server {
            let metrics = vec![Metric::from_name("lustre_write_rate").unwrap()];
            let (schema, producer, component) = (name("lustre_ost_job_stats"), name("oss1"), name("oss1"));
            let (set, parts) = (Some(name("scratch-OST0001")), vec![name("scratch")]);
            let by_job = true;
            let source = Source { schema, producer, metrics, component, set, parts, rank: 0, by_job };
            Server(ServedCounters::default(), source)
        }

        /// What a row of a job gives: the ticks and bytes a second.
        fn row(&mut self, tick: i64, job: &str, bytes: u64) -> Option<([i64; 2], f64)> {
            let mut row = vec![bytes];
            row.extend(job_words::pack(&name(job)).unwrap());
            let mut out = Vec::new();
            let outcome = self.0.row(&self.1, (tick, 1.0), &row, &mut out);
            assert_eq!(outcome, Ok(()));
            out.pop().map(|rate| (rate.ticks, rate.per_s))
        }
    }

    #[test]
    fn what_a_job_counted_before_it_was_seen_is_left_out() {
        let mut server = Server::new();
        assert_eq!(server.row(100, "1", 5_000), None);
        assert_eq!(server.row(101, "1", 6_000), Some(([100, 101], 1_000.0)));
        assert_eq!(server.row(101, "1", 6_000), None, "the same row again");
    }

    #[test]
    fn new_job_of_a_target_with_rows_counts_from_0() {
        let mut server = Server::new();
        server.row(100, "1", 5_000);
        server.row(101, "1", 5_000);
        assert_eq!(server.row(101, "2", 700), Some(([100, 101], 700.0)));
        assert_eq!(server.row(150, "3", 700), None, "the target had no rows for long");
    }

    #[test]
    fn idle_time_of_a_job_is_no_part_of_its_rate_but_a_gap_of_the_target_is() {
        let mut server = Server::new();
        for tick in 100..120 {
            server.row(tick, "1", 0);
        }
        server.row(100, "2", 0);
        assert_eq!(server.row(120, "2", 400), Some(([119, 120], 400.0)));
        assert_eq!(server.row(124, "2", 1_200), Some(([120, 124], 200.0)));
    }

    #[test]
    fn counter_that_fell_began_again_and_old_jobs_end() {
        let mut server = Server::new();
        server.row(100, "1", 5_000);
        assert_eq!(server.row(101, "1", 300), Some(([100, 101], 300.0)));
        server.row(101 + KEPT_TICKS + TIDIED_TICKS, "2", 0);
        assert_eq!(server.0.jobs, 1);
    }

    #[test]
    fn rate_beyond_what_hardware_can_do_is_dropped() {
        let mut server = Server::new();
        server.row(100, "1", 0);
        let mut row = vec![u64::MAX - 1];
        row.extend(job_words::pack(&name("1")).unwrap());
        let outcome = server.0.row(&server.1, (101, 1.0), &row, &mut Vec::new());
        assert_eq!(outcome, Err(DropReason::Implausible));
    }
}
