//! One of the shortest paths: for networks without forwarding tables.

use super::class::VertexKind;
use super::graph::{LinkIndex, NONE, Topology, VertexIndex};
use std::collections::VecDeque;

/// Hops from every vertex to `goal`, over switches alone; `u32::MAX` where there is no way.
pub fn hops_to(topology: &Topology, goal: VertexIndex) -> Vec<u32> {
    let mut hops = vec![NONE; topology.vertex_count()];
    hops[goal.at()] = 0;
    let mut queue = VecDeque::from([goal]);
    while let Some(vertex) = queue.pop_front() {
        // Hosts send and receive, they do not pass on.
        if vertex != goal && topology.kind(vertex) == VertexKind::Host {
            continue;
        }
        for link in topology.links_from(vertex) {
            let to = topology.to(link);
            if hops[to.at()] == NONE {
                hops[to.at()] = hops[vertex.at()] + 1;
                queue.push_back(to);
            }
        }
    }
    hops
}

/// A shortest path, the lowest ports first; `None` if there is no way.
pub fn shortest_path(topology: &Topology, from: VertexIndex, to: VertexIndex) -> Option<Vec<LinkIndex>> {
    let hops = hops_to(topology, to);
    let mut path = Vec::new();
    let mut at = from;
    while at != to {
        let nearer = |link: &LinkIndex| {
            let next = topology.to(*link);
            let passes = next == to || topology.kind(next) != VertexKind::Host;
            passes && hops[next.at()] != NONE && hops[next.at()] < hops[at.at()]
        };
        let next = topology.links_from(at).find(nearer)?;
        path.push(next);
        at = topology.to(next);
    }
    Some(path)
}
