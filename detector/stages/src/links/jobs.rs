//! Job events, held until their own second of the links is reported.
//!
//! A detector receives job events as far ahead of its links as rows are released at once, which is more while catching up.
//! Results of links must not depend on that: a node whose first row was lost belongs to its job from the second on in which
//! another row names it, wherever the links are.

use aggregator::JobBook;
use detector::fabric::tick::tick_of;
use schemas::{Job, JobEvent, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Seconds after its end for which a job still matters to links.
const OVER_S: f64 = 900.0;

/// Jobs by the events up to a tick of the links.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct JobUpdates {
    book: JobBook,
    /// Events of ticks that are not final yet.
    open: BTreeMap<i64, Vec<JobEvent>>,
    settled: Option<i64>,
    ready: Vec<(i64, Job)>,
    /// The latest tick of those that were made ready.
    latest: Option<i64>,
    /// Jobs that were ready before those.
    taken: u64,
    /// What was known when links began to be watched in this process.
    #[serde(skip)]
    known: Vec<Job>,
}

impl JobUpdates {
    /// Begins with jobs that are known and, at `now`, not long over.
    pub fn begin(&mut self, book: &JobBook, now: Option<Time>) {
        self.book = book.clone();
        let is_over = |job: &Job| job.end.zip(now).is_some_and(|(end, now)| now.seconds_since(end) > OVER_S);
        self.known = self.book.jobs().filter(|job| !is_over(job)).collect();
    }

    /// Takes events; ticks are `tick_s` long, and those up to `final_tick` may have been processed. Events later than the
    /// lateness count from the next tick on.
    pub fn add(&mut self, events: &[JobEvent], tick_s: f64, final_tick: Option<i64>) {
        let mut late = Vec::new();
        for event in events {
            let tick = tick_of(event.time, tick_s);
            if self.settled >= Some(tick) {
                late.push(event.clone());
            } else {
                self.open.entry(tick).or_default().push(event.clone());
            }
        }
        let own = late.iter().map(|event| tick_of(event.time, tick_s)).min();
        if let Some(own) = own {
            self.fold(final_tick.map_or(own, |tick| own.max(tick + 1)), &late);
        }
    }

    /// Takes a job of a job file, which is valid from the beginning.
    pub fn declare(&mut self, job: Job) {
        let job_id = job.job_id.clone();
        self.book.declare(job);
        self.ready.extend(self.book.get(&job_id).map(|job| (i64::MIN, job)));
    }

    /// No more events arrive in ticks up to `tick`.
    pub fn settle(&mut self, tick: Option<i64>) {
        let Some(until) = tick.filter(|_| tick > self.settled) else { return };
        self.settled = tick;
        let later = self.open.split_off(&until.saturating_add(1));
        for (tick, events) in std::mem::replace(&mut self.open, later) {
            self.fold(tick, &events);
        }
    }

    /// Forgets jobs that were over before `time`.
    pub fn forget_over(&mut self, time: Time, open_max_s: f64) {
        self.book.forget_over(time, open_max_s);
    }

    /// A job never goes back to what was known of it before.
    fn fold(&mut self, tick: i64, events: &[JobEvent]) {
        let tick = self.latest.map_or(tick, |latest| latest.max(tick));
        self.latest = Some(tick);
        self.ready.extend(self.book.fold(events).into_iter().map(|job| (tick, job)));
    }

    /// Jobs that are new or changed, each with the tick from which on it is valid, and how many were taken before.
    pub fn take(&mut self) -> (u64, Vec<(i64, Job)>) {
        let (before, known) = (self.taken, std::mem::take(&mut self.known));
        let mut jobs: Vec<(i64, Job)> = known.into_iter().map(|job| (i64::MIN, job)).collect();
        jobs.append(&mut self.ready);
        self.taken += jobs.len() as u64;
        (before, jobs)
    }

    /// Drops jobs that a previous owner sent.
    pub fn forget(&mut self) {
        self.taken += self.ready.len() as u64;
        self.ready.clear();
    }
}
