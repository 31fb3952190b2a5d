//! What is measured, and the facts about it that do not depend on a site.

use serde::{Deserialize, Serialize};

/// A kind of series; the first word of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Stalls per flit of an Aries router tile (SAND2016-9525, 3.3); component a router, part `r<row>c<column>`.
    AriesStallRatio,
    /// `PortXmitWait` ticks per `PortXmitData` word of an InfiniBand port; component a host or switch, part a port.
    IbWaitRatio,
    /// Bytes a Lustre client writes each second (SAND2016-9525, 4.2.2); component a node, part a mount.
    LustreWriteRate,
}

/// Which way a metric goes when its resource is contended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Stalls and waits rise.
    Rising,
    /// Rates of progress fall.
    Falling,
}

impl Metric {
    /// All metrics, in the order of their numbers.
    pub const ALL: [Metric; 3] = [Metric::AriesStallRatio, Metric::IbWaitRatio, Metric::LustreWriteRate];

    /// The word in series names, configuration and SQL.
    pub fn name(self) -> &'static str {
        match self {
            Metric::AriesStallRatio => "aries_stall_ratio",
            Metric::IbWaitRatio => "ib_wait_ratio",
            Metric::LustreWriteRate => "lustre_write_rate",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|m| m.name() == name)
    }

    /// Which way it goes under contention.
    pub fn direction(self) -> Direction {
        match self {
            Metric::LustreWriteRate => Direction::Falling,
            Metric::AriesStallRatio | Metric::IbWaitRatio => Direction::Rising,
        }
    }

    /// Unit of a reading.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::AriesStallRatio => "stalls/flit",
            Metric::IbWaitRatio => "ticks/word",
            Metric::LustreWriteRate => "bytes/s",
        }
    }

    /// Counters that one part contributes to a row of a [`crate::CounterBatch`], in this order:
    /// Aries `stall, flits of virtual channel 0..=7`; InfiniBand `wait, data words`; Lustre `write bytes`.
    pub fn columns(self) -> usize {
        match self {
            Metric::AriesStallRatio => 9,
            Metric::IbWaitRatio => 2,
            Metric::LustreWriteRate => 1,
        }
    }

    /// What its raw counters count: what passed, and what held it up. None where the reading is the rate of the one counter.
    pub fn counts(self) -> Option<[&'static str; 2]> {
        match self {
            Metric::AriesStallRatio => Some(["flits", "stalls"]),
            Metric::IbWaitRatio => Some(["words", "ticks waited"]),
            Metric::LustreWriteRate => None,
        }
    }

    /// Whether the mean over the parts of a component is a series of its own (reduce, then model). A router's links carry
    /// one job's messages together; a mean over ports or mounts would fall with each that is silent.
    pub fn has_sum(self) -> bool {
        self == Metric::AriesStallRatio
    }

    /// Bytes that one count of its traffic stands for: a flit's payload, an InfiniBand word, a byte written.
    pub fn unit_bytes(self) -> f64 {
        match self {
            Metric::AriesStallRatio => 16.0,
            Metric::IbWaitRatio => 4.0,
            Metric::LustreWriteRate => 1.0,
        }
    }
}
