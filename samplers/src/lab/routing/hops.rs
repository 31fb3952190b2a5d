//! Shortest ways over links that are up.

use super::super::flows::Paths;
use std::collections::{HashMap, VecDeque};
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// No way.
const FAR: u8 = u8::MAX;

/// Whose way it is, and which of its ways: spreads choices among equal links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub from: VertexIndex,
    pub to: VertexIndex,
    /// Number of the way; 0 for the usual one.
    pub lane: u32,
}

impl Draw {
    pub(super) fn new(from: VertexIndex, to: VertexIndex) -> Draw {
        Draw { from, to, lane: 0 }
    }

    pub(super) fn lane(self, lane: u32) -> Draw {
        Draw { lane, ..self }
    }

    /// The switch that draws keeps choices at successive switches apart.
    pub(super) fn at(self, at: u32) -> u64 {
        let lane = u64::from(self.lane).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let pair = u64::from(self.from.0) << 32 | u64::from(self.to.0);
        let mut mixed = pair.wrapping_add(u64::from(at) << 20) ^ lane;
        for factor in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(factor);
        }
        mixed ^ (mixed >> 31)
    }

    /// One of `links`.
    pub(super) fn pick(
        self,
        links: impl Iterator<Item = LinkIndex> + Clone,
        at: VertexIndex,
    ) -> Option<LinkIndex> {
        let count = links.clone().count() as u64;
        let mut links = links;
        links.nth(self.at(at.0).checked_rem(count)? as usize)
    }
}

/// Hops to goals, each reckoned once.
pub(super) struct Hops<'t> {
    topology: &'t Topology,
    down: &'t [bool],
    to: HashMap<VertexIndex, Vec<u8>>,
}

impl<'t> Hops<'t> {
    /// `down` has one entry for each link, or none if all are up.
    pub(super) fn new(topology: &'t Topology, down: &'t [bool]) -> Hops<'t> {
        Hops { topology, down, to: HashMap::new() }
    }

    pub(super) fn is_down(&self, link: LinkIndex) -> bool {
        self.down.get(link.at()).copied().unwrap_or(false)
    }

    /// A shortest path; `None` if there is none.
    pub(super) fn shortest(
        &mut self,
        from: VertexIndex,
        to: VertexIndex,
        draw: Draw,
    ) -> Option<Vec<LinkIndex>> {
        // Hosts of one switch have the hops of their switch in common.
        let goal = self.door(to);
        self.remember(goal);
        let hops = self.to.get(&goal)?;
        let mut path = Vec::with_capacity(8);
        let mut at = from;
        while at != to {
            let nearer = |link: &LinkIndex| {
                let next = self.topology.to(*link);
                let step = if at == goal { next == to } else { hops[next.at()] < hops[at.at()] };
                step && !self.is_down(*link)
            };
            let next = draw.pick(self.topology.links_from(at).filter(nearer), at)?;
            path.push(next);
            at = self.topology.to(next);
        }
        Some(path)
    }

    fn remember(&mut self, goal: VertexIndex) {
        if !self.to.contains_key(&goal) {
            let hops = self.hops_to(goal);
            self.to.insert(goal, hops);
        }
    }

    /// The switch through which all that goes to a host must pass; itself, if there are several.
    fn door(&self, vertex: VertexIndex) -> VertexIndex {
        if self.topology.kind(vertex) != VertexKind::Host {
            return vertex;
        }
        let mut next = self.topology.links_from(vertex).map(|link| self.topology.to(link));
        let first = next.next().unwrap_or(vertex);
        let is_switch = self.topology.kind(first) != VertexKind::Host;
        if is_switch && next.all(|other| other == first) { first } else { vertex }
    }

    /// Hops of all switches, and of the hosts beside them, to `goal`. Hosts do not pass on.
    fn hops_to(&self, goal: VertexIndex) -> Vec<u8> {
        let mut hops = vec![FAR; self.topology.vertex_count()];
        hops[goal.at()] = 0;
        let mut queue = VecDeque::from([goal]);
        while let Some(vertex) = queue.pop_front() {
            let beyond = hops[vertex.at()].saturating_add(1).min(FAR - 1);
            for link in self.topology.links_from(vertex) {
                let to = self.topology.to(link);
                if hops[to.at()] == FAR && !self.is_down(self.topology.reverse(link)) {
                    hops[to.at()] = beyond;
                    if self.topology.kind(to) != VertexKind::Host {
                        queue.push_back(to);
                    }
                }
            }
        }
        hops
    }
}

/// The path without what lies between two visits of one vertex, so that it takes every link at most once.
pub(super) fn without_loops(topology: &Topology, path: Vec<LinkIndex>) -> Vec<LinkIndex> {
    let mut kept: Vec<LinkIndex> = Vec::with_capacity(path.len());
    for link in path {
        kept.push(link);
        let at = topology.to(link);
        if let Some(first) = kept.iter().position(|earlier| topology.from(*earlier) == at) {
            kept.truncate(first);
        }
    }
    kept
}

/// Adds each of `found` once, an empty path if there is none.
pub(super) fn push_distinct(found: Vec<Vec<LinkIndex>>, paths: &mut Paths) {
    let ways: Vec<&Vec<LinkIndex>> = found.iter().filter(|path| !path.is_empty()).collect();
    for (index, path) in ways.iter().enumerate() {
        if !ways[..index].contains(path) {
            paths.push(path);
        }
    }
    if ways.is_empty() {
        paths.push(&[]);
    }
}
