//! Hosts that take no more, where what they receive is not measured, as on an Aries.
//!
//! A router passes on to its hosts what comes in and does not go out. If that is as much as a link to a host carries,
//! the host may be the reason why links to the router stall although they have room.

use super::cause::{UNLOADED, own_queue};
use super::links::{Links, is_host_link};
use topology::{LinkIndex, Topology, VertexIndex};

/// Part of what a link of a host carries from which that may be full.
const TAKES_MOST: f64 = 0.95;
/// Times what it passed on before that a router passes on for a host to be filled since.
const MORE: f64 = 1.1;
/// Utilisation up to which a link to the router has room.
const ROOM: f64 = 0.9;
/// Times the stalls that its load makes from which a link stalls for such a host, whatever its baseline.
const QUEUES_LEAST: f64 = 3.0;
/// Stalls per flit that are beyond doubt no mere queue of a link with room.
const STALLS_LEAST: f64 = 0.1;

/// Whether a link leads to a router that passes on to its hosts, whose links are not measured, as much as one of
/// their links carries.
pub(super) fn is_before_full_host(topology: &Topology, links: &Links, link: LinkIndex) -> bool {
    fills_a_host(topology, links, topology.to(link))
}

/// Whether a link stalls for such a host, by its stalls alone: they are far more than its load makes.
pub(super) fn stalls_for_full_host(topology: &Topology, links: &Links, series: u32) -> bool {
    let Some(link) = links.link(series) else { return false };
    let ratio = f64::from(links.value[series as usize]);
    let utilisation = f64::from(links.load[series as usize]) / topology.bytes_per_s(link);
    let queues = own_queue(utilisation).max(UNLOADED);
    ratio >= STALLS_LEAST
        && utilisation < ROOM
        && ratio >= QUEUES_LEAST * queues
        && is_before_full_host(topology, links, link)
}

/// Whether a router passes on to its hosts, whose links are not measured, as much as one of their links carries.
pub(super) fn fills_a_host(topology: &Topology, links: &Links, router: VertexIndex) -> bool {
    let takes = least_capacity(topology, links, router);
    let passed = takes.and_then(|_| passed_to_hosts(topology, links, router));
    takes.zip(passed).is_some_and(|(takes, passed)| passed >= TAKES_MOST * takes)
}

/// What one link of a router's hosts can carry, the least of them; `None` if it has no hosts, or their links are measured.
/// Traffic need not spread evenly over the links of a host.
fn least_capacity(topology: &Topology, links: &Links, router: VertexIndex) -> Option<f64> {
    let mut hosts = topology.links_from(router).filter(|link| is_host_link(topology, *link)).peekable();
    hosts.peek()?;
    let capacity = |link: LinkIndex| links.of_link(link).is_none().then(|| topology.bytes_per_s(link));
    hosts
        .try_fold(f64::INFINITY, |least, link| Some(least.min(capacity(link)?)))
        .filter(|least| least.is_finite())
}

/// Whether a link leads to such a router, and that passes on more to its hosts than at tick `before`: that the link carries no more
/// may be for the host.
pub(super) fn is_before_filled_host(
    topology: &Topology,
    links: &Links,
    link: LinkIndex,
    before: i64,
) -> bool {
    let router = topology.to(link);
    let passed = |load: &dyn Fn(LinkIndex) -> Option<f64>| passed_by(topology, router, load);
    let (now, then) = (passed(&|link| links.load_of(link)), passed(&|link| links.load_at(link, before)));
    fills_a_host(topology, links, router) && now.zip(then).is_some_and(|(now, then)| now >= MORE * then)
}

fn passed_to_hosts(topology: &Topology, links: &Links, router: VertexIndex) -> Option<f64> {
    passed_by(topology, router, &|link| links.load_of(link))
}

/// Bytes a second that come to a router and leave it on no other measured link, by what links carry; `None` if some of its links
/// are not measured.
fn passed_by(
    topology: &Topology,
    router: VertexIndex,
    load_of: &dyn Fn(LinkIndex) -> Option<f64>,
) -> Option<f64> {
    let mut passed = 0.0;
    for link in topology.links_from(router) {
        passed += load_of(topology.reverse(link))?;
        if !is_host_link(topology, link) {
            passed -= load_of(link)?;
        }
    }
    Some(passed)
}
