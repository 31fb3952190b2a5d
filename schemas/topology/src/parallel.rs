//! Groups of parallel links: among them routing may choose, so their loads are compared (Vishnu 2007).
//! The two directions of a cable are in different groups.

use super::class::{LinkClass, VertexKind};
use super::graph::{LinkIndex, NONE, Topology, VertexIndex};
use std::collections::BTreeMap;
use std::ops::Range;

/// What makes links parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParallelKind {
    /// All links from one switch or host to another.
    Trunk(VertexIndex, VertexIndex),
    /// A switch's links up, in one rail.
    Uplinks(VertexIndex),
    /// The links down to a switch, in one rail.
    Downlinks(VertexIndex),
    /// All links from one group to another.
    BetweenGroups(u32, u32),
}

/// The groups with at least two links. A link may be in several groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParallelLinks {
    kinds: Vec<ParallelKind>,
    first: Vec<u32>,
    links: Vec<LinkIndex>,
    /// Where the groups of each link begin in `groups`.
    first_of: Vec<u32>,
    groups: Vec<u32>,
}

impl ParallelLinks {
    /// The groups of `topology`.
    pub fn of(topology: &Topology) -> ParallelLinks {
        let mut found: BTreeMap<ParallelKind, Vec<LinkIndex>> = BTreeMap::new();
        for link in topology.links() {
            for kind in kinds(topology, link).into_iter().flatten() {
                found.entry(kind).or_default().push(link);
            }
        }
        found.retain(|_, links| links.len() > 1);
        let mut groups = ParallelLinks { first: vec![0], ..ParallelLinks::default() };
        for (kind, links) in found {
            groups.kinds.push(kind);
            groups.links.extend(links);
            groups.first.push(groups.links.len() as u32);
        }
        groups.index(topology.link_count());
        groups
    }

    fn index(&mut self, links: usize) {
        let mut pairs: Vec<(LinkIndex, u32)> = Vec::with_capacity(self.links.len());
        for group in 0..self.kinds.len() {
            pairs.extend(self.links(group).iter().map(|link| (*link, group as u32)));
        }
        pairs.sort_unstable();
        self.first_of = vec![NONE; links + 1];
        self.groups = pairs.iter().map(|(_, group)| *group).collect();
        let mut at = 0;
        for link in 0..=links {
            self.first_of[link] = at as u32;
            at += pairs[at..].iter().take_while(|(of, _)| of.at() == link).count();
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether no links are parallel.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// What makes the links of `group` parallel.
    pub fn kind(&self, group: usize) -> ParallelKind {
        self.kinds[group]
    }

    /// The links of `group`, in the order of their numbers.
    pub fn links(&self, group: usize) -> &[LinkIndex] {
        let range: Range<usize> = self.first[group] as usize..self.first[group + 1] as usize;
        &self.links[range]
    }

    /// The groups that `link` is in.
    pub fn groups_of(&self, link: LinkIndex) -> &[u32] {
        &self.groups[self.first_of[link.at()] as usize..self.first_of[link.at() + 1] as usize]
    }

    /// The group of this kind, if it has two links or more.
    pub fn find(&self, kind: ParallelKind) -> Option<usize> {
        self.kinds.binary_search(&kind).ok()
    }
}

fn kinds(topology: &Topology, link: LinkIndex) -> [Option<ParallelKind>; 3] {
    let (from, to) = (topology.from(link), topology.to(link));
    let switch = |vertex| topology.kind(vertex) == VertexKind::Switch;
    let (low, high) = (topology.level(from), topology.level(to));
    let both = switch(from) && switch(to);
    let up = (both && low < high).then_some(ParallelKind::Uplinks(from));
    let down = (both && low > high).then_some(ParallelKind::Downlinks(to));
    let between = match (topology.class(link), topology.group(from), topology.group(to)) {
        (LinkClass::Blue | LinkClass::Global, Some(a), Some(b)) if a != b => {
            Some(ParallelKind::BetweenGroups(a, b))
        }
        _ => None,
    };
    [Some(ParallelKind::Trunk(from, to)), up.or(down), between]
}
