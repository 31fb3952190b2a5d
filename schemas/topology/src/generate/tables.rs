//! Forwarding tables of generated machines: shortest paths, and destination-mod-k among those that are equal.

use crate::class::VertexKind;
use crate::forwarding::ForwardingTable;
use crate::graph::{LinkIndex, NONE, Topology, VertexIndex};
use std::collections::VecDeque;

/// A host, its index among the hosts, and its LIDs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub vertex: VertexIndex,
    pub number: u64,
    pub lid: u16,
    /// LIDs, of which each is a path.
    pub paths: u16,
}

/// Adds a table of all switches of `rail`. Among the ports that lead to `destination` in the fewest hops, a switch
/// takes number `(destination / divisor + path * stride) mod count`. The divisor is that of the lower end's
/// level: 1 at leaves, the links up of a leaf above them. So the choice down mirrors that on the way up.
/// The stride spreads the paths of one destination evenly.
pub(super) fn mod_k(topology: &mut Topology, rail: u8, destinations: &[Destination], divisors: &[u64]) {
    let last = destinations.iter().map(|to| usize::from(to.lid) + usize::from(to.paths)).max().unwrap_or(0);
    let width = last.max(topology.lids().of_rail(rail).last().map_or(0, |(lid, ..)| usize::from(lid) + 1));
    let mut table = ForwardingTable::new(topology.vertex_count(), width, None, None);
    let mut search = Search::new(topology, rail);
    let mut leaf = None;
    for to in destinations {
        let Some(down) = search.link_to(to.vertex) else { continue };
        // Hosts of one leaf have the same shortest paths.
        if leaf.replace(topology.from(down)) != Some(topology.from(down)) {
            search.from(topology.from(down));
        }
        for path in 0..to.paths {
            for at in 0..search.order.len() {
                let switch = search.order[at];
                let link = search.choice(switch, to, path, divisors).unwrap_or(down);
                table.set(switch, to.lid + path, topology.port(link) as u8);
            }
        }
    }
    for (lid, switch, _) in topology.lids().of_rail(rail) {
        if topology.kind(switch) != VertexKind::Host {
            search.from(switch);
            table.set(switch, lid, 0);
            let to = Destination { vertex: switch, number: u64::from(lid), lid, paths: 1 };
            for other in &search.order {
                if let Some(link) = search.choice(*other, &to, 0, divisors) {
                    table.set(*other, lid, topology.port(link) as u8);
                }
            }
        }
    }
    topology.forwarding.push(table);
}

/// Hops of all switches of a rail to one of them.
struct Search<'t> {
    topology: &'t Topology,
    rail: u8,
    hops: Vec<u32>,
    /// Switches that were reached.
    order: Vec<VertexIndex>,
}

impl<'t> Search<'t> {
    fn new(topology: &'t Topology, rail: u8) -> Search<'t> {
        Search { topology, rail, hops: vec![NONE; topology.vertex_count()], order: Vec::new() }
    }

    /// The link of this rail that leads to `host`.
    fn link_to(&self, host: VertexIndex) -> Option<LinkIndex> {
        let mut links = self.topology.links_from(host);
        let up = links.find(|link| self.topology.rail(*link) == self.rail)?;
        Some(self.topology.reverse(up))
    }

    fn passes(&self, link: LinkIndex) -> bool {
        self.topology.rail(link) == self.rail
            && self.topology.kind(self.topology.to(link)) != VertexKind::Host
    }

    fn from(&mut self, goal: VertexIndex) {
        self.hops.fill(NONE);
        self.order.clear();
        self.hops[goal.at()] = 0;
        let mut queue = VecDeque::from([goal]);
        while let Some(switch) = queue.pop_front() {
            self.order.push(switch);
            for link in self.topology.links_from(switch) {
                let to = self.topology.to(link);
                if self.hops[to.at()] == NONE && self.passes(link) {
                    self.hops[to.at()] = self.hops[switch.at()] + 1;
                    queue.push_back(to);
                }
            }
        }
    }

    /// The port towards the goal; `None` at the goal itself.
    fn choice(
        &self,
        switch: VertexIndex,
        to: &Destination,
        path: u16,
        divisors: &[u64],
    ) -> Option<LinkIndex> {
        let hops = self.hops[switch.at()];
        let nearer = |link: &LinkIndex| {
            self.passes(*link) && self.hops[self.topology.to(*link).at()].saturating_add(1) == hops
        };
        let equal = self.topology.links_from(switch).filter(nearer);
        let count = equal.clone().count() as u64;
        let first = equal.clone().next()?;
        let level = |vertex| self.topology.level(vertex).unwrap_or(1);
        let low = level(switch).min(level(self.topology.to(first))).max(1);
        let divisor = divisors.get(usize::from(low) - 1).or(divisors.last()).copied().unwrap_or(1);
        let stride = (count / u64::from(to.paths)).max(1);
        let number = (to.number / divisor.max(1) + u64::from(path) * stride) % count;
        equal.clone().nth(number as usize)
    }
}
