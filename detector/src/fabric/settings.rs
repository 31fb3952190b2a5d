//! What can be set of the stage, and the network that it looks at.

use schemas::Name;
use serde::{Deserialize, Serialize};
use topology::{ParallelLinks, Topology};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FabricSettings {
    /// Seconds between samples.
    pub tick_s: f64,
    /// Stalls per flit from which a link counts as contended whatever its baseline: a threshold known beforehand,
    /// for what began inside contention.
    pub known_ratio: f64,
    /// Hosts that serve I/O. Where none is named, hosts without jobs that receive traffic are taken for such.
    pub io_servers: Vec<Name>,
}

impl Default for FabricSettings {
    fn default() -> Self {
        FabricSettings { tick_s: 1.0, known_ratio: 1.5, io_servers: Vec::new() }
    }
}

/// The machine's network, shared by its users.
#[derive(Debug)]
pub struct Network {
    /// Its links.
    pub topology: Topology,
    /// Which of them are parallel.
    pub parallel: ParallelLinks,
}

impl Network {
    /// Of a topology.
    pub fn of(topology: Topology) -> Network {
        Network { parallel: ParallelLinks::of(&topology), topology }
    }
}
