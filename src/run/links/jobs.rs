//! What is said of jobs, held until its own second of the links is told.
//!
//! A detector hears of jobs as far ahead of its links as rows are let go at once, which is more while catching up. What
//! links say must not depend on that: a node of which the first row got lost belongs to its job from the second on in which
//! another row says so, and not from wherever the links happened to be.

use aggregator::JobBook;
use schemas::{Job, JobEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Jobs by what was said up to a second of the links.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct JobNews {
    book: JobBook,
    /// What was said in seconds that are not told yet.
    said: BTreeMap<i64, Vec<JobEvent>>,
    settled: Option<i64>,
    ready: Vec<(i64, Job)>,
    /// Jobs that were ready before those.
    taken: u64,
}

impl JobNews {
    /// Begins with jobs that are known.
    pub fn begin(&mut self, book: &JobBook) {
        self.book = book.clone();
        self.ready.extend(self.book.jobs().map(|job| (i64::MIN, job)));
    }

    /// Takes what was said. What comes later than the lateness is ready at once.
    pub fn hear(&mut self, events: &[JobEvent]) {
        for event in events {
            // A second lasts from half a second before its number to half a second after it.
            let second = event.time.seconds().round() as i64;
            if self.settled >= Some(second) {
                self.use_said(second, std::slice::from_ref(event));
            } else {
                self.said.entry(second).or_default().push(event.clone());
            }
        }
    }

    /// Nothing more is said in seconds up to `second`.
    pub fn settle(&mut self, second: Option<i64>) {
        let Some(until) = second.filter(|_| second > self.settled) else { return };
        self.settled = second;
        let later = self.said.split_off(&(until + 1));
        for (second, events) in std::mem::replace(&mut self.said, later) {
            self.use_said(second, &events);
        }
    }

    fn use_said(&mut self, second: i64, events: &[JobEvent]) {
        self.ready.extend(self.book.fold(events).into_iter().map(|job| (second, job)));
    }

    /// Jobs that are new or changed, each with the second from which on it is as it says, and how many were taken before.
    pub fn take(&mut self) -> (u64, Vec<(i64, Job)>) {
        let (before, jobs) = (self.taken, std::mem::take(&mut self.ready));
        self.taken += jobs.len() as u64;
        (before, jobs)
    }
}
