//! What servers count by job: rows of one target (an OST or MDT) and one job each, made into rates.
//!
//! LDMS writes such a row when the server has counted something for the job. So a job without rows is idle while the target has
//! rows of other jobs, and a job that is new counts from 0.

use schemas::job_words::{self, JOB_WORDS};
use schemas::{DropCounts, DropReason, Metric, NOT_MEASURED, Name, Source};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Jobs of targets that are kept. One ends when it has had no row for so many ticks: a server forgets an idle job after ten minutes.
const KEPT_MAX: usize = 100_000;
const KEPT_TICKS: i64 = 900;
/// Ticks between two looks for such jobs.
const TIDIED_TICKS: i64 = 60;
/// Rows that wait, and ticks after which one waits no longer.
const WAITING_MAX: usize = 200_000;
const WAITING_TICKS: i64 = 30;
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

/// The rows of all targets that wait for older ones, and the latest counters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServedCounters {
    targets: BTreeMap<Name, Target>,
    jobs: usize,
    waiting: usize,
    tidied: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Target {
    /// What describes its rows.
    source: Source,
    newest: i64,
    /// Up to here rows were used; older ones are late.
    settled: i64,
    /// Rows by tick and job.
    waiting: BTreeMap<(i64, Name), Vec<u64>>,
    /// Its latest tick among the rows used, and the one with rows before that.
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
    /// Takes a row of a source by job at a tick. Within `late_ticks` the order in which rows arrive changes nothing.
    ///
    /// # Errors
    /// Why the row is not used.
    pub fn row(
        &mut self,
        source: &Source,
        (tick, late_ticks): (i64, i64),
        row: &[u64],
    ) -> Result<(), DropReason> {
        let (counters, words) = row.split_last_chunk::<JOB_WORDS>().ok_or(DropReason::BadValue)?;
        let job_id = job_words::unpack(words).ok_or(DropReason::BadName)?;
        let name = source.set.as_ref().ok_or(DropReason::MissingColumn)?;
        if self.waiting >= WAITING_MAX {
            return Err(DropReason::BufferFull);
        }
        let target = self.targets.entry(name.clone()).or_insert_with(|| Target::new(source, tick));
        if tick <= target.settled || tick < target.newest - late_ticks {
            return Err(DropReason::Late);
        }
        target.newest = target.newest.max(tick);
        let before = target.waiting.len();
        let waiting = target.waiting.entry((tick, job_id)).or_default();
        // Of two rows within one tick the later one counts, whichever arrives first.
        if counters > waiting.as_slice() {
            *waiting = counters.to_vec();
        }
        self.waiting += target.waiting.len() - before;
        Ok(())
    }

    /// Whether there were rows of the target of a source of late.
    pub fn knows(&self, source: &Source) -> bool {
        source.set.as_ref().is_some_and(|target| self.targets.contains_key(target))
    }

    /// Whether there were rows of a file system.
    pub fn has(&self, mount: &Name) -> bool {
        self.targets.values().any(|target| target.source.parts.first() == Some(mount))
    }

    /// Uses the rows up to a tick, and those that wait for long; ticks have `tick_s` seconds. `out` gains the rates.
    pub fn settle(&mut self, until: i64, tick_s: f64, drops: &mut DropCounts, out: &mut Vec<ServedRate>) {
        for target in self.targets.values_mut() {
            let until = until.max(target.newest - WAITING_TICKS);
            while let Some(row) = target.waiting.first_entry().filter(|row| row.key().0 <= until) {
                self.waiting -= 1;
                let ((tick, job_id), counters) = row.remove_entry();
                let known = target.jobs.len();
                let has_room = self.jobs < KEPT_MAX || target.jobs.contains_key(&job_id);
                let outcome = match has_room {
                    true => target.use_row(tick, job_id, counters, tick_s, out),
                    false => Err(DropReason::BufferFull),
                };
                self.jobs += target.jobs.len() - known;
                outcome.unwrap_or_else(|reason| drops.count(reason));
            }
            target.settled = target.settled.max(until);
        }
        self.tidy(until);
    }

    fn tidy(&mut self, tick: i64) {
        if tick - self.tidied < TIDIED_TICKS {
            return;
        }
        self.tidied = tick;
        for target in self.targets.values_mut() {
            target.jobs.retain(|_, latest| tick - latest.tick < KEPT_TICKS);
        }
        self.targets.retain(|_, target| !target.jobs.is_empty() || !target.waiting.is_empty());
        self.jobs = self.targets.values().map(|target| target.jobs.len()).sum();
    }
}

impl Target {
    fn new(source: &Source, tick: i64) -> Target {
        Target {
            source: source.clone(),
            newest: tick,
            settled: i64::MIN,
            waiting: BTreeMap::new(),
            tick: i64::MIN,
            before: i64::MIN,
            jobs: HashMap::new(),
        }
    }

    /// Uses a row that is not older than those used before.
    fn use_row(
        &mut self,
        tick: i64,
        job_id: Name,
        counters: Vec<u64>,
        tick_s: f64,
        out: &mut Vec<ServedRate>,
    ) -> Result<(), DropReason> {
        let Some((since, last)) = self.latest(tick, &job_id, &counters) else { return Ok(()) };
        let seconds = (tick - since) as f64 * tick_s;
        let Some(mount) = self.source.parts.first() else { return Err(DropReason::MissingColumn) };
        let mut outcome = Ok(());
        for (at, (metric, _)) in self.source.series().enumerate() {
            let columns = self.source.columns_of(at);
            let (Some(now), Some(last)) = (counters.get(columns.clone()), last.get(columns)) else {
                return Err(DropReason::MissingColumn);
            };
            let counted = now.iter().zip(last).map(|(now, last)| gained(*now, *last));
            let per_s = counted.fold(0, u64::saturating_add) as f64 / seconds;
            if per_s > metric.reading().most_per_s {
                outcome = Err(DropReason::Implausible);
            } else if per_s > 0.0 {
                let (mount, job_id) = (mount.clone(), job_id.clone());
                out.push(ServedRate { mount, metric, job_id, ticks: [since, tick], per_s });
            }
        }
        outcome
    }

    /// Keeps the counters of a job. The tick since which they grew, and what they were then; `None` where this is not known.
    fn latest(&mut self, tick: i64, job_id: &Name, counters: &[u64]) -> Option<(i64, Vec<u64>)> {
        if tick > self.tick {
            (self.before, self.tick) = (self.tick, tick);
        }
        let is_followed = tick.saturating_sub(self.before) <= SILENT_TICKS;
        let latest = Latest { tick, counters: counters.to_vec() };
        match self.jobs.insert(job_id.clone(), latest) {
            Some(known) => Some((known.tick.max(self.before), known.counters)),
            None => is_followed.then(|| (self.before, vec![0; counters.len()])),
        }
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

        fn push(&mut self, tick: i64, job: &str, bytes: u64) -> Result<(), DropReason> {
            let mut row = vec![bytes];
            row.extend(job_words::pack(&name(job)).unwrap());
            self.0.row(&self.1, (tick, 3), &row)
        }

        /// What a row of a job gives, once it is used: the ticks and bytes a second.
        fn row(&mut self, tick: i64, job: &str, bytes: u64) -> Option<([i64; 2], f64)> {
            self.push(tick, job, bytes).unwrap();
            let (mut out, mut drops) = (Vec::new(), DropCounts::default());
            // The row before: others of its tick may follow.
            self.0.settle(tick - 1, 1.0, &mut drops, &mut out);
            let mut later = self.0.clone();
            later.settle(tick, 1.0, &mut drops, &mut out);
            out.iter().rfind(|rate| rate.job_id == name(job)).map(|rate| (rate.ticks, rate.per_s))
        }
    }

    #[test]
    fn order_of_arrival_within_the_lateness_changes_nothing() {
        let rows = [(100, "1", 0), (101, "1", 50), (102, "1", 80), (102, "2", 7), (103, "1", 90)];
        let found = |order: [usize; 5]| {
            let mut server = Server::new();
            for at in order {
                let (tick, job, bytes) = rows[at];
                server.push(tick, job, bytes).unwrap();
            }
            let (mut out, mut drops) = (Vec::new(), DropCounts::default());
            server.0.settle(103, 1.0, &mut drops, &mut out);
            (out, server.push(103, "1", 95), server.0.waiting)
        };
        let in_order = found([0, 1, 2, 3, 4]);
        assert_eq!((in_order.0.len(), in_order.1, in_order.2), (4, Err(DropReason::Late), 0));
        assert_eq!(found([4, 3, 1, 2, 0]), in_order);
        let mut server = Server::new();
        server.push(110, "1", 0).unwrap();
        assert_eq!(server.push(106, "1", 0), Err(DropReason::Late));
    }

    #[test]
    fn what_a_job_counted_before_it_was_seen_is_left_out() {
        let mut server = Server::new();
        assert_eq!(server.row(100, "1", 5_000), None);
        assert_eq!(server.row(101, "1", 6_000), Some(([100, 101], 1_000.0)));
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
        server.row(100, "2", 0);
        for tick in 100..120 {
            server.row(tick, "1", 0);
        }
        assert_eq!(server.row(120, "2", 400), Some(([119, 120], 400.0)));
        assert_eq!(server.row(124, "2", 1_200), Some(([120, 124], 200.0)));
    }

    #[test]
    fn counter_that_fell_began_again_and_old_jobs_end() {
        let mut server = Server::new();
        server.row(100, "1", 5_000);
        assert_eq!(server.row(101, "1", 300), Some(([100, 101], 300.0)));
        let later = 101 + KEPT_TICKS + TIDIED_TICKS;
        server.row(later, "2", 0);
        server.row(later + 2 * TIDIED_TICKS, "2", 0);
        assert_eq!(server.0.jobs, 1);
    }

    #[test]
    fn rate_beyond_what_hardware_can_do_is_dropped() {
        let mut server = Server::new();
        server.row(100, "1", 0);
        server.push(101, "1", u64::MAX - 1).unwrap();
        let (mut out, mut drops) = (Vec::new(), DropCounts::default());
        server.0.settle(101, 1.0, &mut drops, &mut out);
        assert_eq!((drops.get(DropReason::Implausible), out), (1, Vec::new()));
    }
}
