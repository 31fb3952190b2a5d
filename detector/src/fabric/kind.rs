//! What could be done about a region: `endpoint`, `avoidable` or `capacity` (Vishnu 2007; GUIDE section 4).
//!
//! Looked at are the roots: contended links behind which no link stalls as much. What queues before them is theirs.

use super::cause::{UNLOADED, own_queue};
use super::links::{Links, is_host_link, out_of};
use super::receivers;
use schemas::CauseKind;
use std::collections::{BTreeMap, BTreeSet};
use topology::{Imbalance, LinkIndex, ParallelLinks, Topology, VertexKind};

/// A link is a root if no contended link behind it stalls as much as this part of it.
const ROOT_PART: f32 = 0.6;
/// Stalls of a root as a part of the worst one's, at least.
const ROOT_LEAST: f32 = 0.5;
/// Stalls of a root, as a part of the worst one's, from which its kind counts.
pub(super) const WORST_PART: f32 = 0.85;
/// Part of all that comes to its far end that, continuing over one link, makes that one the root instead of a full link.
const ONWARD_SHARE: f64 = 0.8;
/// Utilisation from which a link counts as full.
const FULL: f64 = 0.9;
/// Utilisation of parallel links, evenly loaded, below which they would not stall.
const RELIEVED: f64 = 0.85;
/// Relief that counts where no capacity is known.
const RELIEF_LEAST: f64 = 0.35;
/// Times the stalls that its load makes from which a link with room waits for what lies behind it.
const QUEUES_LEAST: f64 = 3.0;
/// Utilisation below which a link has so much room that its own load hardly makes it wait, and the times for such a link.
const ROOMY: f64 = 0.5;
const QUEUES_ROOMY: f64 = 1.5;
/// Confidence in a host as the reason, where its link is not measured.
const UNMEASURED_HOST: f64 = 0.7;
/// Roots that are looked at, the worst ones.
const ROOTS_MAX: usize = 16;

/// What was found of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) kind: CauseKind,
    /// 0 to 1: the part of the roots' stalls that agrees, less where siblings are not measured.
    pub(super) confidence: f64,
    /// By which share the worst load would fall if parallel links carried the same.
    pub(super) relief: f64,
}

/// The roots among contended series, the worst first.
pub(super) fn roots(topology: &Topology, links: &Links, contended: &BTreeSet<u32>) -> Vec<u32> {
    let ratio = |series: u32| links.value[series as usize];
    let load = |series: u32| f64::from(links.load[series as usize]);
    let is_root = |series: &u32| {
        let Some(link) = links.link(*series) else { return false };
        let full = load(*series) >= FULL * topology.bytes_per_s(link);
        let incoming = topology.links_from(topology.to(link)).map(|out| topology.reverse(out));
        let arrives: f64 = incoming.filter_map(|link| links.load_of(link)).sum();
        !topology.links_from(topology.to(link)).any(|next| {
            let behind = links.of_link(next).filter(|behind| contended.contains(behind));
            continues(topology, link, next)
                && behind.is_some_and(|b| {
                    // A link that is full queues by itself, unless nearly all that comes to its end continues over one that is full too.
                    ratio(b) > ROOT_PART * ratio(*series) && (!full || load(b) >= ONWARD_SHARE * arrives)
                })
        })
    };
    let mut roots: Vec<u32> = contended.iter().copied().filter(is_root).collect();
    if roots.is_empty() {
        roots = contended.iter().copied().filter(|series| links.link(*series).is_some()).collect();
    }
    roots.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)).then(a.cmp(b)));
    // A link that stalls little compared with the worst is not the origin.
    let worst = roots.first().map_or(0.0, |series| ratio(*series));
    roots.retain(|series| ratio(*series) >= ROOT_LEAST * worst);
    // Where the network itself is full, hosts that are full too are no matter of theirs alone.
    if roots.iter().any(|root| links.link(*root).is_some_and(|link| !is_host_link(topology, link))) {
        roots.retain(|root| links.link(*root).is_some_and(|link| !is_host_link(topology, link)));
    }
    roots.truncate(ROOTS_MAX);
    roots
}

/// Whether traffic of `link` may continue over `next`: not back, and what came down towards hosts does not go up again.
pub(super) fn continues(topology: &Topology, link: LinkIndex, next: LinkIndex) -> bool {
    let level = |vertex| topology.level(vertex);
    let comes_down = level(topology.to(link)) < level(topology.from(link));
    let goes_up = level(topology.to(next)) > level(topology.from(next));
    next != topology.reverse(link) && !(comes_down && goes_up)
}

/// What the links are judged by.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) topology: &'a Topology,
    pub(super) parallel: &'a ParallelLinks,
    pub(super) links: &'a Links,
    /// Links that are down, since when.
    pub(super) down: &'a BTreeMap<u32, i64>,
    /// Times what the jobs there send that they would send if they did not wait, at least 1: a job that waits for its slowest flow
    /// sends less on all links.
    pub(super) wanted_times: f64,
}

/// The kind of a region with these roots.
pub(super) fn judge(scene: &Judged<'_>, roots: &[u32]) -> Finding {
    let links = scene.links;
    let mut votes = [0.0; CauseKind::ALL.len()];
    let mut relief: f64 = 0.0;
    let mut sure = 0.0;
    // The region is what its worst links are.
    let ratio = |series: &u32| links.value[*series as usize];
    let worst = roots.iter().map(ratio).fold(0.0, f32::max);
    for series in roots.iter().filter(|series| ratio(series) >= WORST_PART * worst) {
        let Some(link) = links.link(*series) else { continue };
        let found = of_link(scene, link);
        let weight = f64::from(links.value[*series as usize]).max(1e-3);
        votes[found.kind as usize] += weight;
        sure += weight * found.confidence;
        relief = relief.max(found.relief);
    }
    let all: f64 = votes.iter().sum();
    let best = CauseKind::ALL.into_iter().max_by(|a, b| votes[*a as usize].total_cmp(&votes[*b as usize]));
    match best.filter(|_| all > 0.0) {
        None => Finding { kind: CauseKind::Unknown, confidence: 0.0, relief: 0.0 },
        Some(kind) => Finding {
            kind,
            confidence: votes[kind as usize] / all * sure / all,
            relief: if kind == CauseKind::Avoidable { relief } else { 0.0 },
        },
    }
}

fn of_link(scene: &Judged<'_>, link: LinkIndex) -> Finding {
    let Judged { topology, parallel, links, down, wanted_times } = *scene;
    let siblings = if is_host_link(topology, link) {
        let rails = other_rails(topology, link);
        // Only where the rails of a host are loaded unevenly could more be done than to send less.
        if rails.is_empty() || rails.iter().any(|other| links.of_link(*other).is_none()) {
            return Finding { kind: CauseKind::Endpoint, confidence: 1.0, relief: 0.0 };
        }
        [vec![link], rails].concat()
    } else {
        let groups = parallel.groups_of(link).iter().map(|group| parallel.links(*group as usize));
        let largest = groups.max_by_key(|group| group.len());
        largest.map_or_else(|| alternatives(topology, link), <[LinkIndex]>::to_vec)
    };
    if waits_for_a_host(topology, links, link) {
        return Finding { kind: CauseKind::Endpoint, confidence: UNMEASURED_HOST, relief: 0.0 };
    }
    // A link that is down is no way out.
    let is_up =
        |sibling: &LinkIndex| links.of_link(*sibling).is_none_or(|series| !down.contains_key(&series));
    let siblings: Vec<LinkIndex> = siblings.into_iter().filter(is_up).collect();
    let wanted = |sibling: &LinkIndex| wanted(topology, links, *sibling, wanted_times);
    let wanted: Vec<f64> = siblings.iter().filter_map(wanted).collect();
    let measured = wanted.len() as f64 / siblings.len().max(1) as f64;
    let Some(imbalance) = Imbalance::of(wanted.iter().copied(), 0.0) else {
        return Finding { kind: CauseKind::Unknown, confidence: 0.0, relief: 0.0 };
    };
    let relief = imbalance.relief_bound();
    let capacity = topology.bytes_per_s(link);
    let avoidable = if capacity.is_finite() {
        imbalance.mean < RELIEVED * capacity && siblings.len() > 1
    } else {
        relief >= RELIEF_LEAST
    };
    let kind = if avoidable {
        CauseKind::Avoidable
    } else if is_host_link(topology, link) {
        CauseKind::Endpoint
    } else {
        CauseKind::Capacity
    };
    Finding { kind, confidence: measured, relief }
}

/// Whether a link stalls for what lies behind it, which can only be a host: it has room, and its far end has hosts whose links
/// are not measured, as on an Aries.
pub(super) fn waits_for_a_host(topology: &Topology, links: &Links, link: LinkIndex) -> bool {
    let Some(series) = links.of_link(link) else { return false };
    let (load, ratio) = (f64::from(links.load[series as usize]), f64::from(links.value[series as usize]));
    let utilisation = load / topology.bytes_per_s(link);
    let unmeasured = |next: LinkIndex| is_host_link(topology, next) && links.of_link(next).is_none();
    let queues = own_queue(utilisation).max(UNLOADED);
    let times = if utilisation < ROOMY { QUEUES_ROOMY } else { QUEUES_LEAST };
    utilisation < FULL
        && (ratio >= times * queues && topology.links_from(topology.to(link)).any(unmeasured)
            || receivers::is_before_full_host(topology, links, link))
}

/// The links of the same host in the same direction, in other rails.
fn other_rails(topology: &Topology, link: LinkIndex) -> Vec<LinkIndex> {
    let is_sent = topology.kind(topology.from(link)) == VertexKind::Host;
    let host = if is_sent { topology.from(link) } else { topology.to(link) };
    let out = out_of(topology, host).filter(|out| topology.rail(*out) != topology.rail(link));
    out.map(|out| if is_sent { out } else { topology.reverse(out) }).collect()
}

/// Where nothing is parallel: the other links of the same class from the same end.
fn alternatives(topology: &Topology, link: LinkIndex) -> Vec<LinkIndex> {
    let alike = |other: &LinkIndex| {
        topology.class(*other) == topology.class(link) && topology.rail(*other) == topology.rail(link)
    };
    topology.links_from(topology.from(link)).filter(alike).collect()
}

/// What would flow over a link if it were wide enough, and the jobs waited nowhere else, in bytes a second; `None` if it is not
/// measured.
fn wanted(topology: &Topology, links: &Links, link: LinkIndex, times: f64) -> Option<f64> {
    let series = links.of_link(link)? as usize;
    let load = f64::from(links.load[series]);
    let ratio = f64::from(links.value[series]);
    Some(wanted_bytes_per_s(load, ratio, topology.bytes_per_s(link)).max(times * load))
}

/// What would flow if the link were wide enough: below saturation what flows. What a full one holds back is
/// unknown; its stalls allow between nothing and `ratio` times what it carries, and half of that is assumed.
pub(super) fn wanted_bytes_per_s(load: f64, ratio: f64, capacity: f64) -> f64 {
    if load < FULL * capacity { load } else { load * (1.0 + ratio / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::super::tick::LinkReport;
    use super::*;
    use schemas::SeriesIndex;
    use topology::Machine;
    use topology::generate::FatTree;

    /// The kind of the first link into a host with two rails, by what each carries of what it can, and its stalls.
    fn of_rails(rails: [(f32, f32); 2]) -> Finding {
        let tree = FatTree { rails: 2, ..FatTree::vishnu(0) };
        let topology = Machine::FatTree(tree).build().unwrap();
        let host = topology.vertices_of(VertexKind::Host).next().unwrap();
        let mut links = Links::default();
        let into: Vec<LinkIndex> = out_of(&topology, host).map(|out| topology.reverse(out)).collect();
        for (link, (part, ratio)) in into.iter().zip(rails) {
            let number = links.add(topology.series(*link).unwrap(), Some(&topology));
            let report = LinkReport {
                series: SeriesIndex(number),
                load_bytes_per_s: part * topology.bytes_per_s(*link) as f32,
                mean_bytes_per_s: 0.0,
                value: ratio,
                baseline: 0.03,
                contended: ratio > 0.3,
                active: part > 0.0,
                since_ticks: 0,
                off_ms: 0,
            };
            links.set(number, &report, 100);
        }
        let parallel = ParallelLinks::of(&topology);
        let down = BTreeMap::new();
        let judged = Judged {
            topology: &topology,
            parallel: &parallel,
            links: &links,
            down: &down,
            wanted_times: 1.0,
        };
        judge(&judged, &[0])
    }

    /// B4: one rail alone could be relieved by the other, unless its demand is more than both carry.
    #[test]
    fn a_full_rail_with_an_idle_one_is_avoidable() {
        let one = of_rails([(0.99, 0.4), (0.0, 0.0)]);
        assert_eq!((one.kind, one.relief), (CauseKind::Avoidable, 0.5));
        let too_much = of_rails([(0.99, 2.5), (0.0, 0.0)]);
        assert_eq!(too_much.kind, CauseKind::Endpoint);
        let even = of_rails([(0.99, 0.4), (0.99, 0.4)]);
        assert_eq!((even.kind, even.relief), (CauseKind::Endpoint, 0.0));
    }
}
