//! Ways through the network, and what becomes of them while links are down.

use super::flows::Paths;
use schemas::topology::{Routes, VertexKind};
use schemas::{LinkIndex, Topology, VertexIndex};
use std::collections::HashMap;
use std::collections::VecDeque;

/// How a flow finds its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// By the forwarding tables of the topology that are valid last; where it has none, as `Minimal`.
    Tables,
    /// A shortest path; among equal links the hash of sender and receiver decides, at every switch anew.
    Minimal,
}

/// No way.
const FAR: u8 = u8::MAX;

/// Finds ways while some links are down.
pub(super) struct Router<'t> {
    topology: &'t Topology,
    tables: Option<Routes<'t>>,
    lids: Vec<u16>,
    down: &'t [bool],
    hops: HashMap<VertexIndex, Vec<u8>>,
}

impl<'t> Router<'t> {
    /// `down` has one place for each link, or none if all are up.
    pub(super) fn new(topology: &'t Topology, routing: Routing, down: &'t [bool]) -> Router<'t> {
        let tables = Some(topology.routes_at(None)).filter(|t| routing == Routing::Tables && !t.is_empty());
        let lids = topology.lids().lowest(0, topology.vertex_count());
        Router { topology, tables, lids, down, hops: HashMap::new() }
    }

    /// Adds the way from `from` to `to`, an empty one if there is none.
    ///
    /// A failed link is replaced by another of its trunk; if none is left, the flow takes a shortest path over what
    /// is left of the uplinks and downlinks. In a fat tree that path must not be longer than the usual one: tables
    /// of trees never lead down and up again. What finds no path is lost.
    pub(super) fn add_path(&mut self, from: VertexIndex, to: VertexIndex, paths: &mut Paths) {
        let Some(mut usual) = self.usual(from, to) else { return paths.push(&[]) };
        let mended = usual.iter_mut().all(|link| {
            let found = if self.is_down(*link) { self.in_trunk(*link, from, to) } else { Some(*link) };
            found.map(|found| *link = found).is_some()
        });
        if mended {
            return paths.push(&usual);
        }
        let longest = if self.topology.shape().is_tree() { usual.len() } else { usize::MAX };
        let detour = self.shortest(from, to).filter(|path| path.len() <= longest);
        paths.push(&detour.unwrap_or_default());
    }

    fn is_down(&self, link: LinkIndex) -> bool {
        self.down.get(link.at()).copied().unwrap_or(false)
    }

    fn usual(&mut self, from: VertexIndex, to: VertexIndex) -> Option<Vec<LinkIndex>> {
        match &self.tables {
            Some(tables) => tables.walk(from, 0, self.lids[to.at()]).ok(),
            None => self.shortest(from, to),
        }
    }

    fn in_trunk(&self, link: LinkIndex, from: VertexIndex, to: VertexIndex) -> Option<LinkIndex> {
        let (near, far) = (self.topology.from(link), self.topology.to(link));
        let alive = |other: &LinkIndex| self.topology.to(*other) == far && !self.is_down(*other);
        pick(self.topology.links_from(near).filter(alive), hash(from, to, near))
    }

    /// A shortest path over links that are up.
    fn shortest(&mut self, from: VertexIndex, to: VertexIndex) -> Option<Vec<LinkIndex>> {
        if !self.hops.contains_key(&to) {
            let hops = self.hops_to(to);
            self.hops.insert(to, hops);
        }
        let hops = self.hops.get(&to)?;
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            let nearer = |link: &LinkIndex| {
                let next = hops[self.topology.to(*link).at()];
                next != FAR && next < hops[at.at()] && !self.is_down(*link)
            };
            let next = pick(self.topology.links_from(at).filter(nearer), hash(from, to, at))?;
            path.push(next);
            at = self.topology.to(next);
        }
        Some(path)
    }

    /// Hops of all switches, and of the hosts beside them, to `goal`. Hosts do not pass on.
    fn hops_to(&self, goal: VertexIndex) -> Vec<u8> {
        let mut hops = vec![FAR; self.topology.vertex_count()];
        hops[goal.at()] = 0;
        let mut queue = VecDeque::from([goal]);
        while let Some(vertex) = queue.pop_front() {
            if vertex != goal && self.topology.kind(vertex) == VertexKind::Host {
                continue;
            }
            for link in self.topology.links_from(vertex) {
                let to = self.topology.to(link);
                if hops[to.at()] == FAR && !self.is_down(self.topology.reverse(link)) {
                    hops[to.at()] = hops[vertex.at()].saturating_add(1).min(FAR - 1);
                    queue.push_back(to);
                }
            }
        }
        hops
    }
}

fn pick(links: impl Iterator<Item = LinkIndex> + Clone, hash: u64) -> Option<LinkIndex> {
    let count = links.clone().count() as u64;
    let mut links = links;
    links.nth(hash.checked_rem(count)? as usize)
}

/// Spreads pairs over links; the place where it is asked keeps choices at successive switches apart.
fn hash(from: VertexIndex, to: VertexIndex, at: VertexIndex) -> u64 {
    let mut mixed = (u64::from(from.0) << 32 | u64::from(to.0)).wrapping_add(u64::from(at.0) << 20);
    for factor in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 31)
}
