//! Dragonfly+ (Kang 2019): groups of leaves and spines, each leaf with a link to each spine of its group, the
//! spines with links to the spines of other groups.

use super::tables::{self, Destination};
use super::{End, MachineError, at_least, cable, named, not_too_large, positive, product, wrong};
use crate::class::{LinkClass, Shape, VertexKind};
use crate::draft::{Draft, DraftVertex};
use crate::graph::Topology;
use serde::{Deserialize, Serialize};

const GIB: f64 = 1_073_741_824.0;

/// Parameters of a Dragonfly+.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DragonflyPlus {
    /// Groups, all connected with each other.
    pub groups: u32,
    /// Leaf switches of a group.
    pub leaves: u32,
    /// Spine switches of a group.
    pub spines: u32,
    /// Hosts of a leaf.
    pub nodes_per_leaf: u32,
    /// Links from each spine to each other group.
    pub links_per_spine_and_group: u32,
    /// Links between spines, bytes a second and direction.
    #[serde(default = "global")]
    pub global_bytes_per_s: f64,
    /// Links between leaves and spines, bytes a second and direction.
    #[serde(default = "local")]
    pub local_bytes_per_s: f64,
    /// Links between hosts and leaves, bytes a second and direction.
    #[serde(default = "host")]
    pub host_bytes_per_s: f64,
    /// What stands before the number of a host.
    #[serde(default = "node_prefix")]
    pub node_prefix: String,
}

fn global() -> f64 {
    4.37 * GIB
}

fn local() -> f64 {
    5.25 * GIB
}

fn host() -> f64 {
    16.0 * GIB
}

fn node_prefix() -> String {
    "node".to_string()
}

struct Group {
    leaves: Vec<DraftVertex>,
    spines: Vec<DraftVertex>,
    hosts: Vec<DraftVertex>,
}

impl DragonflyPlus {
    /// 9 groups of 24 leaves and 24 spines, 16 hosts a leaf: 3,456 hosts (Kang 2019).
    pub fn kang() -> DragonflyPlus {
        DragonflyPlus {
            groups: 9,
            leaves: 24,
            spines: 24,
            nodes_per_leaf: 16,
            links_per_spine_and_group: 2,
            global_bytes_per_s: global(),
            local_bytes_per_s: local(),
            host_bytes_per_s: host(),
            node_prefix: node_prefix(),
        }
    }

    pub(super) fn build(&self) -> Result<Topology, MachineError> {
        self.check()?;
        let mut draft = Draft::new(Some(Shape::DragonflyPlus));
        let groups: Vec<Group> = (0..self.groups).map(|group| self.group(&mut draft, group)).collect();
        for a in 0..self.groups {
            for b in a + 1..self.groups {
                self.global(&mut draft, (a, &groups[a as usize]), (b, &groups[b as usize]));
            }
        }
        let destinations = lids(&mut draft, &groups);
        let mut topology = draft.finish_unchecked();
        tables::mod_k(&mut topology, 0, &destinations, &[1, u64::from(self.spines)]);
        Ok(topology)
    }

    fn check(&self) -> Result<(), MachineError> {
        for (parameter, value) in [
            ("groups", self.groups),
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("nodes_per_leaf", self.nodes_per_leaf),
        ] {
            at_least(parameter, value, 1)?;
        }
        positive("global_bytes_per_s", self.global_bytes_per_s)?;
        positive("local_bytes_per_s", self.local_bytes_per_s)?;
        positive("host_bytes_per_s", self.host_bytes_per_s)?;
        let leaf_ports = u64::from(self.nodes_per_leaf) + u64::from(self.spines);
        let spine_ports =
            product(&[self.groups - 1, self.links_per_spine_and_group]) + u64::from(self.leaves);
        for (parameter, ports) in [
            ("nodes_per_leaf + spines", leaf_ports),
            ("leaves + (groups - 1) * links_per_spine_and_group", spine_ports),
        ] {
            if ports > 254 {
                return Err(wrong(parameter, ports, "a switch has at most 254 ports"));
            }
        }
        let switches = product(&[self.groups, self.leaves]) + product(&[self.groups, self.spines]);
        let vertices = product(&[self.groups, self.leaves, self.nodes_per_leaf]).saturating_add(switches);
        if vertices > u64::from(crate::forwarding::LID_MAX) {
            return Err(wrong(
                "groups",
                self.groups,
                format!("{vertices} LIDs would be needed, there are 49151"),
            ));
        }
        not_too_large(vertices, vertices.saturating_mul(254))
    }

    fn group(&self, draft: &mut Draft, number: u32) -> Group {
        let at = Some(number);
        let word = |word: &str, index: u32| format!("g{}-{word}{:02}", number + 1, index + 1);
        let leaf_ports = self.nodes_per_leaf + self.spines;
        let spine_ports = self.leaves + (self.groups - 1) * self.links_per_spine_and_group;
        let mut switch = |name: String, ports| named(draft, VertexKind::Switch, name, ports, at);
        let leaves: Vec<_> = (0..self.leaves).map(|l| switch(word("leaf", l), leaf_ports)).collect();
        let spines: Vec<_> = (0..self.spines).map(|s| switch(word("spine", s), spine_ports)).collect();
        let mut hosts = Vec::new();
        for (l, leaf) in (0..).zip(&leaves) {
            for n in 0..self.nodes_per_leaf {
                let host = (number * self.leaves + l) * self.nodes_per_leaf + n + 1;
                let host = named(draft, VertexKind::Host, format!("{}{host:04}", self.node_prefix), 1, at);
                draft.facts(host).adapters = vec!["mlx5_0".to_string()];
                cable(draft, (*leaf, 1 + n), (host, 1), LinkClass::Host, 0, self.host_bytes_per_s);
                hosts.push(host);
            }
            for (s, spine) in (0..).zip(&spines) {
                let ends: (End, End) = ((*leaf, 1 + self.nodes_per_leaf + s), (*spine, 1 + l));
                cable(draft, ends.0, ends.1, LinkClass::Leaf, 0, self.local_bytes_per_s);
            }
        }
        Group { leaves, spines, hosts }
    }

    /// Spine `s` of one group is connected with spine `s` of the other.
    fn global(&self, draft: &mut Draft, (a, near): (u32, &Group), (b, far): (u32, &Group)) {
        let port = |own: u32, other: u32, link: u32| {
            let rank = if other < own { other } else { other - 1 };
            1 + self.leaves + rank * self.links_per_spine_and_group + link
        };
        for (from, to) in near.spines.iter().zip(&far.spines) {
            for link in 0..self.links_per_spine_and_group {
                let ends = ((*from, port(a, b, link)), (*to, port(b, a, link)));
                cable(draft, ends.0, ends.1, LinkClass::Global, 0, self.global_bytes_per_s);
            }
        }
    }
}

/// Hosts have the first LIDs, in their order; switches come behind.
fn lids(draft: &mut Draft, groups: &[Group]) -> Vec<Destination> {
    let hosts = groups.iter().flat_map(|group| group.hosts.iter().copied());
    let mut destinations = Vec::new();
    for (number, host) in (0u16..).zip(hosts) {
        draft.lid(host, 1, number + 1, 0);
        let vertex = host.index();
        destinations.push(Destination { vertex, number: u64::from(number), lid: number + 1, paths: 1 });
    }
    let switches = groups.iter().flat_map(|group| group.leaves.iter().chain(&group.spines).copied());
    for (lid, switch) in (destinations.len() as u16 + 1..).zip(switches) {
        draft.lid(switch, 0, lid, 0);
    }
    destinations
}
