//! From cables to columns, and what follows for rails, groups, classes and LIDs.

use super::cables::Cable;
use super::{Claim, Draft};
use crate::class::{LinkClass, Shape, VertexKind};
use crate::draft::naming::sanitised;
use crate::fault::FaultKind;
use crate::forwarding::{LID_MAX, Lids};
use crate::graph::{LinkIndex, Links, NONE, Topology, VertexIndex, Vertices};
use crate::levels;
use crate::spellings::HostSpellings;
use schemas::Name;
use schemas::xname::JackPort;
use std::collections::HashMap;

/// Rail of a link whose files give none, until it is derived.
const NO_RAIL: u8 = u8::MAX;

impl Draft {
    pub(super) fn columns(&mut self, names: Vec<Name>, cables: Vec<Cable>) -> Topology {
        let links = columns_of(&cables, names.len());
        let by_name = self.by_name(&names);
        let first_link = first_links(&links.from, names.len());
        let mut vertices = Vertices {
            levels: Vec::new(),
            groups: self.facts.iter().map(|facts| facts.group.unwrap_or(NONE)).collect(),
            guids: self.facts.iter().map(|facts| facts.guid).collect(),
            ports: self.facts.iter().map(|facts| facts.ports).collect(),
            adapters: self.facts.iter().map(|facts| adapters(&facts.adapters)).collect(),
            kinds: std::mem::take(&mut self.kinds),
            names,
            first_link,
        };
        // A switch has at least the ports that are connected. The numbers of jacks are no counts.
        for (from, port) in links.from.iter().zip(&links.port) {
            let above = u16::from(vertices.kinds[from.at()] == VertexKind::Router);
            if vertices.kinds[from.at()] != VertexKind::Host && JackPort::of_number(*port).is_none() {
                vertices.ports[from.at()] = vertices.ports[from.at()].max(port.saturating_add(above));
            }
        }
        let shape = self.shape.unwrap_or(Shape::Other);
        let spellings = HostSpellings::of(&by_name, &vertices.kinds);
        let (lids, forwarding) = (Lids::default(), Vec::new());
        Topology { shape, vertices, links, lids, forwarding, by_name, spellings }
    }

    fn by_name(&self, names: &[Name]) -> HashMap<Name, VertexIndex> {
        let mut by_name: HashMap<Name, VertexIndex> =
            names.iter().zip(0..).map(|(name, at)| (name.clone(), VertexIndex(at))).collect();
        for (facts, at) in self.facts.iter().zip(0..) {
            for alias in facts.aliases.iter().filter_map(|alias| Name::parse(alias).ok()) {
                by_name.entry(alias).or_insert(VertexIndex(at));
            }
        }
        by_name
    }

    /// Where the files give no rails: switches that are connected without passing a host are one rail.
    pub(super) fn fill_rails(&self, topology: &mut Topology) {
        if topology.links.rail.iter().all(|rail| *rail != NO_RAIL) {
            return;
        }
        let rails = levels::rails(topology);
        for at in 0..topology.link_count() {
            if topology.links.rail[at] == NO_RAIL {
                let (from, to) = (topology.links.from[at], topology.links.to[at]);
                topology.links.rail[at] = rails[from.at()].or(rails[to.at()]).unwrap_or(0);
            }
        }
    }

    pub(super) fn fill_groups(&self, topology: &mut Topology) {
        if topology.vertices.groups.iter().all(|group| *group == NONE) {
            topology.vertices.groups = levels::groups(topology);
        }
    }

    /// Where the files give no classes, they follow from levels and groups.
    pub(super) fn fill_classes(&self, topology: &mut Topology) {
        for link in topology.links() {
            if topology.links.class[link.at()] == LinkClass::Other {
                topology.links.class[link.at()] = levels::class(topology, link);
            }
        }
    }

    pub(super) fn fill_lids(&mut self, topology: &mut Topology) {
        let claims = std::mem::take(&mut self.lids);
        for claim in claims {
            let vertex = claim.vertex.index();
            let link = topology.link(vertex, claim.port).or_else(|| topology.links_from(vertex).next());
            let rail = link.map_or(0, |link| topology.rail(link));
            for path in 0..1u16 << claim.lmc {
                let lid = claim.lid.saturating_add(path);
                if lid == 0 || lid > LID_MAX {
                    continue;
                }
                if let Err((owner, _)) = topology.lids.give(rail, lid, vertex, claim.port) {
                    let value =
                        format!("lid {lid} of {} and {}", topology.name(owner), topology.name(vertex));
                    let origin = self.origin(claim.file, claim.line);
                    self.faults.note(FaultKind::LidTwice, origin, &value);
                }
            }
        }
    }
}

fn columns_of(cables: &[Cable], vertices: usize) -> Links {
    let mut ends: Vec<(Claim, u32)> = Vec::with_capacity(cables.len() * 2);
    for (cable, (near, far)) in cables.iter().enumerate() {
        ends.extend([(*near, cable as u32), (*far, cable as u32)]);
    }
    ends.sort_by_key(|(claim, _)| (claim.end.vertex, claim.end.port));
    debug_assert!(ends.iter().all(|(claim, _)| (claim.end.vertex.0 as usize) < vertices));
    let mut other_end = vec![NONE; cables.len()];
    let mut links = Links::default();
    for (at, (claim, cable)) in ends.iter().enumerate() {
        links.from.push(claim.end.vertex.index());
        links.to.push(claim.end.peer.index());
        links.port.push(claim.end.port);
        links.class.push(claim.end.class.unwrap_or(LinkClass::Other));
        links.rail.push(claim.end.rail.unwrap_or(NO_RAIL));
        links.bytes_per_s.push(claim.end.bytes_per_s);
        links.reverse.push(LinkIndex(other_end[*cable as usize]));
        match links.reverse[at].0 {
            NONE => other_end[*cable as usize] = at as u32,
            first => links.reverse[first as usize] = LinkIndex(at as u32),
        }
    }
    links
}

fn first_links(from: &[VertexIndex], vertices: usize) -> Vec<u32> {
    let mut first = vec![0; vertices + 1];
    for vertex in from {
        first[vertex.at() + 1] += 1;
    }
    for at in 0..vertices {
        first[at + 1] += first[at];
    }
    first
}

fn adapters(labels: &[String]) -> Box<[Name]> {
    let names = labels.iter().enumerate().map(|(at, text)| {
        let name = sanitised(text).or_else(|| Name::parse(&format!("adapter{at}")).ok());
        name.unwrap_or_else(|| unreachable!("letters and digits"))
    });
    names.collect()
}
