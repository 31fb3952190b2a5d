//! The machines of the network kinds.

use samplers::rng::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::generate::{Aries, Dragonfly};
use topology::{Machine, MachineError, Topology, VertexIndex, VertexKind, machines};

/// A sort of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Net {
    /// A dragonfly of Aries routers: one group, of which one or two chassis are there.
    Aries,
    /// The machine of the demo.
    Demo,
    /// A fat tree of InfiniBand with forwarding tables.
    Tree,
    /// The same with twice as many hosts as uplinks on each leaf.
    NarrowTree,
    /// A dragonfly of switches with fast links, as of Slingshot.
    Dragonfly,
}

impl Net {
    /// Those of most kinds.
    pub(super) const ALL: [Net; 3] = [Net::Aries, Net::Tree, Net::Dragonfly];

    pub(super) fn build(self, rng: &mut Rng) -> Result<Arc<Topology>, MachineError> {
        let aries = |chassis: &[&str]| {
            let populated = chassis.iter().map(|name| name.to_string()).collect();
            Machine::Aries(Aries { populated, ..Aries::new(1) }).build().map(Arc::new)
        };
        match self {
            Net::Demo => aries(&["c0-0c0", "c0-0c1"]),
            Net::Aries if rng.below(2) == 0 => aries(&["c0-0c0"]),
            Net::Aries => aries(&["c0-0c0", "c0-0c1"]),
            Net::Tree => {
                let (leaves, spines) = (4 + rng.below(6) as u32, 4 + rng.below(5) as u32);
                machines::two_level(leaves, spines, spines + rng.below(5) as u32)
            }
            Net::NarrowTree => {
                let (leaves, spines) = (4 + rng.below(5) as u32, 3 + rng.below(4) as u32);
                machines::two_level(leaves, spines, 2 * spines)
            }
            Net::Dragonfly => Machine::Dragonfly(Dragonfly {
                groups: 3 + rng.below(3) as u32,
                routers_per_group: 4,
                nodes_per_router: 4,
                links_per_group_pair: 1 + rng.below(3) as u32,
                global_bytes_per_s: 25e9,
                local_bytes_per_s: 25e9,
                host_bytes_per_s: 25e9,
            })
            .build()
            .map(Arc::new),
        }
    }
}

/// Hosts by the switch that they hang on.
pub(super) fn leaves(topology: &Topology) -> Vec<Vec<VertexIndex>> {
    let mut leaves: BTreeMap<VertexIndex, Vec<VertexIndex>> = BTreeMap::new();
    for host in topology.vertices_of(VertexKind::Host) {
        if let Some(link) = topology.links_from(host).next() {
            leaves.entry(topology.to(link)).or_default().push(host);
        }
    }
    leaves.into_values().collect()
}
