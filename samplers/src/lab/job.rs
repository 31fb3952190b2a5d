//! What runs in the lab, and what breaks.

use topology::{LinkIndex, VertexIndex};

/// A job. It ends when its work is done, later if others slow it down.
#[derive(Clone, Debug, PartialEq)]
pub struct LabJob {
    /// The scheduler's number.
    pub job_id: u64,
    /// Login name.
    pub user: String,
    /// Name as the user gave it.
    pub name: String,
    /// Signature of the application, to compare runs with runs.
    pub app: String,
    /// Its hosts, in the order of the ranks.
    pub nodes: Vec<VertexIndex>,
    /// Start, in whole seconds from the start of the lab.
    pub start_s: u32,
    /// Seconds that its communication takes when no other job uses the network; time without it is added.
    pub work_s: f64,
    /// Which rank sends to which.
    pub pattern: Pattern,
    /// Bytes a second that each sending node asks for while it communicates; 0 for a job that only writes.
    pub bytes_per_s: f64,
    /// Communication and computing in turn; `None`: it always communicates.
    pub phases: Option<Phases>,
    /// 1: as slow as its slowest flow; 0: as the mean of its flows; in between, linear.
    pub coupling: f64,
    /// What it writes to storage over the same network.
    pub io: Option<LabIo>,
    /// Whether the scheduler reports it. Traffic of an unreported job is unknown traffic.
    pub known: bool,
}

impl LabJob {
    /// A job from the start on, with 300 s of work, as slow as its slowest flow.
    pub fn new(job_id: u64, nodes: Vec<VertexIndex>, pattern: Pattern, bytes_per_s: f64) -> LabJob {
        LabJob {
            job_id,
            user: format!("user{}", job_id % 7),
            name: format!("job{job_id}"),
            app: format!("app{job_id}"),
            nodes,
            start_s: 0,
            work_s: 300.0,
            pattern,
            bytes_per_s,
            phases: None,
            coupling: 1.0,
            io: None,
            known: true,
        }
    }

    /// Seconds it takes when no other job uses the network.
    pub fn alone_s(&self) -> f64 {
        let pauses = self.phases.map_or(0.0, |phases| {
            let turns = (self.work_s / phases.on_s).ceil() - 1.0;
            turns.max(0.0) * f64::from(phases.off_s)
        });
        self.work_s + pauses
    }
}

/// Communication and computing in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phases {
    /// Seconds of communication, as long as they take alone.
    pub on_s: f64,
    /// Seconds of computing, in which nothing is sent.
    pub off_s: u32,
}

/// Which rank sends to which; what a node sends is divided evenly among its partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every node to random others, at most [`super::UNIFORM_PARTNERS`] of them.
    Uniform,
    /// Every node to every other.
    AllToAll,
    /// Every node to the one `step` ranks on.
    Ring {
        /// Ranks between sender and receiver.
        step: usize,
    },
    /// Neighbours of a three-dimensional torus, as nearly a cube as the number of nodes allows.
    Stencil3d,
    /// Every node to the one as many ranks on as a group has hosts (Kang 2019); half of all ranks, where the job
    /// does not fill a group.
    Tornado,
    /// All others to the first node.
    Incast,
    /// The first node to all others.
    Broadcast,
}

/// Checkpoints over the network.
#[derive(Clone, Debug, PartialEq)]
pub struct LabIo {
    /// Bytes a second that each writing node asks for.
    pub bytes_per_s: f64,
    /// How many of the job's nodes write, spread evenly over the ranks.
    pub writers: usize,
    /// Hosts of the storage servers or LNET routers; writer `i` uses target `i` modulo their number.
    pub targets: Vec<VertexIndex>,
    /// First checkpoint, in seconds from the start of the job.
    pub from_s: u32,
    /// Seconds from one checkpoint to the next; 0: there is only one.
    pub every_s: u32,
    /// Seconds that a checkpoint lasts.
    pub for_s: u32,
    /// Whether the targets serve the one file system of four OSTs, whose writers of all jobs share as measured
    /// ([`crate::lustre`]); without it links alone hold writers back.
    pub on_osts: bool,
}

impl LabIo {
    /// Whether it writes during the second that begins `elapsed_s` after the start of the job.
    pub(super) fn writes(&self, elapsed_s: u32) -> bool {
        let Some(since) = elapsed_s.checked_sub(self.from_s) else { return false };
        let since = if self.every_s == 0 { since } else { since % self.every_s };
        since < self.for_s
    }
}

/// Sort of traffic (Brown 2018: a flow to an I/O server is I/O).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficClass {
    /// Messages between the nodes of a job.
    Mpi,
    /// From a node to a storage server.
    Io,
}

/// Something that happens to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// At the beginning of which second from the start of the lab.
    pub at_s: u32,
    /// What happens.
    pub change: Change,
}

/// What can happen. A cable is named by either of its directions, and its width and whether it is up are independent
/// of each other. Events of one second happen in the order in which they are given; an event that changes nothing is
/// none. A link that flaps is a list of `Down` and `Up`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Both directions fail, and the ports at both ends count it. With `Up` in the same second, that is all.
    Down(LinkIndex),
    /// Both directions work again.
    Up(LinkIndex),
    /// Both directions fail for a part of a second and work again, and the ports at both ends count it. In that second
    /// they carry so much less; traffic is not rerouted for so short a time.
    Blink {
        /// One of the directions.
        link: LinkIndex,
        /// For how long, in milliseconds, 1 to 999.
        ms: u16,
    },
    /// Both directions carry only a part of their capacity: some lanes are off.
    Narrow {
        /// One of the directions.
        link: LinkIndex,
        /// What is left of the capacity, in percent, 1 to 100; 100 restores it.
        percent: u8,
    },
    /// All counters reported about a switch, router or host begin again at 0.
    Reset(VertexIndex),
    /// All rows about a switch, router or host are missing from now on; its counters continue.
    Silent(VertexIndex),
    /// Ends [`Change::Silent`]: its rows are there again.
    Reporting(VertexIndex),
    /// The clock that stamps the rows about a switch, router or host is wrong from now on.
    Skew {
        /// Whose rows.
        vertex: VertexIndex,
        /// By how much it is fast, in milliseconds; slow if below 0. It replaces an earlier skew; 0 ends it.
        ms: i32,
    },
}

/// Noise of what is measured. It touches the counters, never the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Spread of the traffic of a link from second to second (log-normal).
    pub load: f64,
    /// Spread of its stalls per word (log-normal).
    pub ratio: f64,
    /// Whether links carry 1,000 to 10,000 flits a second of background traffic, with stalls in a tenth of the seconds.
    pub background: bool,
    /// Share of the seconds in which the rows of a component are missing, 0 to 1.
    pub missing: f64,
}

impl Default for Noise {
    fn default() -> Noise {
        Noise { load: 0.05, ratio: 0.05, background: true, missing: 0.0 }
    }
}
