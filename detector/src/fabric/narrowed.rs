//! Links that carry less than before while others queue for them: their capacity fell.
//!
//! A cable that lost lanes, or was trained to a lower speed, stays up. Its counters show it: it stalls although it
//! carries less than it did before contention began, and far less than its capacity. More traffic makes a link carry more,
//! so no job is to blame.

use super::cause::own_queue;
use super::kind::{WORST_PART, goes_on};
use super::links::{Links, is_host_link};
use super::live::Failed;
use schemas::{Evidence, LinkIndex, Topology};

/// Stalls per flit from which a link is short of capacity.
const STALLS_LEAST: f64 = 0.3;
/// Times the stalls that its load makes on a link of nominal capacity, from which they need another reason.
const QUEUES_LEAST: f64 = 3.0;
/// Utilisation of the nominal capacity from which a link is full.
const FULL_LEAST: f64 = 0.8;
/// Part of its load before contention that it carries at most.
const CARRIES_MOST: f64 = 0.95;
/// Part of the worst stalls of the region so far, from which a link stalls as much as ever.
const WORST_EVER: f64 = 0.9;
/// Utilisation before contention below which a link was hardly used, so that a comparison shows nothing.
const USED_LEAST: f64 = 0.05;
/// Stalls of a link behind, as a part of its own, from which it may wait for that one.
const WAITS_BEHIND: f32 = 0.2;

/// What is known of a region.
pub(super) struct Seen<'a> {
    /// Its roots, the worst first.
    pub(super) roots: &'a [u32],
    /// The worst stalls per flit so far.
    pub(super) peak: f64,
    /// The tick that shows what links carried before contention.
    pub(super) before: i64,
}

/// The first of the worst roots whose capacity fell.
pub(super) fn among(topology: &Topology, links: &Links, seen: &Seen<'_>) -> Option<Failed> {
    let worst = seen.roots.iter().map(|root| links.value[*root as usize]).fold(0.0, f32::max);
    let is_worst = |root: &&u32| links.value[**root as usize] >= WORST_PART * worst;
    let is_narrowed =
        |root: &&u32| carries_less(topology, links, seen, **root) && !waits_behind(topology, links, **root);
    seen.roots
        .iter()
        .filter(is_worst)
        .find(is_narrowed)
        .map(|root| Failed { series: *root, evidence: Evidence::LinkNarrowed })
}

fn carries_less(topology: &Topology, links: &Links, seen: &Seen<'_>, series: u32) -> bool {
    let Some(link) = links.link(series).filter(|link| !is_host_link(topology, *link)) else { return false };
    let (load, loaded) = (links.load_of(link), links.load_at(link, seen.before));
    let (Some(load), Some(loaded)) = (load, loaded) else { return false };
    let (capacity, ratio) = (topology.bytes_per_s(link), f64::from(links.value[series as usize]));
    let stalls_least = STALLS_LEAST.max(QUEUES_LEAST * own_queue(load / capacity));
    ratio >= stalls_least.max(WORST_EVER * seen.peak)
        && load < FULL_LEAST * capacity
        && loaded > USED_LEAST * capacity
        && load < CARRIES_MOST * loaded
}

/// Whether a link may stall because one behind it does, or is full: that one may not be known to be contended yet.
fn waits_behind(topology: &Topology, links: &Links, series: u32) -> bool {
    let Some(link) = links.link(series) else { return true };
    let ratio = |series: u32| links.value[series as usize];
    let is_reason = |next: LinkIndex| {
        let full = FULL_LEAST * topology.bytes_per_s(next);
        let stalls = |behind: u32| ratio(behind) > WAITS_BEHIND * ratio(series);
        links.load_of(next).is_some_and(|load| load >= full) || links.of_link(next).is_some_and(stalls)
    };
    topology.links_from(topology.to(link)).filter(|next| goes_on(topology, link, *next)).any(is_reason)
}
