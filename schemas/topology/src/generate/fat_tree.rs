//! Fat trees of two or three levels, with destination-mod-k tables (Brown 2018, 5.2; Vishnu 2007).
//!
//! Two levels: each leaf has the same number of links to every spine. Three levels: pods of leaves and second-level
//! switches, and top switches in planes: the second-level switches that have the same position in their pods share a
//! plane of top switches, `up / links per pair` of them. That keeps destination-mod-k exact: the position of the
//! destination in its leaf decides the second-level switch on the way up and on the way down.

use super::tables::{self, Destination};
use super::{MachineError, at_least, cable, named, not_too_large, positive, product, wrong};
use crate::class::{LinkClass, Shape, VertexKind};
use crate::draft::{Draft, DraftVertex};
use crate::graph::Topology;
use serde::{Deserialize, Serialize};

/// Parameters of a fat tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of a switch.
    pub ports: u32,
    /// Pods; 1 makes a tree of two levels, whose spines are the top.
    pub pods: u32,
    /// Leaf switches of a pod.
    pub leaves_per_pod: u32,
    /// Hosts of a leaf.
    pub nodes_per_leaf: u32,
    /// Second-level switches of a pod; each leaf has one link to each.
    pub uplinks_per_leaf: u32,
    /// Links up of a second-level switch; only with several pods.
    #[serde(default)]
    pub uplinks_per_spine: u32,
    /// Networks side by side, each like the first; a host has one adapter for each.
    #[serde(default = "one")]
    pub rails: u32,
    /// LID mask control: each host has 2^lmc LIDs, and as many paths.
    #[serde(default)]
    pub lmc: u8,
    /// Every link, bytes a second and direction.
    #[serde(default = "edr")]
    pub bytes_per_s: f64,
    /// What stands before the number of a host.
    #[serde(default = "node_prefix")]
    pub node_prefix: String,
}

fn one() -> u32 {
    1
}

/// 4x EDR; Brown 2018, 5.2.
fn edr() -> f64 {
    12.5e9
}

fn node_prefix() -> String {
    "node".to_string()
}

/// The switches of one rail.
struct Rail {
    number: u32,
    leaves: Vec<DraftVertex>,
    spines: Vec<DraftVertex>,
    tops: Vec<DraftVertex>,
}

impl FatTree {
    /// 4 pods of 18 leaves with 18 hosts each, 36 ports: 1,296 hosts (Brown 2018, 5.2).
    pub fn brown(rails: u32) -> FatTree {
        FatTree {
            ports: 36,
            pods: 4,
            leaves_per_pod: 18,
            nodes_per_leaf: 18,
            uplinks_per_leaf: 18,
            uplinks_per_spine: 18,
            rails,
            lmc: 0,
            bytes_per_s: edr(),
            node_prefix: node_prefix(),
        }
    }

    /// 12 leaves with 12 hosts and 12 links up, one to each of 12 spines (Vishnu 2007).
    pub fn vishnu(lmc: u8) -> FatTree {
        FatTree {
            ports: 24,
            pods: 1,
            leaves_per_pod: 12,
            nodes_per_leaf: 12,
            uplinks_per_leaf: 12,
            uplinks_per_spine: 0,
            lmc,
            bytes_per_s: 1e9,
            ..FatTree::brown(1)
        }
    }

    fn three_levels(&self) -> bool {
        self.pods > 1
    }

    /// Links between a second-level switch and each of its top switches: as many as the ports of those allow.
    fn trunk(&self) -> u32 {
        if self.three_levels() { (self.ports / self.pods).clamp(1, self.uplinks_per_spine.max(1)) } else { 0 }
    }

    /// Top switches of a plane.
    fn plane(&self) -> u32 {
        if self.three_levels() { self.uplinks_per_spine / self.trunk() } else { 0 }
    }

    fn hosts(&self) -> u64 {
        product(&[self.pods, self.leaves_per_pod, self.nodes_per_leaf])
    }

    pub(super) fn build(&self) -> Result<Topology, MachineError> {
        self.check()?;
        let mut draft = Draft::new(Some(Shape::FatTree));
        let hosts = self.place_hosts(&mut draft);
        for number in 0..self.rails {
            let rail = self.switches(&mut draft, number);
            self.wire(&mut draft, &rail, &hosts);
            self.lids(&mut draft, &rail, &hosts);
        }
        let mut topology = draft.finish_unchecked();
        let divisors = [1, u64::from(self.uplinks_per_leaf)];
        for rail in 0..self.rails as u8 {
            let destinations = hosts.iter().zip(0..).map(|(host, number)| {
                let lid = self.lid_of(number);
                Destination { vertex: host.index(), number: u64::from(number), lid, paths: 1 << self.lmc }
            });
            let destinations: Vec<Destination> = destinations.collect();
            tables::mod_k(&mut topology, rail, &destinations, &divisors);
        }
        Ok(topology)
    }

    fn check(&self) -> Result<(), MachineError> {
        for (parameter, value) in [
            ("pods", self.pods),
            ("leaves_per_pod", self.leaves_per_pod),
            ("nodes_per_leaf", self.nodes_per_leaf),
            ("uplinks_per_leaf", self.uplinks_per_leaf),
            ("rails", self.rails),
        ] {
            at_least(parameter, value, 1)?;
        }
        positive("bytes_per_s", self.bytes_per_s)?;
        if self.ports > 254 || self.rails > 8 || self.lmc > 7 {
            let text = format!("{}, {} and {}", self.ports, self.rails, self.lmc);
            return Err(wrong("ports, rails and lmc", text, "at most 254, 8 and 7"));
        }
        self.check_ports()?;
        let hosts = self.hosts();
        let spines = product(&[self.pods, self.uplinks_per_leaf, 1 + self.plane()]);
        let switches = product(&[self.pods, self.leaves_per_pod]).saturating_add(spines);
        let lids = (hosts.saturating_add(1) << self.lmc).saturating_add(switches);
        if lids > u64::from(crate::forwarding::LID_MAX) {
            return Err(wrong("lmc", self.lmc, format!("{lids} LIDs would be needed, there are 49151")));
        }
        not_too_large(hosts.saturating_add(switches * u64::from(self.rails)), hosts.saturating_mul(24))
    }

    fn check_ports(&self) -> Result<(), MachineError> {
        let fits = |parameter, value: u64| {
            let why = format!("a switch has {} ports", self.ports);
            if value > u64::from(self.ports) { Err(wrong(parameter, value, why)) } else { Ok(()) }
        };
        let sum = |a: u32, b: u32| u64::from(a) + u64::from(b);
        fits("nodes_per_leaf + uplinks_per_leaf", sum(self.nodes_per_leaf, self.uplinks_per_leaf))?;
        fits("leaves_per_pod + uplinks_per_spine", sum(self.leaves_per_pod, self.uplinks_per_spine))?;
        if !self.three_levels() && self.uplinks_per_spine > 0 {
            return Err(wrong("uplinks_per_spine", self.uplinks_per_spine, "0 with one pod"));
        }
        if self.three_levels() {
            at_least("uplinks_per_spine", self.uplinks_per_spine, 1)?;
            fits("pods", u64::from(self.pods))?;
            if !self.uplinks_per_spine.is_multiple_of(self.trunk()) {
                let why = format!("a multiple of {}, the links to each top switch", self.trunk());
                return Err(wrong("uplinks_per_spine", self.uplinks_per_spine, why));
            }
        }
        Ok(())
    }

    fn place_hosts(&self, draft: &mut Draft) -> Vec<DraftVertex> {
        let per_pod = self.leaves_per_pod * self.nodes_per_leaf;
        let hosts = (0..self.pods * per_pod).map(|at| {
            let name = format!("{}{:04}", self.node_prefix, at + 1);
            let group = self.three_levels().then_some(at / per_pod);
            let host = named(draft, VertexKind::Host, name, self.rails, group);
            draft.facts(host).adapters = (0..self.rails).map(|rail| format!("mlx5_{rail}")).collect();
            host
        });
        hosts.collect()
    }

    fn switches(&self, draft: &mut Draft, number: u32) -> Rail {
        let prefix = if self.rails > 1 { format!("rail{number}-") } else { String::new() };
        let mut level = |word: &str, pods: u32, per_pod: u32| -> Vec<DraftVertex> {
            let at = (0..pods).flat_map(|pod| (0..per_pod).map(move |position| (pod, position)));
            let made = at.map(|(pod, position)| {
                let (pod_text, group) = match self.three_levels() && pods > 1 {
                    true => (format!("pod{}-", pod + 1), Some(pod)),
                    false => (String::new(), None),
                };
                let name = format!("{prefix}{pod_text}{word}{:02}", position + 1);
                named(draft, VertexKind::Switch, name, self.ports, group)
            });
            made.collect()
        };
        Rail {
            number,
            leaves: level("leaf", self.pods, self.leaves_per_pod),
            spines: level("spine", self.pods, self.uplinks_per_leaf),
            tops: level("top", 1, self.uplinks_per_leaf * self.plane()),
        }
    }

    /// Ports of a leaf: hosts, then spines. Of a spine: leaves, then tops. Of a top: pods, each with its trunk.
    fn wire(&self, draft: &mut Draft, rail: &Rail, hosts: &[DraftVertex]) {
        let (nodes, up, trunk) = (self.nodes_per_leaf, self.uplinks_per_leaf, self.trunk());
        let mut join = |a, b, class| cable(draft, a, b, class, rail.number, self.bytes_per_s);
        for (at, host) in (0..).zip(hosts) {
            let leaf = rail.leaves[(at / nodes) as usize];
            join((leaf, 1 + at % nodes), (*host, rail.number * 256 + 1), LinkClass::Host);
        }
        for (at, leaf) in (0..).zip(&rail.leaves) {
            let (pod, position) = (at / self.leaves_per_pod, at % self.leaves_per_pod);
            for j in 0..up {
                let spine = rail.spines[(pod * up + j) as usize];
                join((*leaf, 1 + nodes + j), (spine, 1 + position), LinkClass::Leaf);
            }
        }
        if !self.three_levels() {
            return;
        }
        for (at, spine) in (0..).zip(&rail.spines) {
            let (pod, j) = (at / up, at % up);
            for u in 0..self.uplinks_per_spine {
                let top = rail.tops[(j * self.plane() + u / trunk) as usize];
                let ends = ((*spine, 1 + self.leaves_per_pod + u), (top, 1 + pod * trunk + u % trunk));
                join(ends.0, ends.1, LinkClass::Spine);
            }
        }
    }

    /// LIDs of hosts begin at a multiple of their number, as InfiniBand requires; switches come behind.
    fn lid_of(&self, host: u32) -> u16 {
        ((host + 1) << self.lmc) as u16
    }

    fn lids(&self, draft: &mut Draft, rail: &Rail, hosts: &[DraftVertex]) {
        for (at, host) in (0..).zip(hosts) {
            draft.lid(*host, (rail.number * 256 + 1) as u16, self.lid_of(at), self.lmc);
        }
        let first = (hosts.len() as u32 + 1) << self.lmc;
        let switches = rail.leaves.iter().chain(&rail.spines).chain(&rail.tops);
        for (at, switch) in (0..).zip(switches) {
            draft.lid(*switch, 0, (first + at) as u16, 0);
        }
    }
}
