//! What a job of an experiment writes to storage, and how long that takes.

use super::experiment::RateSpec;
use super::select::Selection;
use serde::Deserialize;

/// Checkpoints. With collective buffering the writers are the aggregators (Jha 2017).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IoSpec {
    /// How many of the nodes write.
    pub writers: usize,
    /// Demand of each of them.
    pub rate: RateSpec,
    /// Servers, which writers take in turn.
    pub targets: Vec<Selection>,
    /// First checkpoint, in seconds from the start of the job.
    #[serde(default)]
    pub from_s: u32,
    /// Seconds from one to the next; 0: there is only one.
    #[serde(default)]
    pub every_s: u32,
    /// Seconds that one lasts.
    #[serde(default)]
    pub for_s: u32,
    /// Whether the servers are those of the one file system of four OSTs, whose writers share as table 4.1 measured.
    #[serde(default)]
    pub osts: bool,
    /// Collective buffering, which determines the duration of one instead of `for_s`.
    pub collective: Option<CollectiveSpec>,
}

/// Collective buffering: the writers gather what all nodes have, a buffer at a time (Jha 2017, section 4.3).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectiveSpec {
    /// Bytes of each node in a checkpoint.
    pub process_bytes: f64,
    /// Bytes of an aggregator's buffer.
    pub buffer_bytes: f64,
}

impl CollectiveSpec {
    /// Bytes that each of `aggregators` writes for `processes`.
    pub fn aggregator_bytes(&self, processes: usize, aggregators: usize) -> f64 {
        processes as f64 * self.process_bytes / aggregators.max(1) as f64
    }

    /// How often each of them fills its buffer.
    pub fn cycles(&self, processes: usize, aggregators: usize) -> f64 {
        (self.aggregator_bytes(processes, aggregators) / self.buffer_bytes).ceil()
    }
}
