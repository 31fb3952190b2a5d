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
}

impl JobNews {
    /// Begins with jobs that are known.
    pub fn begin(&mut self, book: &JobBook) {
        self.book = book.clone();
        let before_all = self.settled.map_or(i64::MIN, |settled| settled + 1);
        self.ready.extend(self.book.jobs().map(|job| (before_all, job)));
        self.settled = self.settled.max(Some(before_all));
    }

    /// Takes what was said. What comes later than the lateness counts for the next second.
    pub fn hear(&mut self, events: &[JobEvent]) {
        for event in events {
            // A second lasts from half a second before its number to half a second after it.
            let own = event.time.seconds().round() as i64;
            let second = self.settled.map_or(own, |settled| own.max(settled + 1));
            self.said.entry(second).or_default().push(event.clone());
        }
    }

    /// Nothing more is said in seconds up to `second`.
    pub fn settle(&mut self, second: Option<i64>) {
        let Some(until) = second.filter(|_| second > self.settled) else { return };
        self.settled = second;
        let later = self.said.split_off(&(until + 1));
        for (second, events) in std::mem::replace(&mut self.said, later) {
            self.ready.extend(self.book.fold(&events).into_iter().map(|job| (second, job)));
        }
    }

    /// Jobs that are new or changed, each with the second from which on it is as it says.
    pub fn take(&mut self) -> Vec<(i64, Job)> {
        std::mem::take(&mut self.ready)
    }
}
