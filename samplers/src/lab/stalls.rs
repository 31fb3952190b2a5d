//! What load does to links: arrivals, stalls a word, and how stalls spread against the stream.
//!
//! 1. Every flow gets its max-min fair share (`shares.rs`).
//! 2. What arrives at a link is what the flow asks for, as far as the links before let it through: a full link lets
//!    through its fair level of each flow. The sum of the arrivals over the capacity is the utilisation `u`.
//! 3. The stalls a word of the link itself: the queue `aries::stall_ratio(u)` up to `u = 0.96`, constant up to
//!    saturation, and above it at least `u - 1`, the time that each word waits for its turn ([`own_ratio`]).
//! 4. Credits run out against the stream: a flow that gets less than it asks for, because of a full link, makes the
//!    links before that one wait. Each gets the flow's share of its traffic x [`BACK_PRESSURE`] x the ratio of the
//!    full link above the one without load, [`UNLOADED`].
//!
//! Bursts do not ask for less because they wait: a job that is slowed down offers the same load for longer. On average its
//! hosts send less, by as much as it is slowed (`Lab::move_bytes`).

use super::flows::{Flow, Paths};
use super::shares::{Shares, max_min};
use crate::aries::stall_ratio;

/// Part of a full link's stalls that its flows carry to the links before it.
pub const BACK_PRESSURE: f64 = 0.3;
/// Stalls a word of a link without load.
pub const UNLOADED: f64 = 0.02;
/// Utilisation up to which the curve of `aries::stall_ratio` holds.
const KNEE: f64 = 0.96;

/// Stalls a word of a link by its utilisation alone, without what comes back from links behind it.
pub fn own_ratio(utilisation: f64) -> f64 {
    let queue = stall_ratio(utilisation.min(KNEE));
    if utilisation > 1.0 { queue.max(utilisation - 1.0) } else { queue }
}

/// A flow that gets less than it asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Its index among the active flows.
    pub active_index: u32,
    /// Hop at which it is held.
    pub hop: u32,
}

/// The network under some flows; columns by link by default.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    /// The active flows.
    pub active: Vec<u32>,
    /// What each active flow gets, in bytes a second.
    pub rates: Vec<f64>,
    /// Bytes a second that arrive and want through.
    pub arriving: Vec<f64>,
    /// Bytes a second that get through.
    pub carried: Vec<f64>,
    /// Stalls a word by the link's own utilisation.
    pub own: Vec<f64>,
    /// Stalls a word in all.
    pub ratio: Vec<f64>,
    /// What a full link lets through of each flow; infinite for links that are not full.
    pub levels: Vec<f64>,
    pub held: Vec<Held>,
}

impl Load {
    /// Of no flows at all.
    pub(super) fn idle(links: usize) -> Load {
        let none = vec![0.0; links];
        let ratio = vec![UNLOADED; links];
        let levels = vec![f64::INFINITY; links];
        Load { arriving: none.clone(), carried: none, own: ratio.clone(), ratio, levels, ..Load::default() }
    }

    /// Of the flows numbered `active`.
    pub(super) fn of(all: &[Flow], active: Vec<u32>, paths: &Paths, capacities: &[f64]) -> Load {
        let Shares { rates, levels } = max_min(all, &active, paths, capacities);
        let none = vec![0.0; capacities.len()];
        let mut load = Load {
            active,
            rates,
            arriving: none.clone(),
            carried: none,
            levels,
            held: Vec::new(),
            own: Vec::new(),
            ratio: Vec::new(),
        };
        load.flow_through(all, paths);
        let utilisation = load.arriving.iter().zip(capacities).map(|(bytes, capacity)| bytes / capacity);
        load.own = utilisation.map(own_ratio).collect();
        let mut ratio = load.own.clone();
        for held in &load.held {
            for (link, stalls) in load.back_pressure(*held, paths) {
                ratio[link] += stalls;
            }
        }
        Load { ratio, ..load }
    }

    fn flow_through(&mut self, all: &[Flow], paths: &Paths) {
        for index in 0..self.active.len() {
            let (flow, rate) = (self.active[index], self.rates[index]);
            let demand = all[flow as usize].demand;
            let mut arriving = demand;
            let mut held = None;
            for (hop, link) in (0..).zip(paths.of(flow)) {
                self.arriving[link.at()] += arriving;
                self.carried[link.at()] += rate;
                let level = self.levels[link.at()];
                arriving = arriving.min(level);
                if held.is_none() && rate < demand * (1.0 - 1e-6) && rate >= level * (1.0 - 1e-6) {
                    held = Some(Held { active_index: index as u32, hop });
                }
            }
            self.held.extend(held);
        }
    }

    /// The links before the one that holds a flow back, each with the stalls a word that come back to it.
    pub(super) fn back_pressure<'l>(
        &'l self,
        held: Held,
        paths: &'l Paths,
    ) -> impl Iterator<Item = (usize, f64)> + 'l {
        let path = paths.of(self.active[held.active_index as usize]);
        let (before, rest) = path.split_at(held.hop as usize);
        let excess = rest.first().map_or(0.0, |link| self.own[link.at()] - UNLOADED);
        let rate = self.rates[held.active_index as usize];
        before.iter().map(move |link| {
            let share = rate / self.carried[link.at()].max(f64::MIN_POSITIVE);
            (link.at(), share * BACK_PRESSURE * excess)
        })
    }

    /// Stalls a word of the worst link of an active part of a flow, and that link; infinite without a path.
    pub(super) fn worst(&self, flow: u32, paths: &Paths) -> (f64, Option<u32>) {
        let links = paths.of(flow).iter().map(|link| (self.ratio[link.at()], Some(link.0)));
        links.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, None))
    }
}
