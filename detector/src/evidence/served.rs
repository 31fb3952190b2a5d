//! What jobs moved on a file system by the counters of its servers, tick by tick.
//!
//! It counts for jobs that no client was seen to work for: those of other clusters, of login and transfer nodes, of nodes without a
//! sampler. What the clients show of the others is as good, and counting it twice would blame twice.

use super::taken::{Change, Taker};
use super::{BLOCKS, EARLIER_TICKS, STOPPED_SHARE};
use crate::ingest::served::ServedRate;
use schemas::{Metric, Name, SeriesIndex};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Ticks that are kept of each job.
const KEPT: i64 = 128;
/// Jobs of a file system that are kept.
const JOBS_MAX: usize = 10_000;
/// Least part of what the servers name beyond the clients' own traffic that is no difference of clocks and caches.
const LEAST_SHARE: f64 = 0.2;
const THOUSANDTHS: f64 = 1e3;
/// The client of a [`Change`] that a server counted: it names none.
const NO_CLIENT: SeriesIndex = SeriesIndex(u32::MAX);

/// Rates by job and metric of one file system.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Served {
    rates: BTreeMap<(Name, Metric), Ticks>,
    /// Whether servers and scheduler give jobs the same names; `None` while no job shows it.
    agrees: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ticks {
    last: i64,
    /// Thousandths of the unit, tick `t` at `t` modulo [`KEPT`]: sums do not depend on their order.
    of: Vec<u64>,
}

/// What clients moved in a block: by jobs, and by clients of no known job.
#[derive(Clone, Debug, Default)]
pub struct ByClients {
    /// Jobs that a client works for, and whether one of its clients moved something.
    pub jobs: BTreeMap<Name, bool>,
    /// What clients of no known job moved, in the unit of the resource.
    pub without_job: f64,
}

impl Served {
    /// Takes what a target served. Of more than 10,000 jobs the further ones are left out.
    pub fn add(&mut self, rate: &ServedRate) {
        let [since, last] = rate.ticks;
        if self.rates.len() >= JOBS_MAX {
            self.rates.retain(|_, ticks| last - ticks.last < KEPT);
        }
        let key = (rate.job_id.clone(), rate.metric);
        if self.rates.len() >= JOBS_MAX && !self.rates.contains_key(&key) {
            return;
        }
        let new = || Ticks { last: since, of: vec![0; KEPT as usize] };
        self.rates.entry(key).or_insert_with(new).add(since, last, (rate.per_s * THOUSANDTHS).round() as u64);
    }

    /// What jobs moved that no client works for, from behind one tick up to another, by job and metric; clients of no known job may
    /// be theirs. Nothing where servers and scheduler name jobs differently.
    pub fn unseen(&mut self, [since, until]: [i64; 2], clients: &ByClients) -> Vec<((Name, Metric), f64)> {
        let is_named = |job: &Name| Metric::all().any(|m| self.rates.contains_key(&(job.clone(), m)));
        let mut moving = clients.jobs.iter().filter(|(_, moves)| **moves).peekable();
        if moving.peek().is_some() {
            self.agrees = Some(moving.any(|(job, _)| is_named(job)));
        }
        if self.agrees == Some(false) {
            return Vec::new();
        }
        let of = |(key, ticks): (&(Name, Metric), &Ticks)| {
            let rate = ticks.mean(since, until)?;
            (rate > 0.0 && !clients.jobs.contains_key(&key.0)).then(|| (key.clone(), rate))
        };
        let mut found: Vec<((Name, Metric), f64)> = self.rates.iter().filter_map(of).collect();
        let all: f64 = found.iter().map(|(_, rate)| rate).sum();
        let share = (all - clients.without_job) / all;
        if found.is_empty() || share < LEAST_SHARE {
            return Vec::new();
        }
        found.iter_mut().for_each(|(_, rate)| *rate *= share.min(1.0));
        found
    }

    /// How jobs without a client among those that `seen` has changed around a fall. `block` gives the ticks before it, back in blocks
    /// and some ticks earlier; `after` are those behind it. Clients of no known job that gained as much may be theirs.
    pub(super) fn changes(
        &self,
        seen: &[Change],
        block: impl Fn(usize, i64) -> [i64; 2],
        after: [i64; 2],
        sure: impl Fn(f64) -> f64,
    ) -> Vec<Change> {
        if self.agrees == Some(false) {
            return Vec::new();
        }
        let takers: BTreeSet<&Taker> = seen.iter().map(|change| &change.taker).collect();
        let change = |((job, metric), ticks): (&(Name, Metric), &Ticks)| {
            let mean = |[since, until]: [i64; 2]| ticks.mean(since, until);
            let taker = Taker::Job(job.clone());
            let before: [Option<f64>; BLOCKS] = std::array::from_fn(|back| mean(block(back, 0)));
            let earlier = std::array::from_fn(|back| mean(block(back, EARLIER_TICKS as i64)));
            let after = mean(after)?;
            let noise = ticks.noise(block(BLOCKS - 1, 0)[0], block(0, 0)[1]);
            let (client, level, sure) = (NO_CLIENT, after, sure(noise));
            let is_unseen = !takers.contains(&taker);
            let found = Change { client, metric: *metric, taker, before, earlier, after, level, sure };
            is_unseen.then_some(found)
        };
        let found: Vec<Change> = self.rates.iter().filter_map(change).collect();
        let is_jobless = |change: &&Change| matches!(change.taker, Taker::Client(_));
        let by_jobless: f64 = seen.iter().filter(is_jobless).map(Change::gained_at_most).sum();
        let gained: f64 = found.iter().map(Change::gained_at_most).sum();
        if gained > 0.0 && gained - by_jobless < LEAST_SHARE * gained { Vec::new() } else { found }
    }

    /// Whether servers count by job here: one did of late, up to `tick`.
    pub fn is_current(&self, tick: i64) -> bool {
        self.agrees != Some(false) && self.rates.values().any(|ticks| tick - ticks.last < KEPT / 4)
    }
}

impl Ticks {
    fn add(&mut self, since: i64, last: i64, per_s: u64) {
        for skipped in (self.last + 1).max(last - KEPT + 1)..=last {
            self.of[slot(skipped)] = 0;
        }
        self.last = self.last.max(last);
        for tick in (since + 1).max(self.last - KEPT + 1)..=last {
            self.of[slot(tick)] += per_s;
        }
    }

    fn at(&self, tick: i64) -> f64 {
        self.of[slot(tick)] as f64 / THOUSANDTHS
    }

    /// Mean from behind one tick up to another: nothing after the last one; `None` where this is not kept.
    fn mean(&self, since: i64, until: i64) -> Option<f64> {
        if since < self.last - KEPT || until <= since {
            return None;
        }
        let kept = since + 1..=until.min(self.last);
        Some(kept.map(|tick| self.at(tick)).sum::<f64>() / (until - since) as f64)
    }

    /// Relative standard deviation of one tick; 0 where it moved next to nothing.
    fn noise(&self, since: i64, until: i64) -> f64 {
        let kept: Vec<f64> = (since + 1..=until)
            .filter(|tick| *tick > self.last - KEPT && *tick <= self.last)
            .map(|tick| self.at(tick))
            .collect();
        let count = kept.len().max(1) as f64;
        let mean = kept.iter().sum::<f64>() / count;
        let most = kept.iter().copied().fold(0.0, f64::max);
        if mean <= STOPPED_SHARE * most || mean <= 0.0 {
            return 0.0;
        }
        (kept.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / count).sqrt() / mean
    }
}

fn slot(tick: i64) -> usize {
    tick.rem_euclid(KEPT) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn written() -> Metric {
        Metric::from_name("lustre_write_rate").unwrap()
    }

    /// Jobs that moved so much in each of the ticks 1 to 10.
    fn served(jobs: &[(&str, f64)]) -> Served {
        let mut served = Served::default();
        for (job, per_s) in jobs {
            let (mount, job_id, metric) = (name("scratch"), name(job), written());
            served.add(&ServedRate { mount, metric, job_id, ticks: [0, 10], per_s: *per_s });
        }
        served
    }

    fn clients(jobs: &[&str], without_job: f64) -> ByClients {
        ByClients { jobs: jobs.iter().map(|job| (name(job), true)).collect(), without_job }
    }

    fn unseen(jobs: &[(&str, f64)], clients: &ByClients) -> Vec<(String, f64)> {
        let found = served(jobs).unseen([0, 10], clients);
        found.into_iter().map(|((job, _), rate)| (job.to_string(), rate)).collect()
    }

    #[test]
    fn jobs_that_clients_show_are_left_to_them() {
        let found = unseen(&[("1", 100.0), ("2", 50.0)], &clients(&["1"], 0.0));
        assert_eq!(found, [("2".to_string(), 50.0)]);
    }

    #[test]
    fn nothing_is_unseen_where_servers_name_jobs_differently() {
        assert_eq!(unseen(&[("ior.1000", 100.0)], &clients(&["1"], 0.0)), []);
    }

    #[test]
    fn clients_of_no_known_job_are_not_counted_twice() {
        assert_eq!(unseen(&[("2", 100.0)], &clients(&[], 95.0)), []);
        assert_eq!(unseen(&[("2", 100.0)], &clients(&[], 25.0)), [("2".to_string(), 75.0)]);
    }

    #[test]
    fn targets_of_a_job_add_up_and_old_ticks_go() {
        let mut served = served(&[("1", 100.0), ("1", 20.0)]);
        let rate = |served: &mut Served, ticks| served.unseen(ticks, &ByClients::default());
        assert_eq!(rate(&mut served, [0, 10])[0].1, 120.0);
        assert_eq!(rate(&mut served, [0, 20])[0].1, 60.0, "nothing after the last tick");
        let (mount, job_id, metric) = (name("scratch"), name("1"), written());
        served.add(&ServedRate { mount, metric, job_id, ticks: [300, 301], per_s: 7.0 });
        assert_eq!(rate(&mut served, [300, 301])[0].1, 7.0);
        assert_eq!(rate(&mut served, [0, 10]), [], "not kept");
    }
}
