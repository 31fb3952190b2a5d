//! What jobs ask of links if they all send and write at once, and what they get.

use super::capacities;
use super::flows::Flows;
use super::job::{LabJob, TrafficClass};
use super::placement::{Choices, Placed};
use super::routing::Routing;
use topology::{LinkIndex, Topology};

/// All flows of `jobs` at once, with the numbers of them all.
fn all_placed(topology: &Topology, routing: Routing, jobs: &[LabJob], seed: u64) -> (Placed, Vec<u32>) {
    let flows = Flows::of(topology, jobs, seed);
    let numbers: Vec<u32> = (0..flows.all.len() as u32).collect();
    let choices = Choices::of(topology, routing, &flows, &[]);
    (choices.place(&numbers, &capacities(topology)), numbers)
}

/// A flow on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPath {
    /// Messages or writes.
    pub class: TrafficClass,
    /// Bytes a second that it sends if nothing holds it back.
    pub demand: f64,
    /// The links that it crosses, from the sender to the receiver.
    pub links: Vec<LinkIndex>,
}

/// The flows of `job` on the paths that `routing`, which must not be adaptive, gives them while all links are up.
pub fn flow_paths(topology: &Topology, routing: Routing, job: &LabJob, seed: u64) -> Vec<FlowPath> {
    let (placed, flows) = all_placed(topology, routing, std::slice::from_ref(job), seed);
    let of = |part: u32| {
        let flow = &placed.parts[part as usize];
        FlowPath { class: flow.class, demand: flow.demand, links: placed.paths.of(part).to_vec() }
    };
    placed.active(&flows).into_iter().map(of).collect()
}

/// Utilisation of every link if `jobs` all sent and wrote at once and nothing held them back, by number.
pub fn asked(topology: &Topology, routing: Routing, jobs: &[LabJob], seed: u64) -> Vec<f64> {
    let (placed, flows) = all_placed(topology, routing, jobs, seed);
    let mut asked = vec![0.0; topology.link_count()];
    for part in placed.active(&flows) {
        for link in placed.paths.of(part) {
            asked[link.at()] += placed.parts[part as usize].demand / topology.bytes_per_s(*link);
        }
    }
    asked
}

/// Bytes a second that each flow gets if `jobs` all send and write at once: its max-min fair share, of a flow in parts
/// what its slowest part allows. Job by job, messages by sender and then receiver, then writes; 0 without a path.
pub fn flow_bandwidths(topology: &Topology, routing: Routing, jobs: &[LabJob], seed: u64) -> Vec<f64> {
    let (placed, flows) = all_placed(topology, routing, jobs, seed);
    placed.bandwidths(&flows, &capacities(topology))
}
