//! What switches of InfiniBand count for congestion control: ports whose queue is full, and packets that carry a mark from there.
//!
//! The rules are those of the InfiniBand specification (volume 1, annex A10):
//! 1. A port of a switch is congested while its own queue is full: more arrives than its link carries, and the link is full.
//!    A port that waits for credits, because a link behind it is full, is a victim: it is not congested and marks nothing
//!    (`victim_mask` 0). `PortXmitTimeCong` of the port counts the time, in the lab by the length of a word on a whole link:
//!    the unit is the maker's choice.
//! 2. A congested port marks packets. `marking_rate` is the mean number of packets between two marks (OpenSM's
//!    `cc_sw_cong_setting_marking_rate`), here [`BETWEEN_MARKS`].
//! 3. A packet keeps its mark. Each port that receives it from there on counts it (`PortPktRcvFECN`).
//!
//! Senders do not slow down for marks: congestion control of the hosts is off, as in the rest of the lab.

use super::stalls::Load;
use topology::{LinkIndex, Topology, VertexKind};

/// Mean number of packets between two marks: what LLNL's tool for settings of OpenSM writes. The models compare a port with itself.
const BETWEEN_MARKS: f64 = 15.0;
/// Part by which more must arrive than a link carries for a queue to grow.
const EXCESS: f64 = 1e-6;

/// Queues and marks of a second; columns by link.
#[derive(Clone, Debug)]
pub struct Congestion {
    /// Bytes a second that arrive in marked packets.
    pub marked: Vec<f64>,
    /// Bytes a second that the link carries at most while the port that sends is congested; 0 while it is not.
    pub congested: Vec<f64>,
}

impl Congestion {
    /// Of a network without load.
    pub fn none(topology: &Topology) -> Congestion {
        let none = vec![0.0; topology.link_count()];
        Congestion { marked: none.clone(), congested: none }
    }

    /// Finds congested ports; no packet is marked yet.
    pub(super) fn find(&mut self, topology: &Topology, load: &Load, capacities: &[f64]) {
        self.marked.fill(0.0);
        for link in topology.links() {
            let capacity = capacities[link.at()];
            let is_switch = topology.kind(topology.from(link)) == VertexKind::Switch;
            let is_full =
                load.levels[link.at()].is_finite() && load.arriving[link.at()] > capacity * (1.0 + EXCESS);
            self.congested[link.at()] = if is_switch && is_full { capacity } else { 0.0 };
        }
    }

    /// Adds `bytes` a second of a flow that crosses `link`. `clean` is the share of its packets without a mark, from hop to hop.
    pub(super) fn cross(&mut self, link: LinkIndex, bytes: f64, clean: &mut f64) {
        if self.congested[link.at()] > 0.0 {
            *clean *= BETWEEN_MARKS / (BETWEEN_MARKS + 1.0);
        }
        self.marked[link.at()] += bytes * (1.0 - *clean);
    }
}
