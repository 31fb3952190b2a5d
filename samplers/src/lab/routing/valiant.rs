//! Detours on purpose: over an intermediate switch (Valiant 1981).

use super::hops::Draw;
use topology::{Topology, VertexIndex, VertexKind};

/// Switches and routers of each group of a dragonfly or Dragonfly+.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// By group: those with hosts.
    leaves: Vec<Vec<VertexIndex>>,
    /// By group: those above them; none in a dragonfly.
    spines: Vec<Vec<VertexIndex>>,
}

impl Groups {
    /// `None` for trees, whose pods are no groups in this sense, and for networks without groups.
    pub(super) fn of(topology: &Topology) -> Option<Groups> {
        let count = topology.group_count();
        if topology.shape().is_tree() || count == 0 {
            return None;
        }
        let mut groups = Groups { leaves: vec![Vec::new(); count], spines: vec![Vec::new(); count] };
        for vertex in topology.vertices().filter(|v| topology.kind(*v) != VertexKind::Host) {
            let Some(group) = topology.group(vertex) else { continue };
            let is_leaf = topology.level(vertex) == Some(1);
            let lists = if is_leaf { &mut groups.leaves } else { &mut groups.spines };
            lists[group as usize].push(vertex);
        }
        Some(groups)
    }

    /// A leaf or router of a third group; `None` with fewer than three groups.
    pub(super) fn leaf_elsewhere(&self, ends: [u32; 2], draw: Draw) -> Option<VertexIndex> {
        elsewhere(&self.leaves, ends, draw)
    }

    /// A spine of a third group; a router, where there are no spines.
    pub(super) fn spine_elsewhere(&self, ends: [u32; 2], draw: Draw) -> Option<VertexIndex> {
        elsewhere(&self.spines, ends, draw).or_else(|| elsewhere(&self.leaves, ends, draw))
    }

    /// A spine of `group`; a router, where there are no spines.
    pub(super) fn within(&self, group: u32, draw: Draw) -> Option<VertexIndex> {
        let spines = &self.spines[group as usize];
        let list = if spines.is_empty() { &self.leaves[group as usize] } else { spines };
        list.get(draw.at(INTERMEDIATE).checked_rem(list.len() as u64)? as usize).copied()
    }
}

/// Stream of the draws of intermediate switches; no vertex has this number.
const INTERMEDIATE: u32 = u32::MAX;

fn elsewhere(lists: &[Vec<VertexIndex>], ends: [u32; 2], draw: Draw) -> Option<VertexIndex> {
    let others = || (0..).zip(lists).filter(|(group, _)| !ends.contains(group)).map(|(_, list)| list);
    let count: usize = others().map(Vec::len).sum();
    let index = draw.at(INTERMEDIATE).checked_rem(count as u64)?;
    others().flatten().nth(index as usize).copied()
}
