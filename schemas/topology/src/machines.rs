//! Machines of the papers, and small ones to try things on.

use crate::generate::{Aries, DragonflyPlus, FatTree};
use crate::{Machine, MachineError, Topology};
use std::sync::Arc;

type Built = Result<Arc<Topology>, MachineError>;

fn built(machine: &Machine) -> Built {
    machine.build().map(Arc::new)
}

/// A tree of two levels: each leaf has one link to each spine. Tables are destination-mod-k, every link carries
/// 1 GB/s.
///
/// # Errors
/// [`MachineError`] where a switch would need more than 254 ports.
pub fn two_level(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Built {
    built(&Machine::FatTree(FatTree {
        ports: (hosts_per_leaf + spines).max(leaves),
        leaves_per_pod: leaves,
        nodes_per_leaf: hosts_per_leaf,
        uplinks_per_leaf: spines,
        ..FatTree::vishnu(0)
    }))
}

/// 12 leaves, 12 spines, 12 hosts a leaf (Vishnu 2007): 144 hosts.
///
/// # Errors
/// None that is known.
pub fn vishnu() -> Built {
    two_level(12, 12, 12)
}

/// Three levels, 4 pods of 4 leaves with 8 hosts each: 128 hosts at 12.5 GB/s.
///
/// # Errors
/// None that is known.
pub fn three_level_small() -> Built {
    built(&Machine::FatTree(FatTree {
        ports: 16,
        leaves_per_pod: 4,
        nodes_per_leaf: 8,
        uplinks_per_leaf: 8,
        uplinks_per_spine: 4,
        ..FatTree::brown(1)
    }))
}

/// Three levels of 36-port switches: 1,296 hosts at 12.5 GB/s (Brown 2018).
///
/// # Errors
/// None that is known.
pub fn brown() -> Built {
    built(&Machine::FatTree(FatTree::brown(1)))
}

/// [`brown`] twice, side by side: each host has an adapter in both.
///
/// # Errors
/// None that is known.
pub fn brown_two_rails() -> Built {
    built(&Machine::FatTree(FatTree::brown(2)))
}

/// Full groups of a Cray XC, 384 hosts each. There are no tables: routing is minimal.
///
/// # Errors
/// [`MachineError`] without groups, or with more than are built.
pub fn aries(groups: u32) -> Built {
    built(&Machine::Aries(Aries::new(groups)))
}

/// Mutrino, a small Cray XC of two cabinets that are not full: 56 routers, 224 hosts (SAND2016-9525, 3.2). Which slots
/// are filled is ours, as in `schemas/topology/machines/mutrino.toml`.
///
/// # Errors
/// None that is known.
pub fn mutrino() -> Built {
    let populated = ["c0-0c0", "c0-0c1s0-11", "c1-0c0", "c1-0c1s0-11"].map(str::to_string).to_vec();
    built(&Machine::Aries(Aries { populated, ..Aries::new(1) }))
}

/// Trinity: 55 groups of a Cray XC in 5 rows, here with all slots full: 5,280 routers, 21,120 hosts (SAND2016-9525,
/// 3.2).
///
/// # Errors
/// None that is known.
pub fn trinity() -> Built {
    built(&Machine::Aries(Aries { cabinets_per_row: 22, ..Aries::new(55) }))
}

/// A chassis of a Cray XC: 16 routers, 64 hosts.
///
/// # Errors
/// None that is known.
pub fn aries_chassis() -> Built {
    built(&Machine::Aries(Aries { populated: vec!["c0-0c0".to_string()], ..Aries::new(1) }))
}

/// 5 groups of 4 leaves and 4 spines, 4 hosts a leaf: 80 hosts.
///
/// # Errors
/// None that is known.
pub fn dragonfly_plus_small() -> Built {
    built(&Machine::DragonflyPlus(DragonflyPlus {
        groups: 5,
        leaves: 4,
        spines: 4,
        nodes_per_leaf: 4,
        links_per_spine_and_group: 1,
        ..DragonflyPlus::kang()
    }))
}

/// 9 groups of 24 leaves and 24 spines, 16 hosts a leaf: 3,456 hosts (Kang 2019).
///
/// # Errors
/// None that is known.
pub fn kang() -> Built {
    built(&Machine::DragonflyPlus(DragonflyPlus::kang()))
}
