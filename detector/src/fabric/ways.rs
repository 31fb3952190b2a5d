//! Which part of the traffic from one node to another crosses a link: by the forwarding tables valid then, or, without
//! tables, spread evenly over all shortest ways.

use schemas::Time;
use std::collections::{HashMap, VecDeque};
use topology::{LinkIndex, RouteError, Routes, Topology, VertexIndex, VertexKind};

/// Memory that is spent on distances; beyond it they are computed again.
const NEAR_KEPT: usize = 512;

/// Ways through the network at one time.
pub(super) struct Ways<'t> {
    topology: &'t Topology,
    routes: Option<Routes<'t>>,
    lids: Vec<Vec<u16>>,
    near: HashMap<VertexIndex, Near>,
    path: Vec<LinkIndex>,
}

/// Hops from one vertex to all others, and in how many shortest ways.
struct Near {
    hops: Vec<u32>,
    ways: Vec<f64>,
}

impl<'t> Ways<'t> {
    /// The ways of `topology` at `time`.
    pub(super) fn at(topology: &'t Topology, time: Time) -> Ways<'t> {
        let routes = Some(topology.routes_at(Some(time))).filter(|routes| !routes.is_empty());
        let rails = topology.lids().rail_count() as u8;
        let lids = (0..rails).map(|rail| topology.lids().lowest(rail, topology.vertex_count())).collect();
        Ways { topology, routes, lids, near: HashMap::new(), path: Vec::new() }
    }

    /// The network.
    pub(super) fn topology(&self) -> &'t Topology {
        self.topology
    }

    /// Whether they are known, not assumed.
    pub(super) fn are_known(&self) -> bool {
        self.routes.is_some()
    }

    /// Calls `crosses` with the slot of each of `targets` that traffic from `from` to `to` in `rail` crosses, and
    /// the part of it that does.
    pub(super) fn cross(
        &mut self,
        (from, to, rail): (VertexIndex, VertexIndex, u8),
        targets: &Targets,
        mut crosses: impl FnMut(usize, f64),
    ) {
        if self.walk(from, to, rail).is_ok() {
            for link in &self.path {
                if let Some(slot) = targets.slot(*link) {
                    crosses(slot, 1.0);
                }
            }
            return;
        }
        let topology = self.topology;
        let Some(spread) = self.spread(from, to) else { return };
        for (slot, link) in targets.links.iter().enumerate() {
            if topology.rail(*link) == rail || topology.rail_count() == 1 {
                let part = spread.part(topology.from(*link), topology.to(*link));
                if part > 0.0 {
                    crosses(slot, part);
                }
            }
        }
    }

    fn walk(&mut self, from: VertexIndex, to: VertexIndex, rail: u8) -> Result<(), RouteError> {
        self.path.clear();
        let routes = self.routes.as_ref().ok_or(RouteError::NoTable(from))?;
        let lid = self.lids.get(usize::from(rail)).and_then(|lids| lids.get(to.at())).copied().unwrap_or(0);
        routes.walk_into(from, rail, lid, &mut self.path)
    }

    /// All shortest ways; `None` if there is none.
    fn spread(&mut self, from: VertexIndex, to: VertexIndex) -> Option<Spread<'_>> {
        if self.near.len() + 2 > NEAR_KEPT {
            self.near.clear();
        }
        let topology = self.topology;
        for goal in [from, to] {
            self.near.entry(goal).or_insert_with(|| Near::of(topology, goal));
        }
        let (near_from, near_to) = (self.near.get(&from)?, self.near.get(&to)?);
        let hops = near_from.hops[to.at()];
        (hops != u32::MAX).then(|| Spread { near_from, near_to, hops, ways: near_from.ways[to.at()] })
    }
}

/// All shortest ways from one vertex to another.
struct Spread<'n> {
    near_from: &'n Near,
    near_to: &'n Near,
    hops: u32,
    ways: f64,
}

impl Spread<'_> {
    /// The part of them that leads over a link from `a` to `b`.
    fn part(&self, a: VertexIndex, b: VertexIndex) -> f64 {
        let (before, after) = (self.near_from.hops[a.at()], self.near_to.hops[b.at()]);
        // Both are as large as can be where no way leads there.
        if u64::from(before) + 1 + u64::from(after) != u64::from(self.hops) {
            return 0.0;
        }
        self.near_from.ways[a.at()] * self.near_to.ways[b.at()] / self.ways
    }
}

impl Near {
    fn of(topology: &Topology, goal: VertexIndex) -> Near {
        let count = topology.vertex_count();
        let mut near = Near { hops: vec![u32::MAX; count], ways: vec![0.0; count] };
        (near.hops[goal.at()], near.ways[goal.at()]) = (0, 1.0);
        let mut queue = VecDeque::from([goal]);
        while let Some(vertex) = queue.pop_front() {
            // Hosts send and receive, they do not pass on.
            if vertex != goal && topology.kind(vertex) == VertexKind::Host {
                continue;
            }
            let hops = near.hops[vertex.at()] + 1;
            for link in topology.links_from(vertex) {
                let to = topology.to(link);
                if near.hops[to.at()] == u32::MAX {
                    near.hops[to.at()] = hops;
                    queue.push_back(to);
                }
                if near.hops[to.at()] == hops {
                    near.ways[to.at()] += near.ways[vertex.at()];
                }
            }
        }
        near
    }
}

/// Links whose traffic is estimated.
pub(super) struct Targets {
    pub(super) links: Vec<LinkIndex>,
    slots: HashMap<LinkIndex, usize>,
}

impl Targets {
    /// Of `links`, which are all different.
    pub(super) fn of(links: Vec<LinkIndex>) -> Targets {
        let slots = links.iter().enumerate().map(|(slot, link)| (*link, slot)).collect();
        Targets { links, slots }
    }

    fn slot(&self, link: LinkIndex) -> Option<usize> {
        self.slots.get(&link).copied()
    }
}
