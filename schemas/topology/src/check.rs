//! Faults of the whole: links, levels, tables, destinations.

use super::class::VertexKind;
use super::fault::{FaultKind, Faults, Origin};
use super::forwarding::NO_PORT;
use super::graph::{LinkIndex, Topology, VertexIndex};
use super::levels::within_level;
use super::routes::{RouteError, Routes};

/// Capacities that differ by less than this share are one rate written in two ways.
const CAPACITY_TOLERANCE: f64 = 0.01;

fn note(faults: &mut Faults, kind: FaultKind, value: &str) {
    faults.note(kind, Origin::default(), value);
}

/// `name[port] to name[port]`.
pub fn cable_text(topology: &Topology, link: LinkIndex) -> String {
    let end = |link: LinkIndex| {
        let vertex = topology.from(link);
        format!("{}[{}]", topology.name(vertex), topology.port_label(vertex, topology.port(link)))
    };
    format!("{} to {}", end(link), end(topology.reverse(link)))
}

/// Links within a level of a fat tree, capacities that differ by direction, vertices without links.
pub(super) fn links(topology: &Topology, faults: &mut Faults) {
    for link in topology.links().filter(|link| *link < topology.reverse(*link)) {
        let there = topology.bytes_per_s(link);
        let back = topology.bytes_per_s(topology.reverse(link));
        if (there - back).abs() > CAPACITY_TOLERANCE * there.max(back) {
            let value = format!("{}: {there} and {back} bytes/s", cable_text(topology, link));
            note(faults, FaultKind::AsymmetricCapacity, &value);
        }
        if topology.shape().is_tree() && within_level(topology, link) {
            note(faults, FaultKind::WithinLevel, &cable_text(topology, link));
        }
    }
    for vertex in topology.vertices().filter(|vertex| topology.links_from(*vertex).next().is_none()) {
        note(faults, FaultKind::Unconnected, topology.name(vertex).as_str());
    }
}

/// Entries that name ports which are not there or LIDs which no port has.
pub(super) fn ports_of_tables(topology: &Topology, faults: &mut Faults) {
    for table in topology.forwarding() {
        for switch in table.switches() {
            let rail = rail_of(topology, switch);
            let mut reported = [false; 256];
            for (lid, port) in table.row(switch).unwrap_or_default().iter().enumerate() {
                let lid = lid as u16;
                let own = *port == 0 && topology.lids().owner(rail, lid).is_some_and(|(v, _)| v == switch);
                if *port == NO_PORT || own {
                    continue;
                }
                let name = topology.name(switch);
                if topology.link(switch, u16::from(*port)).is_none() && !reported[usize::from(*port)] {
                    reported[usize::from(*port)] = true;
                    let value = format!("{name} forwards lid {lid} to port {port}");
                    note(faults, FaultKind::UnknownPort, &value);
                }
                if topology.lids().owner(rail, lid).is_none() {
                    note(faults, FaultKind::UnknownLid, &format!("{name} forwards lid {lid} to port {port}"));
                }
            }
        }
    }
}

/// The rail of a switch: that of its first link.
pub(super) fn rail_of(topology: &Topology, switch: VertexIndex) -> u8 {
    topology.links_from(switch).next().map_or(0, |link| topology.rail(link))
}

/// Loops and dead ends on the way to each LID of a host, from every switch of its rail, by the latest tables.
pub(super) fn destinations(topology: &Topology, faults: &mut Faults) {
    let routes = topology.routes_at(None);
    if routes.is_empty() {
        return;
    }
    let rails: Vec<u8> = topology.vertices().map(|vertex| rail_of(topology, vertex)).collect();
    let mut marks = Marks { state: vec![0; topology.vertex_count()], lid: 0 };
    for rail in 0..topology.rail_count() as u8 {
        let switches: Vec<VertexIndex> =
            routes.switches().map(|(v, _)| v).filter(|v| rails[v.at()] == rail).collect();
        for (lid, owner, _) in topology.lids().of_rail(rail) {
            if topology.kind(owner) == VertexKind::Host {
                marks.lid += 1;
                one_destination(&routes, &switches, (lid, owner), &mut marks, faults);
            }
        }
    }
}

/// What is known of the switches for the LID looked at: twice its number if on the way now, one more if settled.
struct Marks {
    state: Vec<u32>,
    lid: u32,
}

/// Follows the entries of all switches for one LID; each switch is passed once. One fault of a kind suffices.
fn one_destination(
    routes: &Routes<'_>,
    switches: &[VertexIndex],
    (lid, owner): (u16, VertexIndex),
    marks: &mut Marks,
    faults: &mut Faults,
) {
    let (mut looped, mut dead) = (false, false);
    let mut way = Vec::new();
    for start in switches {
        match walk(routes, *start, (lid, owner), marks, &mut way) {
            None => {}
            Some((at, RouteError::Loop(_))) if !std::mem::replace(&mut looped, true) => {
                let value = route_text(routes, lid, owner, at);
                note(faults, FaultKind::Loop, &value);
            }
            Some((_, RouteError::Loop(_))) => {}
            Some(_) if std::mem::replace(&mut dead, true) => {}
            Some((at, error)) => {
                let value = format!("{}: {error}", route_text(routes, lid, owner, at));
                note(faults, FaultKind::Unreachable, &value);
            }
        }
    }
}

/// Follows the tables from `start` until the owner of the LID or a switch that was judged; where they end
/// before it, and why.
fn walk(
    routes: &Routes<'_>,
    start: VertexIndex,
    (lid, owner): (u16, VertexIndex),
    marks: &mut Marks,
    way: &mut Vec<VertexIndex>,
) -> Option<(VertexIndex, RouteError)> {
    let (passing, settled) = (marks.lid * 2, marks.lid * 2 + 1);
    let mut at = start;
    way.clear();
    let end = loop {
        if at == owner || marks.state[at.at()] == settled {
            break None;
        }
        if marks.state[at.at()] == passing {
            break Some((at, RouteError::Loop(at)));
        }
        if routes.topology().kind(at) == VertexKind::Host {
            break Some((at, RouteError::WrongHost(at)));
        }
        marks.state[at.at()] = passing;
        way.push(at);
        match routes.next(at, lid) {
            Ok(link) => at = routes.topology().to(link),
            Err(error) => break Some((at, error)),
        }
    };
    way.iter().for_each(|passed| marks.state[passed.at()] = settled);
    end
}

fn route_text(routes: &Routes<'_>, lid: u16, owner: VertexIndex, at: VertexIndex) -> String {
    let name = |vertex| routes.topology().name(vertex);
    format!("lid {lid} of {} from {}", name(owner), name(at))
}
