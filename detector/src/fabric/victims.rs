//! What jobs lost in one region: their part of what they lost on links, as far as that is known by now.
//!
//! While a region is open, stalls show what its jobs lose. What their hosts send afterwards shows it better: a region that
//! ended follows the losses of its jobs for a while, so that both give one answer.

use super::Fabric;
use super::losses::{self, LinkLosses};
use schemas::{Interval, Job, Name, Region, RegionVictim};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Jobs of a smaller share are not named.
pub(super) const LEAST_SHARE: f64 = 0.01;
/// Ticks for which a region that ended follows the losses of its jobs.
const FOLLOWED_TICKS: i64 = 900;
/// Maximum of ended regions that are followed; the oldest are dropped first.
const FOLLOWED_MAX: usize = 1000;
/// Changes of a loss or of an end of its interval up to this part of it, or up to so many seconds, are not reported.
const LEAST_CHANGE: f64 = 0.01;
const LEAST_CHANGE_S: f64 = 0.05;

/// What is known of what jobs lost on links.
#[derive(Clone, Copy)]
pub(super) struct JobLosses<'a> {
    pub(super) jobs: &'a BTreeMap<Name, Job>,
    pub(super) losses: &'a BTreeMap<Name, LinkLosses>,
    pub(super) tick_s: f64,
}

/// Seconds lost by each job as stalls show them, and what it lost if it did not wait for its slowest flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Victims(BTreeMap<Name, [f64; 2]>);

/// A region that ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    region: Region,
    victims: Victims,
    /// When it ended, in ticks.
    at: i64,
    /// Whether its end was not reported yet.
    is_new: bool,
}

impl JobLosses<'_> {
    fn part(&self, job_id: &Name, by_stalls_s: f64) -> Option<Interval> {
        self.losses.get(job_id)?.part(self.jobs.get(job_id)?, by_stalls_s, self.tick_s)
    }
}

impl Victims {
    /// Adds what a job lost in some seconds.
    pub(super) fn add(&mut self, job_id: &Name, lost_s: f64, least_s: f64) {
        let [lost, least] = self.0.entry(job_id.clone()).or_default();
        *lost += lost_s;
        *least += least_s;
    }

    /// What each job lost, the largest loss first. A job that is forgotten keeps what it lost by the `former` report.
    pub(super) fn known(&self, known: JobLosses<'_>, former: &[RegionVictim]) -> Vec<RegionVictim> {
        let by_stalls_s: f64 = self.0.values().map(|[lost_s, _]| lost_s).sum();
        let named = self.0.iter().filter(|(_, [lost_s, _])| lost_s / by_stalls_s.max(1e-9) > LEAST_SHARE);
        let lost = |(job_id, [lost_s, least_s]): (&Name, &[f64; 2])| {
            let reported =
                || former.iter().find(|victim| victim.job_id == *job_id).map(|victim| victim.lost_s);
            let part = known.part(job_id, *lost_s).or_else(reported);
            (job_id.clone(), part.unwrap_or_else(|| losses::interval(*lost_s, *least_s)))
        };
        let lost: Vec<(Name, Interval)> = named.map(lost).collect();
        let all_s: f64 = lost.iter().map(|(_, lost_s)| lost_s.value).sum();
        let victim = |(job_id, lost_s): (Name, Interval)| {
            let share = lost_s.value / all_s.max(1e-9);
            RegionVictim { job_id, lost_s, share }
        };
        let mut victims: Vec<RegionVictim> = lost.into_iter().map(victim).collect();
        victims.sort_by(|a, b| b.lost_s.by_lower_end(&a.lost_s).then(a.job_id.cmp(&b.job_id)));
        victims
    }
}

impl Ended {
    pub(super) fn new(region: Region, victims: Victims, at: i64) -> Ended {
        Ended { region, victims, at, is_new: true }
    }

    /// The region, if its end was not reported yet.
    pub(super) fn new_end(&self) -> Option<&Region> {
        self.is_new.then_some(&self.region)
    }

    /// Reports it: its timeline and the series that left are in one report alone.
    pub(super) fn report(&mut self) -> Region {
        self.is_new = false;
        let reported = self.region.clone();
        self.region.steps.clear();
        self.region.left.clear();
        reported
    }

    /// Updates the losses of its jobs; returns whether the region must be reported again.
    fn follow(&mut self, known: JobLosses<'_>) -> bool {
        let victims = self.victims.known(known, &self.region.victims);
        let differs = !are_alike(&victims, &self.region.victims);
        if differs {
            self.region.victims = victims;
        }
        differs
    }
}

fn are_alike(a: &[RegionVictim], b: &[RegionVictim]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= (LEAST_CHANGE * a.abs().max(b.abs())).max(LEAST_CHANGE_S);
    let alike = |(a, b): (&RegionVictim, &RegionVictim)| {
        let (of, other) = (&a.lost_s, &b.lost_s);
        a.job_id == b.job_id && near(of.value, other.value) && near(of.lo, other.lo) && near(of.hi, other.hi)
    };
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

impl Fabric {
    /// Updates the losses of ended regions from those of their jobs, and drops regions that ended more than [`FOLLOWED_TICKS`] ago.
    pub(super) fn follow_ended(&mut self) {
        let known = JobLosses { jobs: &self.jobs, losses: &self.losses, tick_s: self.settings.tick_s };
        let oldest = self.now - FOLLOWED_TICKS;
        for (id, ended) in &mut self.ended {
            if ended.follow(known) {
                self.changed.insert(*id);
            }
        }
        let changed = &self.changed;
        self.ended.retain(|id, ended| ended.at >= oldest || changed.contains(id));
        let mut excess = self.ended.len().saturating_sub(FOLLOWED_MAX);
        self.ended.retain(|id, _| {
            let is_left = excess > 0 && !changed.contains(id);
            excess -= usize::from(is_left);
            !is_left
        });
    }
}
