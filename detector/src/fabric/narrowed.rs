//! Links that carry less than before while others queue for them: their capacity fell.
//!
//! A cable that lost lanes, or was trained to a lower speed, stays up. Its counters show it: it stalls although it
//! carries less than it did before contention began, and far less than its capacity. More traffic makes a link carry more,
//! so no job is to blame.

use super::cause::own_queue;
use super::kind::continues;
use super::links::{Links, is_host_link};
use super::receivers;
use std::collections::{BTreeMap, BTreeSet};
use topology::{LinkIndex, Topology};

/// Stalls per flit from which a link may be short of capacity.
const STALLS_LEAST: f64 = 0.3;
/// Times the stalls that its load makes on a link of nominal capacity, from which they need another reason.
const QUEUES_LEAST: f64 = 3.0;
/// Utilisation of the nominal capacity from which a link is full.
const FULL_LEAST: f64 = 0.8;
/// Times its load before contention that it carries at most, noise included: then no job took anything there.
const CARRIES_MOST: f64 = 1.05;
/// Utilisation before contention below which a link was hardly used, so that a comparison shows nothing.
const USED_LEAST: f64 = 0.05;
/// Stalls of a link behind, as a part of its own, from which it may wait for that one: a full link passes on a part of
/// its stalls to each link before it.
const WAITS_BEHIND: f32 = 0.6;
/// Switches over which the wait for a narrowed link spreads against the traffic, at most.
const SPREADS_MOST: usize = 4;

/// Links that wait for a narrowed one, with the number of its series: itself, and links that lead to it.
pub(super) type WaitsFor = BTreeMap<u32, u32>;

/// What is known of a region.
pub(super) struct Seen<'a> {
    pub(super) topology: &'a Topology,
    pub(super) links: &'a Links,
    /// All its links that stall.
    pub(super) stalls: &'a BTreeSet<u32>,
    /// The tick that shows what links carried before contention.
    pub(super) before: i64,
}

impl Seen<'_> {
    /// Which links wait for narrowed ones: for those found now, and those of `known` that are not full since.
    pub(super) fn waits_for(&self, known: &WaitsFor) -> WaitsFor {
        let known = known.iter().filter(|(link, reason)| link == reason).map(|(link, _)| *link);
        let known = known.filter(|series| !self.is_full(*series));
        let found = self.stalls.iter().copied().filter(|series| self.is_narrowed(*series));
        let mut waits: WaitsFor = known.chain(found).map(|series| (series, series)).collect();
        let cables: WaitsFor = waits.keys().filter_map(|series| self.other_direction(*series)).collect();
        cables.into_iter().for_each(|(link, reason)| _ = waits.entry(link).or_insert(reason));
        for _ in 0..SPREADS_MOST {
            let more: WaitsFor =
                self.stalls.iter().filter_map(|series| self.leads(*series, &waits)).collect();
            if more.is_empty() {
                break;
            }
            waits.extend(more);
        }
        waits
    }

    fn is_narrowed(&self, series: u32) -> bool {
        let (links, ratio) = (self.links, f64::from(self.links.value[series as usize]));
        ratio >= STALLS_LEAST
            && carries_no_more(self.topology, links, self.before, series)
            && self.is_short(series)
    }

    /// The other direction of a narrowed cable, with the reason, if it is short of capacity too.
    fn other_direction(&self, narrowed: u32) -> Option<(u32, u32)> {
        let reverse = self.topology.reverse(self.links.link(narrowed)?);
        let series = self.links.of_link(reverse).filter(|series| self.stalls.contains(series))?;
        self.is_short(series).then_some((series, narrowed))
    }

    /// Whether it stalls more than its load explains, and more than links behind it do, and no host behind it was filled.
    fn is_short(&self, series: u32) -> bool {
        let Some(link) = self.links.link(series) else { return false };
        let utilisation = f64::from(self.links.load[series as usize]) / self.topology.bytes_per_s(link);
        let ratio = f64::from(self.links.value[series as usize]);
        utilisation < FULL_LEAST
            && ratio >= QUEUES_LEAST * own_queue(utilisation)
            && !waits_behind(self.topology, self.links, series)
            && !receivers::is_before_filled_host(self.topology, self.links, link, self.before)
    }

    fn is_full(&self, series: u32) -> bool {
        let link = self.links.link(series);
        let load = f64::from(self.links.load[series as usize]);
        link.is_none_or(|link| load >= FULL_LEAST * self.topology.bytes_per_s(link))
    }

    /// A link that is not full and leads to one that waits, with the reason: of the links behind it the worst counts.
    fn leads(&self, series: u32, waits: &WaitsFor) -> Option<(u32, u32)> {
        let link =
            self.links.link(series).filter(|_| !waits.contains_key(&series) && !self.is_full(series))?;
        let behind = self.topology.links_from(self.topology.to(link));
        let behind = behind.filter(|next| continues(self.topology, link, *next));
        let stalling = behind.filter_map(|next| self.links.of_link(next)).filter(|s| self.stalls.contains(s));
        let worst = stalling.max_by(|a, b| {
            let ratio = |series: &u32| self.links.value[*series as usize];
            ratio(a).total_cmp(&ratio(b))
        })?;
        waits.get(&worst).map(|reason| (series, *reason))
    }
}

/// Whether a link between switches carries no more than before contention began: then no job took anything there.
fn carries_no_more(topology: &Topology, links: &Links, before: i64, series: u32) -> bool {
    let Some(link) = links.link(series).filter(|link| !is_host_link(topology, *link)) else { return false };
    let (load, loaded) = (links.load_of(link), links.load_at(link, before));
    let (Some(load), Some(loaded)) = (load, loaded) else { return false };
    loaded > USED_LEAST * topology.bytes_per_s(link) && load < CARRIES_MOST * loaded
}

/// Whether a link may stall because one behind it does.
fn waits_behind(topology: &Topology, links: &Links, series: u32) -> bool {
    let Some(link) = links.link(series) else { return true };
    let ratio = |series: u32| links.value[series as usize];
    let stalls = |next: LinkIndex| {
        links.of_link(next).is_some_and(|behind| ratio(behind) > WAITS_BEHIND * ratio(series))
    };
    topology.links_from(topology.to(link)).filter(|next| continues(topology, link, *next)).any(stalls)
}
