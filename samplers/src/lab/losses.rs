//! Losses of jobs in a second, by aggressor.
//!
//! A flow takes `1 + r` of the time that it would take without any stalls, `r` being the stalls a word of its worst
//! link, or what the OSTs make it wait where that is more. Four values of `r` split its second: [`UNLOADED`] in an empty network, `alone` with its own job, `healthy`
//! with all jobs and all links up and at full width, `now`. Of a second, `(1 + unloaded) / (1 + now)` does work; the job itself takes
//! `(alone - unloaded) / (1 + now)`, others `(healthy - alone) / (1 + now)`, failed or narrowed links `(now - healthy) / (1 + now)`.
//! The last two together are the `1 - (1 + alone) / (1 + now)` of the detector's service-time slowdown.

use super::job::{LabJob, TrafficClass};
use super::placement::{Holder, Placed};
use super::scene::{Alone, Scene, Weights};
use super::stalls::{Load, UNLOADED};
use std::collections::{BTreeMap, HashMap};

/// Parts of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Split {
    pub own: f64,
    pub others: f64,
    pub failover: f64,
}

impl Split {
    /// From stalls a word; without a path `now` is infinite and everything is lost to the failure.
    pub(super) fn of(alone: f64, healthy: f64, now: f64) -> Split {
        if now.is_infinite() {
            return Split { failover: 1.0, ..Split::default() };
        }
        let alone = alone.min(now);
        let healthy = healthy.clamp(alone, now);
        let part = |stalls: f64| stalls.max(0.0) / (1.0 + now);
        Split { own: part(alone - UNLOADED), others: part(healthy - alone), failover: part(now - healthy) }
    }

    fn longer(self) -> f64 {
        self.others + self.failover
    }
}

/// What a job loses in every second of communication, as parts of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LossRate {
    pub own: f64,
    pub failover: f64,
    /// To the job of this index, by class.
    pub to: BTreeMap<(u32, TrafficClass), f64>,
}

impl LossRate {
    /// Part of a second by which the run gets longer.
    pub(super) fn longer(&self) -> f64 {
        self.failover + self.to.values().sum::<f64>()
    }
}

/// Losses of the jobs of a scene; remembers the aggressors of each link and of the OSTs.
pub(super) struct Losses<'s> {
    scene: &'s Scene<'s>,
    healthy: Option<&'s (Placed, Load)>,
    weights: HashMap<Holder, Weights>,
}

impl<'s> Losses<'s> {
    /// `healthy` is the network with all links up and at full width, if some are not.
    pub(super) fn new(scene: &'s Scene<'s>, healthy: Option<&'s (Placed, Load)>) -> Losses<'s> {
        Losses { scene, healthy, weights: HashMap::new() }
    }

    /// Of the job at `job_index` with these `flows`.
    pub(super) fn of(&mut self, job_index: u32, job: &LabJob, flows: &[u32], alone: &Alone) -> LossRate {
        let mut splits: Vec<(Split, Holder)> = Vec::with_capacity(flows.len());
        for (flow, alone) in flows.iter().zip(&alone.worst) {
            let (now, holder) = self.scene.placed.worst(*flow, self.scene.now);
            let healthy = self.healthy.map_or(now, |(placed, load)| placed.worst(*flow, load).0);
            splits.push((Split::of(*alone, healthy, now), holder));
        }
        let count = splits.len().max(1) as f64;
        let slowest = largest(&splits, Split::longer);
        let most_own = largest(&splits, |split| split.own);
        let mut rate = LossRate::default();
        for (at, (split, holder)) in splits.iter().enumerate() {
            let mean = (1.0 - job.coupling) / count;
            let weight = |worst: usize| if at == worst { mean + job.coupling } else { mean };
            rate.own += weight(most_own) * split.own;
            rate.failover += weight(slowest) * split.failover;
            self.blame(job_index, *holder, weight(slowest) * split.others, &mut rate);
        }
        // The slowest flow is not always the one that the job itself slows most.
        rate.own = rate.own.min(1.0 - rate.longer());
        rate
    }

    fn blame(&mut self, victim: u32, holder: Holder, lost: f64, rate: &mut LossRate) {
        if lost <= 0.0 {
            return;
        }
        let weights = self.weights.entry(holder).or_insert_with(|| match holder {
            Holder::Link(link) => self.scene.weights(link),
            Holder::Osts => self.scene.writers(),
            Holder::Nothing => Weights::default(),
        });
        let others = || weights.iter().filter(|(job, ..)| *job != victim);
        let all: f64 = others().map(|(.., weight)| weight).sum();
        for (job, class, weight) in others().filter(|_| all > 0.0) {
            *rate.to.entry((*job, *class)).or_default() += lost * weight / all;
        }
    }
}

fn largest(splits: &[(Split, Holder)], of: impl Fn(Split) -> f64) -> usize {
    let parts = splits.iter().map(|(split, _)| of(*split)).enumerate();
    parts.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map_or(0, |(at, _)| at)
}
