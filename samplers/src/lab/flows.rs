//! Flows and their paths, in columns.

use super::job::{LabJob, TrafficClass};
use super::pattern::pairs;
use crate::rng::Rng;
use std::ops::Range;
use std::sync::Arc;
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// A flow, or a part of one: what one host wants to send to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// Index of its job.
    pub job: u32,
    pub class: TrafficClass,
    pub from: VertexIndex,
    pub to: VertexIndex,
    /// Bytes a second that it asks for.
    pub demand: f64,
    /// Whether it writes to the file system of four OSTs.
    pub on_osts: bool,
}

/// Paths side by side; an empty one is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    ends: Vec<u32>,
    links: Vec<LinkIndex>,
}

impl Paths {
    pub(super) fn push(&mut self, path: &[LinkIndex]) {
        self.links.extend_from_slice(path);
        self.ends.push(self.links.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn of(&self, flow: u32) -> &[LinkIndex] {
        let at = flow as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.links[start..self.ends[at] as usize]
    }
}

/// The flows of all jobs, those of one job and class side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    pub all: Arc<Vec<Flow>>,
    /// By job: messages, then writes.
    ranges: Vec<[Range<u32>; 2]>,
}

impl Flows {
    /// Flows of `jobs`, in their order.
    pub(super) fn of(topology: &Topology, jobs: &[LabJob], seed: u64) -> Flows {
        let mut all = Vec::new();
        let mut ranges = Vec::new();
        for (job_index, job) in (0..).zip(jobs) {
            let mut rng = Rng::new(seed, 0x1AB_0000 + job.job_id);
            let first = all.len() as u32;
            add_messages(&mut all, topology, job_index, job, &mut rng);
            let second = all.len() as u32;
            add_writes(&mut all, job_index, job);
            ranges.push([first..second, second..all.len() as u32]);
        }
        Flows { all: Arc::new(all), ranges }
    }

    /// Flows of a job in one class.
    pub(super) fn range(&self, job: usize, class: TrafficClass) -> Range<u32> {
        self.ranges[job][class as usize].clone()
    }
}

fn add_messages(all: &mut Vec<Flow>, topology: &Topology, job_index: u32, job: &LabJob, rng: &mut Rng) {
    if job.bytes_per_s <= 0.0 {
        return;
    }
    let group = hosts_of_group(topology, job);
    for (from, to, share) in pairs(job.pattern, job.nodes.len(), group, rng) {
        let demand = share * job.bytes_per_s;
        let (from, to) = (job.nodes[from], job.nodes[to]);
        all.push(Flow { job: job_index, class: TrafficClass::Mpi, from, to, demand, on_osts: false });
    }
}

fn add_writes(all: &mut Vec<Flow>, job_index: u32, job: &LabJob) {
    let Some(io) = &job.io else { return };
    let writers = io.writers.min(job.nodes.len());
    for writer in 0..writers {
        let from = job.nodes[writer * job.nodes.len() / writers];
        let to = io.targets[writer % io.targets.len()];
        if from != to && io.bytes_per_s > 0.0 {
            let demand = io.bytes_per_s;
            all.push(Flow { job: job_index, class: TrafficClass::Io, from, to, demand, on_osts: io.on_osts });
        }
    }
}

fn hosts_of_group(topology: &Topology, job: &LabJob) -> usize {
    let Some(group) = job.nodes.first().and_then(|node| topology.group(*node)) else { return 0 };
    topology.vertices_of(VertexKind::Host).filter(|host| topology.group(*host) == Some(group)).count()
}
