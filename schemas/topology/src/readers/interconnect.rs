//! A Cray XC: output of `rtr --interconnect`, a line a tile, and lists of nodes that give numbers to cnames.
//!
//! ```text
//! c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)
//! c0-0c0s0a0l01(0:0:0) blue -> unused
//! c0-0c0s0a0l50(0:0:0) ptile -> processor
//! ```

use crate::cname::{Slot, parse_node, parse_tile};
use crate::{Draft, DraftVertex, FaultKind, LinkClass, PortClaim, Shape, VertexKind};
use std::collections::{BTreeSet, HashMap};

/// Bytes a second and direction of copper, fibre and a processor tile; see `crate::generate::Aries`.
const ELECTRICAL: f64 = 5.25e9;
const OPTICAL: f64 = 4.7e9;
const PROCESSOR: f64 = 8e9;
/// First of the eight processor tiles, of which two belong to a node.
const FIRST_PROCESSOR: u16 = 40;
const TILES: u16 = 48;

/// Numbers of nodes by slot and position.
#[derive(Debug, Default)]
pub(super) struct Nodes(HashMap<(Slot, u32), u32>);

impl Nodes {
    /// Reads lines that hold a number and a cname, as `xtprocadmin` prints them; others are headings.
    pub(super) fn read(&mut self, draft: &mut Draft, name: &str, text: &str) {
        draft.begin_file(name);
        for (at, line) in text.lines().enumerate() {
            draft.at_line(at as u32 + 1);
            if let Some((position, number)) = node(line) {
                let before = self.0.insert(position, number);
                if before.is_some_and(|before| before != number) {
                    draft.fault(FaultKind::NameTwice, line);
                }
            } else if line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
                draft.fault(FaultKind::BadNode, line);
            }
        }
    }

    /// `nid00012`, or the cname where no number is known.
    fn name(&self, slot: Slot, node: u32) -> String {
        match self.0.get(&(slot, node)) {
            Some(number) => format!("nid{number:05}"),
            None => format!("{slot}n{node}"),
        }
    }
}

/// Slot, position and number of a node: `12 0xc c0-0c0s3n0 compute` or `nid00012 c0-0c0s3n0`.
pub(super) fn node(line: &str) -> Option<((Slot, u32), u32)> {
    let mut words = line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let first = words.next()?;
    let number = first.strip_prefix("nid").unwrap_or(first).parse().ok()?;
    let position = words.find_map(parse_node)?;
    Some((position, number))
}

pub(super) fn read(draft: &mut Draft, nodes: &Nodes, name: &str, text: &str) {
    draft.begin_file(name);
    draft.shape = Some(Shape::Aries);
    let groups = groups(text);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        draft.at_line(at as u32 + 1);
        if !line.is_empty() && !line.starts_with('#') && tile_line(draft, nodes, &groups, line).is_none() {
            draft.fault(FaultKind::BadLine, line);
        }
    }
}

/// Numbers of the pairs of cabinets, in the order of rows and columns.
fn groups(text: &str) -> HashMap<(u32, u32), u32> {
    let slots = text.lines().filter_map(|line| Slot::parse_prefix(line.trim_start()));
    let pairs: BTreeSet<(u32, u32)> = slots.map(|(slot, _)| (slot.row, slot.column / 2)).collect();
    pairs.into_iter().zip(0..).collect()
}

fn tile_line(draft: &mut Draft, nodes: &Nodes, groups: &HashMap<(u32, u32), u32>, line: &str) -> Option<()> {
    let (near, far) = line.split_once("->")?;
    let (slot, tile, rest) = parse_tile(near)?;
    let colour = rest.split_ascii_whitespace().last()?;
    let class = match colour {
        "green" => LinkClass::Green,
        "black" => LinkClass::Black,
        "blue" => LinkClass::Blue,
        "ptile" | "host" => LinkClass::Host,
        _ => return None,
    };
    let vertex = router(draft, groups, slot);
    match far.trim() {
        "unused" => {}
        "processor" => node_of(draft, nodes, groups, (slot, vertex, tile))?,
        far => {
            let (peer_slot, peer_port, _) = parse_tile(far)?;
            if !fits(class, slot, peer_slot) {
                draft.fault(FaultKind::ClassConflict, line);
            }
            let peer = router(draft, groups, peer_slot);
            let bytes_per_s = if class == LinkClass::Blue { OPTICAL } else { ELECTRICAL };
            let (class, rail) = (Some(class), Some(0));
            draft.claim(PortClaim { vertex, port: tile, peer, peer_port, bytes_per_s, class, rail });
        }
    }
    Some(())
}

/// Green stays in the chassis, black goes to the same slot of another chassis of the group, blue to another group.
fn fits(class: LinkClass, a: Slot, b: Slot) -> bool {
    match class {
        LinkClass::Green => a.same_chassis(b),
        LinkClass::Black => a.same_group(b) && !a.same_chassis(b) && a.slot == b.slot,
        _ => !a.same_group(b),
    }
}

fn router(draft: &mut Draft, groups: &HashMap<(u32, u32), u32>, slot: Slot) -> DraftVertex {
    let name = slot.to_string();
    let vertex = draft.vertex(&name, VertexKind::Router);
    let facts = draft.facts(vertex);
    facts.group = groups.get(&(slot.row, slot.column / 2)).copied();
    facts.ports = TILES;
    facts.name = Some(name);
    vertex
}

/// Processor tiles 0 and 1 belong to node 0, and so on.
fn node_of(
    draft: &mut Draft,
    nodes: &Nodes,
    groups: &HashMap<(u32, u32), u32>,
    (slot, router, tile): (Slot, DraftVertex, u16),
) -> Option<()> {
    let position = tile.checked_sub(FIRST_PROCESSOR)?;
    let node = u32::from(position / 2);
    let host = draft.vertex(&format!("{slot}n{node}"), VertexKind::Host);
    let facts = draft.facts(host);
    facts.group = groups.get(&(slot.row, slot.column / 2)).copied();
    facts.name = Some(nodes.name(slot, node));
    facts.ports = 2;
    draft.connect(PortClaim {
        vertex: router,
        port: tile,
        peer: host,
        peer_port: position % 2,
        bytes_per_s: PROCESSOR,
        class: Some(LinkClass::Host),
        rail: Some(0),
    });
    Some(())
}
