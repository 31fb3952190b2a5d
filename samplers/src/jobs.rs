//! The schedule: jobs with their nodes and start.

use std::ops::Range;

/// One job of a scenario. It ends when its work is done, later if others slow it down.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Name as the user gave it.
    pub name: String,
    /// Login name.
    pub user: String,
    /// Node numbers (`nid`), in the order of the ranks.
    pub nodes: Vec<u32>,
    /// Start in seconds from the start of the scenario; may lie inside a tick.
    pub start_s: f64,
    /// What it does.
    pub behaviour: Behaviour,
}

/// What a job does all day.
#[derive(Clone, Debug, PartialEq)]
pub enum Behaviour {
    /// As IOR: one process a node, each writes its bytes as fast as it may and ends.
    Write {
        /// Bytes of each process.
        bytes_per_node: f64,
        /// Most that a process asks for, in bytes a second; infinite for IOR.
        limit_bytes_per_s: f64,
    },
    /// Computes and writes checkpoints, all nodes at once.
    CheckpointWriter(Checkpoint),
    /// As CTH: neighbours of a two-dimensional grid exchange halos.
    HaloExchange(Halo),
    /// As IMB `Alltoall`: every node sends to every other.
    AllToAll {
        /// Bytes a second that each node injects.
        node_bytes_per_s: f64,
        /// Seconds it takes when no other job uses its links.
        work_s: f64,
    },
}

/// Phases of a job that writes checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Bytes a second that each node asks for while it writes.
    pub bytes_per_s: f64,
    /// How long it writes; drawn again each time.
    pub on_s: Range<f64>,
    /// How long it computes between two checkpoints; drawn again each time.
    pub off_s: Range<f64>,
    /// When it ends, in seconds from its start.
    pub run_s: f64,
}

/// Traffic of a job that exchanges halos.
#[derive(Clone, Debug, PartialEq)]
pub struct Halo {
    /// Bytes a second from each node to each of its neighbours.
    pub flow_bytes_per_s: f64,
    /// Seconds at the start that set up the blocks and send nothing (31 in the report).
    pub quiet_start_s: f64,
    /// Seconds from one load balance to the next; each gives one sample with a spike of the ratio.
    pub balance_every_s: Range<f64>,
    /// How many times the job's own ratio such a spike is.
    pub spike: Range<f64>,
    /// Seconds it takes when no other job uses its links.
    pub work_s: f64,
}

impl Halo {
    /// Like CTH in the report: 31 s of set-up, a load balance each 20 to 60 s, spikes of 10 to 50 times.
    pub fn like_cth(flow_bytes_per_s: f64, work_s: f64) -> Halo {
        Halo { flow_bytes_per_s, quiet_start_s: 31.0, balance_every_s: 20.0..60.0, spike: 10.0..50.0, work_s }
    }
}

impl Behaviour {
    /// Processes on each node, as in the job rows.
    pub(crate) fn tasks_per_node(&self) -> u32 {
        match self {
            Behaviour::Write { .. } | Behaviour::CheckpointWriter(_) => 1,
            Behaviour::HaloExchange(_) | Behaviour::AllToAll { .. } => 32,
        }
    }

    /// Bytes a second between pairs of ranks, as `(from, to, rate)`; none for jobs that only write.
    pub(crate) fn flows(&self, ranks: usize) -> Vec<(usize, usize, f64)> {
        match self {
            Behaviour::Write { .. } | Behaviour::CheckpointWriter(_) => Vec::new(),
            Behaviour::HaloExchange(halo) => halo_flows(ranks, halo.flow_bytes_per_s),
            Behaviour::AllToAll { node_bytes_per_s, .. } => {
                let each = node_bytes_per_s / ranks.saturating_sub(1).max(1) as f64;
                let pairs = (0..ranks).flat_map(|a| (0..ranks).map(move |b| (a, b)));
                pairs.filter(|(a, b)| a != b).map(|(a, b)| (a, b, each)).collect()
            }
        }
    }
}

/// Neighbours of the most nearly square grid that holds all ranks; its rows are the shorter side.
fn halo_flows(ranks: usize, rate: f64) -> Vec<(usize, usize, f64)> {
    let width =
        (1..=ranks).take_while(|w| w * w <= ranks).filter(|w| ranks.is_multiple_of(*w)).last().unwrap_or(1);
    let mut flows = Vec::new();
    let mut both = |a: usize, b: usize| flows.extend([(a, b, rate), (b, a, rate)]);
    for rank in 0..ranks {
        if (rank + 1) % width != 0 {
            both(rank, rank + 1);
        }
        if rank + width < ranks {
            both(rank, rank + width);
        }
    }
    flows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halo_neighbours_are_those_of_a_grid() {
        // 4 x 8: 3 * 8 horizontal and 4 * 7 vertical edges, each in both directions.
        assert_eq!(halo_flows(32, 1.0).len(), 2 * (3 * 8 + 4 * 7));
        assert!(halo_flows(1, 1.0).is_empty());
    }

    #[test]
    fn all_to_all_injects_what_it_says() {
        let flows = Behaviour::AllToAll { node_bytes_per_s: 9.0, work_s: 1.0 }.flows(10);
        let from_first: f64 = flows.iter().filter(|f| f.0 == 0).map(|f| f.2).sum();
        assert!((from_first - 9.0).abs() < 1e-9);
    }
}
