//! Chosen links that touch: what people call one contended region.

use super::graph::{LinkIndex, Topology};
use std::collections::BTreeMap;

/// Splits `chosen` into regions. Two links are in one region if a chain of chosen links leads from one to the
/// other in which neighbours share a vertex and are `alike`. Regions come in the order of their lowest link, the
/// links of each in the order of their numbers.
pub fn regions(
    topology: &Topology,
    chosen: &[LinkIndex],
    alike: impl Fn(LinkIndex, LinkIndex) -> bool,
) -> Vec<Vec<LinkIndex>> {
    let mut links = chosen.to_vec();
    links.sort_unstable();
    links.dedup();
    let mut at_vertex: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        for vertex in [topology.from(*link), topology.to(*link)] {
            at_vertex.entry(vertex.0).or_default().push(index as u32);
        }
    }
    let mut sets: Vec<u32> = (0..links.len() as u32).collect();
    for touching in at_vertex.values() {
        for (at, a) in touching.iter().enumerate() {
            for b in &touching[at + 1..] {
                let (first_a, first_b) = (first(&mut sets, *a), first(&mut sets, *b));
                if first_a != first_b && alike(links[*a as usize], links[*b as usize]) {
                    sets[first_a.max(first_b) as usize] = first_a.min(first_b);
                }
            }
        }
    }
    let mut found: BTreeMap<u32, Vec<LinkIndex>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        found.entry(first(&mut sets, index as u32)).or_default().push(*link);
    }
    found.into_values().collect()
}

fn first(sets: &mut [u32], mut at: u32) -> u32 {
    while sets[at as usize] != at {
        sets[at as usize] = sets[sets[at as usize] as usize];
        at = sets[at as usize];
    }
    at
}
