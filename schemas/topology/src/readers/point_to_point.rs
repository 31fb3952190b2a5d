//! HPE Slingshot: the point-to-point file, `Shasta_system_hsn_pt_pt.csv`, a line a cable.
//!
//! ```text
//! cable_id,src_conn_a,src_conn_b,dst_conn_a,dst_conn_b,stage,…,link_type,src_group,dst_group,…
//! 3000.9000.00.0001,x3000c0r15j1,none,x9000c1r3j3,none,1,…,global,0,1,…
//! 3000.3000.00.0000,x3000c0r15j14,none,x3000c0s17b1n0h0,x3000c0s4b1n0h1,1,…,edge,0,none,…
//! ```
//!
//! The file names jacks, and no ports of jacks. The reader assumes:
//! * Two ends on each side are two links: a with a, and b with b. The links keep the jacks' names, `j1`.
//! * One jack with two ends on the other side has two ports: `j14p0` is connected with a, `j14p1` with b.
//! * One end on each side is one link, although a jack may carry two: the file does not report how many.
//! * Egress columns name the sides of the cabinets where a cable leaves, not ports: they are not read.
//! * A node has the group of its switch. All cables are one rail. Capacities are unknown.

use super::point_line::{self, Cable, GroupCell, PointLine, Side};
use crate::series::{ADAPTER_PORTS, INTERFACE_PORT};
use crate::{Draft, DraftVertex, FaultKind, LinkClass, PortClaim, Shape, VertexKind};
use schemas::xname::{CableEnd, JackPort};

/// Ports of a Slingshot switch.
const SWITCH_PORTS: u16 = 64;

pub(super) fn read(draft: &mut Draft, name: &str, text: &str) {
    draft.begin_file(name);
    draft.shape = Some(Shape::Dragonfly);
    for (at, line) in text.lines().enumerate() {
        draft.at_line(u32::try_from(at + 1).unwrap_or(u32::MAX));
        match point_line::parse(line) {
            Ok(PointLine::Cable(cable)) => add(draft, &cable),
            Ok(PointLine::Header | PointLine::Nothing) => {}
            Err(why) => draft.fault(FaultKind::BadCable, &why),
        }
    }
}

/// Adds the links of a cable. The draft merges equal claims, so a cable that is in the file twice counts once.
fn add(draft: &mut Draft, cable: &Cable) {
    let (source, destination) = (&cable.source, &cable.destination);
    let (near, far) = match paired(&source.ends, &destination.ends) {
        Ok(paired) => paired,
        Err(why) => return draft.fault(FaultKind::BadCable, &why),
    };
    let near: Vec<_> =
        near.iter().map(|end| port(draft, end, group(cable.class, source, destination))).collect();
    let far: Vec<_> =
        far.iter().map(|end| port(draft, end, group(cable.class, destination, source))).collect();
    for ((vertex, port), (peer, peer_port)) in near.into_iter().zip(far) {
        let class = Some(cable.class).filter(|class| fits(draft, *class, vertex, peer));
        let (bytes_per_s, rail) = (f64::NAN, Some(0));
        draft.connect(PortClaim { vertex, port, peer, peer_port, bytes_per_s, class, rail });
    }
}

/// The ends of both sides, such that those at the same position are connected.
fn paired(source: &[CableEnd], destination: &[CableEnd]) -> Result<(Vec<CableEnd>, Vec<CableEnd>), String> {
    Ok(match (source, destination) {
        ([one], [_, _]) => (halves(one, "src_conn_a")?, destination.to_vec()),
        ([_, _], [one]) => (source.to_vec(), halves(one, "dst_conn_a")?),
        _ => (source.to_vec(), destination.to_vec()),
    })
}

/// The two ports of a jack.
fn halves(end: &CableEnd, column: &str) -> Result<Vec<CableEnd>, String> {
    match end {
        CableEnd::Jack { switch, port } => {
            let half = |port: JackPort| CableEnd::Jack { switch: switch.clone(), port };
            Ok(port.halves().map(half).to_vec())
        }
        CableEnd::Interface { node, interface } => Err(format!(
            "{column} \"{node}{interface}\" is a NIC with one port, but the other side has two ends."
        )),
    }
}

/// The group of a side. Within a group the other side may give it.
fn group(class: LinkClass, side: &Side, other: &Side) -> Option<GroupCell> {
    side.group.or(other.group.filter(|_| class != LinkClass::Global))
}

fn port(draft: &mut Draft, end: &CableEnd, group: Option<GroupCell>) -> (DraftVertex, u16) {
    match end {
        CableEnd::Jack { switch, port } => (switch_vertex(draft, switch, group), port.number()),
        CableEnd::Interface { node, interface } => {
            let host = draft.vertex(node, VertexKind::Host);
            let facts = draft.facts(host);
            facts.name = Some(node.clone());
            facts.group = facts.group.or(group.map(|group| group.number));
            let known = facts.adapters.iter().position(|known| known == interface);
            let adapter = known.unwrap_or_else(|| {
                facts.adapters.push(interface.clone());
                facts.adapters.len() - 1
            });
            facts.ports = facts.adapters.len().min(usize::from(u16::MAX)) as u16;
            (host, adapter.min(254) as u16 * ADAPTER_PORTS + INTERFACE_PORT)
        }
    }
}

fn switch_vertex(draft: &mut Draft, switch: &str, group: Option<GroupCell>) -> DraftVertex {
    let vertex = draft.vertex(switch, VertexKind::Switch);
    let facts = draft.facts(vertex);
    facts.name = Some(switch.to_string());
    facts.ports = SWITCH_PORTS;
    match (facts.group, group) {
        (Some(known), Some(GroupCell { column, number })) if known != number => {
            let value =
                format!("{column} \"{number}\", but an earlier line gives group {known} to {switch}.");
            draft.fault(FaultKind::GroupConflict, &value);
        }
        (known, given) => facts.group = known.or(given.map(|group| group.number)),
    }
    vertex
}

/// Edge cables connect a node with a switch, local ones switches of a group, global ones switches of two groups.
fn fits(draft: &mut Draft, class: LinkClass, a: DraftVertex, b: DraftVertex) -> bool {
    let switches = [a, b].iter().filter(|vertex| draft.kind(**vertex) == VertexKind::Switch).count();
    let groups = draft.facts(a).group.zip(draft.facts(b).group);
    let (fits, word) = match class {
        LinkClass::Host => (switches == 1, "edge"),
        LinkClass::Local => (switches == 2 && groups.is_none_or(|(a, b)| a == b), "local"),
        _ => (switches == 2 && groups.is_none_or(|(a, b)| a != b), "global"),
    };
    if !fits {
        let (a, b) = (described(draft, a), described(draft, b));
        draft.fault(FaultKind::ClassConflict, &format!("link_type \"{word}\" does not fit {a} and {b}."));
    }
    fits
}

/// `x3000c0r15 (switch, group 0)`.
fn described(draft: &mut Draft, vertex: DraftVertex) -> String {
    let kind = draft.kind(vertex).name();
    let facts = draft.facts(vertex);
    let group = facts.group.map_or("no group".to_string(), |group| format!("group {group}"));
    format!("{} ({kind}, {group})", facts.name.as_deref().unwrap_or_default())
}
