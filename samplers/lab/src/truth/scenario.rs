//! A scenario on file systems: what is there, what the jobs do, and which rows are missing.

use samplers::rng::Rng;

/// A scenario: file systems, jobs, seconds.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Seconds that are played.
    pub seconds: u32,
    /// File systems.
    pub systems: Vec<FileSystem>,
    /// Jobs; their nodes are their own.
    pub jobs: Vec<Job>,
    /// Numbers of the jobs whose losses are scored; all without any.
    pub subjects: Vec<u64>,
    /// Rows that are missing.
    pub unseen: Vec<Unseen>,
    /// Whether servers count by job.
    pub served_by_job: bool,
    /// What clients count.
    pub counts: Counts,
    /// Seed of the noise.
    pub seed: u64,
}

/// What clients count of what a file system serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Bytes read and written.
    Bytes,
    /// Operations on metadata: each takes of the server what so many bytes do, times what it costs in its job.
    Operations {
        /// Bytes.
        bytes: u32,
    },
}

/// The rows of a job's clients are missing from one second to another.
#[derive(Clone, Copy, Debug)]
pub struct Unseen {
    /// Number of the job.
    pub job: u64,
    /// First second.
    pub from_s: f64,
    /// The second after.
    pub to_s: f64,
}

/// A file system.
#[derive(Clone, Debug)]
pub struct FileSystem {
    /// Its name.
    pub name: String,
    /// What it can serve.
    pub capacity: Capacity,
    /// When its servers are slow.
    pub slow: Vec<Slow>,
}

/// What a file system can serve.
#[derive(Clone, Copy, Debug)]
pub enum Capacity {
    /// So many bytes a second, however many clients write.
    Fixed(f64),
    /// As table 4.1 of SAND2016-9525 measured it: the total grows with the writers.
    Measured,
}

/// Seconds in which something serves a part only.
#[derive(Clone, Copy, Debug)]
pub struct Slow {
    /// From this second.
    pub from_s: f64,
    /// To this second.
    pub to_s: f64,
    /// What it serves, 0 to 1.
    pub share: f64,
}

/// A job that writes or reads.
#[derive(Clone, Debug)]
pub struct Job {
    /// The scheduler's number.
    pub id: u64,
    /// Its application.
    pub app: String,
    /// How many nodes it has.
    pub nodes: u32,
    /// Index of its file system.
    pub system: usize,
    /// When it starts.
    pub start_s: f64,
    /// When the scheduler ends it, if its phases last longer.
    pub end_s: f64,
    /// What it does, one after the other.
    pub phases: Vec<Phase>,
    /// How its rate varies.
    pub noise: Noise,
    /// When its first node is slow.
    pub slow_node: Option<Slow>,
    /// The share of its bytes that it reads: from its start on, and from the second that stands beside it on.
    pub reads: [(f64, f64); 2],
    /// The application, where it reports its steps: the loss is what its steps lost then.
    pub steps: Option<Steps>,
    /// How many times what a look at an entry costs one of its operations does, where operations are counted: it creates and removes
    /// if it is above 1.
    pub operation_cost: f64,
}

impl Job {
    /// The share of its bytes that it reads in the second that ends at `second_s`.
    pub fn read_share(&self, second_s: f64) -> f64 {
        let [first, later] = self.reads;
        if second_s > later.0 { later.1 } else { first.1 }
    }
}

/// An application that counts its steps.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The part of its time in which it waits for its file system where nothing slows that, while it moves bytes.
    pub waits: f64,
    /// Whether it makes steps while it moves bytes; else in its pauses alone.
    pub beside: bool,
    /// Steps a second where nothing slows it.
    pub per_s: f64,
    /// How its pace varies.
    pub noise: Noise,
    /// Seconds between two reports.
    pub report_s: u32,
}

impl Steps {
    /// Any of those that make none while they move bytes.
    pub fn drawn(rng: &mut Rng) -> Steps {
        let noise =
            Noise { sigma: rng.between(0.02, 0.2), correlation: rng.between(0.0, 0.9), held_back: 0.0 };
        let (per_s, report_s) = (rng.log_between(10.0, 1e4), 1 + rng.below(20) as u32);
        Steps { waits: 1.0, beside: false, per_s, noise, report_s }
    }
}

/// What all nodes of a job do for a while.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// Each node writes `bytes` at `rate` or as fast as it can.
    Write {
        /// Bytes of each node.
        bytes: f64,
        /// Demand of a node, in bytes a second.
        rate: f64,
    },
    /// Each node writes for so many seconds; its rate goes from the first to the last in a straight line.
    Stream {
        /// Seconds.
        seconds: f64,
        /// Demand of a node at first and at last, in bytes a second.
        rate: [f64; 2],
    },
    /// Nothing is written for so many seconds.
    Pause {
        /// Seconds.
        seconds: f64,
    },
}

/// How the rate of a client varies from second to second: log-normal, with mean 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noise {
    /// Spread.
    pub sigma: f64,
    /// Correlation of one second with the next, 0 to 1.
    pub correlation: f64,
    /// Chance of a second in which the page cache takes nothing; the next one takes both.
    pub held_back: f64,
}
