//! Levels, groups and rails, where the files do not give them (Brown 2018, 4.2: breadth-first from the hosts).

use super::class::{LinkClass, Shape, VertexKind};
use super::graph::{LinkIndex, NO_LEVEL, NONE, Topology, VertexIndex};
use std::collections::VecDeque;

/// Up to this share of links within a level, the network is a fat tree with faults.
const WITHIN_LEVEL_SHARE_MAX: f64 = 0.1;

/// Hops of each vertex to its nearest host; 255 where there is no way.
pub(super) fn levels(topology: &Topology) -> Vec<u8> {
    let mut levels = vec![NO_LEVEL; topology.vertex_count()];
    let mut queue: VecDeque<VertexIndex> = topology.vertices_of(VertexKind::Host).collect();
    for host in &queue {
        levels[host.at()] = 0;
    }
    while let Some(vertex) = queue.pop_front() {
        let next = levels[vertex.at()].saturating_add(1).min(NO_LEVEL - 1);
        for link in topology.links_from(vertex) {
            let to = topology.to(link);
            if levels[to.at()] == NO_LEVEL {
                levels[to.at()] = next;
                queue.push_back(to);
            }
        }
    }
    levels
}

fn top_level(topology: &Topology) -> u8 {
    let levels = topology.vertices.levels.iter().copied();
    levels.filter(|level| *level != NO_LEVEL).max().unwrap_or(0)
}

pub(super) fn within_level(topology: &Topology, link: LinkIndex) -> bool {
    let level = |vertex: VertexIndex| topology.vertices.levels[vertex.at()];
    level(topology.from(link)) == level(topology.to(link))
}

fn within_level_share(topology: &Topology) -> f64 {
    let between_switches = |link: &LinkIndex| {
        [topology.from(*link), topology.to(*link)].iter().all(|v| topology.kind(*v) != VertexKind::Host)
    };
    let switches: Vec<LinkIndex> = topology.links().filter(between_switches).collect();
    let within = switches.iter().filter(|link| within_level(topology, **link)).count();
    within as f64 / switches.len().max(1) as f64
}

/// The shape of a network whose files give none.
pub(super) fn shape(topology: &Topology) -> Shape {
    if topology.vertices.kinds.contains(&VertexKind::Router) {
        return Shape::Aries;
    }
    match (within_level_share(topology) <= WITHIN_LEVEL_SHARE_MAX, top_level(topology)) {
        (true, 1..) => Shape::FatTree,
        (false, 2) => Shape::DragonflyPlus,
        _ => Shape::Other,
    }
}

/// The class of a link by the levels and groups of its ends.
pub(super) fn class(topology: &Topology, link: LinkIndex) -> LinkClass {
    let (from, to) = (topology.from(link), topology.to(link));
    let (Some(a), Some(b)) = (topology.level(from), topology.level(to)) else {
        return LinkClass::Other;
    };
    let (low, high) = (a.min(b), a.max(b));
    match (low, high) {
        (0, _) => LinkClass::Host,
        _ if low == high && topology.shape().is_tree() => LinkClass::Other,
        _ if low == high && topology.group(from) == topology.group(to) => LinkClass::Local,
        _ if low == high => LinkClass::Global,
        (1, _) => LinkClass::Leaf,
        _ => LinkClass::Spine,
    }
}

/// The rail of each switch: what is connected without passing a host. `None` for hosts and lone switches.
pub(super) fn rails(topology: &Topology) -> Vec<Option<u8>> {
    let host = |vertex: VertexIndex| topology.kind(vertex) == VertexKind::Host;
    let mut sets = Sets::new(topology.vertex_count());
    for link in topology.links() {
        if !host(topology.from(link)) && !host(topology.to(link)) {
            sets.join(topology.from(link), topology.to(link));
        }
    }
    let mut numbers = vec![None; topology.vertex_count()];
    let mut next = 0u8;
    for vertex in topology.vertices().filter(|vertex| !host(*vertex)) {
        if topology.links_from(vertex).next().is_some() && numbers[sets.first(vertex).at()].is_none() {
            numbers[sets.first(vertex).at()] = Some(next);
            next = next.saturating_add(1).min(NO_RAILS);
        }
    }
    let of = |vertex: VertexIndex, sets: &mut Sets| {
        if host(vertex) { None } else { numbers[sets.first(vertex).at()] }
    };
    topology.vertices().map(|vertex| of(vertex, &mut sets)).collect()
}

/// The highest rail; networks beyond it share its number.
const NO_RAILS: u8 = u8::MAX - 1;

/// Pods of a fat tree with three levels or more, groups of a Dragonfly+: what stays connected without the top
/// level, or without links within a level. Numbered in the order of their first vertex.
pub(super) fn groups(topology: &Topology) -> Vec<u32> {
    let (shape, top) = (topology.shape(), top_level(topology));
    let level = |vertex: VertexIndex| topology.vertices.levels[vertex.at()];
    let counts =
        |vertex: VertexIndex| level(vertex) != NO_LEVEL && !(shape.is_tree() && level(vertex) == top);
    let has_groups = (shape.is_tree() && top >= 3) || shape == Shape::DragonflyPlus;
    let mut groups = vec![NONE; topology.vertex_count()];
    if !has_groups {
        return groups;
    }
    let mut sets = Sets::new(topology.vertex_count());
    for link in topology.links() {
        let (from, to) = (topology.from(link), topology.to(link));
        if counts(from) && counts(to) && !within_level(topology, link) {
            sets.join(from, to);
        }
    }
    let mut numbers = vec![NONE; topology.vertex_count()];
    let mut next = 0;
    for vertex in topology.vertices().filter(|vertex| counts(*vertex)) {
        let number = &mut numbers[sets.first(vertex).at()];
        if *number == NONE {
            *number = next;
            next += 1;
        }
        groups[vertex.at()] = *number;
    }
    groups
}

/// Disjoint sets of vertices, each known by the lowest.
#[derive(Clone, Debug)]
pub(super) struct Sets(Vec<u32>);

impl Sets {
    pub(super) fn new(vertices: usize) -> Sets {
        Sets((0..vertices as u32).collect())
    }

    /// The lowest vertex of the set of `vertex`.
    pub(super) fn first(&mut self, vertex: VertexIndex) -> VertexIndex {
        let mut at = vertex.0;
        while self.0[at as usize] != at {
            let above = self.0[at as usize];
            self.0[at as usize] = self.0[above as usize];
            at = above;
        }
        VertexIndex(at)
    }

    pub(super) fn join(&mut self, a: VertexIndex, b: VertexIndex) {
        let (a, b) = (self.first(a), self.first(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high.at()] = low.0;
    }
}
