//! What people call a region.

use super::links::{Links, is_host_link};
use std::collections::BTreeSet;
use topology::{ParallelKind, ParallelLinks, Topology, VertexKind};

/// The name of a region with these roots, the worst first. It counts nothing: the name is kept while the region changes.
pub(super) fn of(topology: &Topology, parallel: &ParallelLinks, all: &Links, roots: &[u32]) -> String {
    let found: Vec<_> = roots.iter().filter_map(|root| all.link(*root)).collect();
    let Some(worst) = found.first() else { return "links".to_string() };
    let (from, to) = (topology.from(*worst), topology.to(*worst));
    if is_host_link(topology, *worst) {
        let to_host = topology.kind(to) == VertexKind::Host;
        let (host, way) = if to_host { (to, "into") } else { (from, "out of") };
        return format!("{way} {}", topology.name(host));
    }
    let common = |group: &&u32| {
        let members = parallel.links(**group as usize);
        found.iter().all(|link| members.contains(link))
    };
    let group =
        parallel.groups_of(*worst).iter().filter(common).max_by_key(|g| parallel.links(**g as usize).len());
    match group.map(|group| parallel.kind(*group as usize)) {
        Some(ParallelKind::Uplinks(vertex)) => format!("uplinks of {}", topology.name(vertex)),
        Some(ParallelKind::Downlinks(vertex)) => format!("downlinks to {}", topology.name(vertex)),
        Some(ParallelKind::BetweenGroups(a, b)) => format!("group {a} to group {b}"),
        Some(ParallelKind::Trunk(..)) => format!("{} to {}", topology.name(from), topology.name(to)),
        None if found.len() == 1 => format!("{} to {}", topology.name(from), topology.name(to)),
        None => {
            let groups: BTreeSet<_> =
                found.iter().filter_map(|link| topology.group(topology.from(*link))).collect();
            match groups.first() {
                Some(group) if groups.len() == 1 => format!("links in group {group}"),
                _ => format!("links around {}", topology.name(from)),
            }
        }
    }
}
