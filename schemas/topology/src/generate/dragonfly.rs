//! The plain dragonfly: in a group every router is connected with every other, and groups with each other.

use super::{MachineError, at_least, cable, named, not_too_large, positive, product, wrong};
use crate::class::{LinkClass, Shape, VertexKind};
use crate::draft::{Draft, DraftVertex};
use crate::graph::Topology;
use serde::{Deserialize, Serialize};

/// Parameters of a dragonfly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Groups, all connected with each other.
    pub groups: u32,
    /// Routers of a group, all connected with each other.
    pub routers_per_group: u32,
    /// Hosts of a router.
    pub nodes_per_router: u32,
    /// Links between two groups; they go to routers in turn.
    pub links_per_group_pair: u32,
    /// Links between groups, bytes a second and direction.
    pub global_bytes_per_s: f64,
    /// Links inside a group, bytes a second and direction.
    pub local_bytes_per_s: f64,
    /// Links between hosts and routers, bytes a second and direction.
    pub host_bytes_per_s: f64,
}

impl Dragonfly {
    pub(super) fn build(&self) -> Result<Topology, MachineError> {
        let ports = self.check()?;
        let mut draft = Draft::new(Some(Shape::Dragonfly));
        let mut groups = Vec::new();
        for group in 0..self.groups {
            groups.push(self.group(&mut draft, group, ports));
        }
        let first = self.nodes_per_router + self.routers_per_group;
        let end = |own: u32, other: u32, link: u32| {
            let rank = if other < own { other } else { other - 1 };
            let number = rank * self.links_per_group_pair + link;
            let router = groups[own as usize][(number % self.routers_per_group) as usize];
            (router, first + number / self.routers_per_group)
        };
        for a in 0..self.groups {
            for b in a + 1..self.groups {
                for link in 0..self.links_per_group_pair {
                    let ends = (end(a, b, link), end(b, a, link));
                    cable(&mut draft, ends.0, ends.1, LinkClass::Global, 0, self.global_bytes_per_s);
                }
            }
        }
        Ok(draft.finish_unchecked())
    }

    /// The ports of a router.
    fn check(&self) -> Result<u32, MachineError> {
        at_least("groups", self.groups, 1)?;
        at_least("routers_per_group", self.routers_per_group, 1)?;
        at_least("nodes_per_router", self.nodes_per_router, 1)?;
        positive("global_bytes_per_s", self.global_bytes_per_s)?;
        positive("local_bytes_per_s", self.local_bytes_per_s)?;
        positive("host_bytes_per_s", self.host_bytes_per_s)?;
        let global = product(&[self.groups - 1, self.links_per_group_pair]);
        let global = global.div_ceil(u64::from(self.routers_per_group));
        let ports = global + u64::from(self.nodes_per_router) + u64::from(self.routers_per_group) - 1;
        if ports > 254 {
            return Err(wrong("ports of a router", ports, "at most 254 for hosts, routers and other groups"));
        }
        let routers = product(&[self.groups, self.routers_per_group]);
        not_too_large(routers.saturating_mul(1 + u64::from(self.nodes_per_router)), routers * ports)?;
        Ok(ports as u32)
    }

    fn group(&self, draft: &mut Draft, group: u32, ports: u32) -> Vec<DraftVertex> {
        let name = |at: u32| format!("g{}-r{:02}", group + 1, at + 1);
        let routers: Vec<DraftVertex> = (0..self.routers_per_group)
            .map(|at| named(draft, VertexKind::Switch, name(at), ports, Some(group)))
            .collect();
        for (a, from) in (0..).zip(&routers) {
            for n in 0..self.nodes_per_router {
                let number = (group * self.routers_per_group + a) * self.nodes_per_router + n + 1;
                let host = named(draft, VertexKind::Host, format!("node{number:04}"), 1, Some(group));
                cable(draft, (*from, 1 + n), (host, 1), LinkClass::Host, 0, self.host_bytes_per_s);
            }
            for (b, to) in (0..).zip(&routers).skip(a as usize + 1) {
                let ends = ((*from, self.nodes_per_router + b), (*to, self.nodes_per_router + 1 + a));
                cable(draft, ends.0, ends.1, LinkClass::Local, 0, self.local_bytes_per_s);
            }
        }
        routers
    }
}
