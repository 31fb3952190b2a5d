//! What a lab is built from, and what cannot be played.

use super::job::{Change, Event, LabJob, Noise};
use super::routing::{Routing, Striping};
use schemas::NameError;
use std::sync::Arc;
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// Everything that decides what happens.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The network.
    pub topology: Arc<Topology>,
    /// How flows find their way.
    pub routing: Routing,
    /// Jobs with their hosts and start.
    pub jobs: Vec<LabJob>,
    /// What breaks, in any order.
    pub events: Vec<Event>,
    /// Noise of the counters.
    pub noise: Noise,
    /// Of the random partners and of the noise.
    pub seed: u64,
}

/// A setup that cannot be played.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LabError {
    /// A node or target is no host of the topology.
    #[error("job {job_id}: vertex {vertex} is no host")]
    NoHost {
        /// The job.
        job_id: u64,
        /// The vertex.
        vertex: u32,
    },
    /// A number makes no sense.
    #[error("job {job_id}: {what}")]
    Number {
        /// The job.
        job_id: u64,
        /// What is wrong with which number.
        what: &'static str,
    },
    /// No metric of the catalogue has counters of this LDMS schema.
    #[error("no metric of the catalogue has LDMS' schema {0}, which the lab writes")]
    Schema(String),
    /// Two jobs have one number.
    #[error("two jobs have the number {0}")]
    Twice(u64),
    /// There is no way, even with all links up.
    #[error("there is no way from vertex {from} to vertex {to}")]
    NoWay {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
    },
    /// An event is about a link that is not there.
    #[error("there is no link {0}")]
    NoLink(u32),
    /// An event is about a switch, router or host that is not there.
    #[error("there is no vertex {0}")]
    NoVertex(u32),
    /// A link cannot be that narrow or wide.
    #[error("link {link} cannot have {percent}% of its capacity, only 1 to 100")]
    Width {
        /// The link.
        link: u32,
        /// What was asked for.
        percent: u8,
    },
    /// No outage of a part of a second.
    #[error("link {link} cannot fail for {ms} ms of a second, only for 1 to 999")]
    Outage {
        /// The link.
        link: u32,
        /// What was asked for.
        ms: u16,
    },
    /// A number of the routing makes no sense.
    #[error("routing: {0}")]
    Routing(&'static str),
    /// A label of the topology is no name.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Refuses what cannot be played, as far as it shows without paths.
pub(super) fn check(setup: &Setup) -> Result<(), LabError> {
    let topology = &setup.topology;
    let hosts = |v: VertexIndex| v.at() < topology.vertex_count() && topology.kind(v) == VertexKind::Host;
    for (index, job) in setup.jobs.iter().enumerate() {
        let job_id = job.job_id;
        if setup.jobs[..index].iter().any(|other| other.job_id == job_id) {
            return Err(LabError::Twice(job_id));
        }
        let targets = job.io.iter().flat_map(|io| &io.targets);
        if let Some(vertex) = job.nodes.iter().chain(targets).find(|vertex| !hosts(**vertex)) {
            return Err(LabError::NoHost { job_id, vertex: vertex.0 });
        }
        if let Some(what) = wrong_number(job) {
            return Err(LabError::Number { job_id, what });
        }
    }
    check_routing(setup.routing)?;
    setup.events.iter().try_for_each(|event| check_change(topology, event.change))
}

fn check_routing(routing: Routing) -> Result<(), LabError> {
    match routing {
        Routing::Adaptive { threshold_percent: 101.. } => {
            Err(LabError::Routing("threshold_percent is above 100"))
        }
        Routing::Striped(Striping::Adaptive { alpha_percent: 0 | 101.. }) => {
            Err(LabError::Routing("alpha_percent is not between 1 and 100"))
        }
        _ => Ok(()),
    }
}

fn check_change(topology: &Topology, change: Change) -> Result<(), LabError> {
    let no_link = |link: LinkIndex| (link.at() >= topology.link_count()).then_some(LabError::NoLink(link.0));
    let wrong = match change {
        Change::Down(link) | Change::Up(link) => no_link(link),
        Change::Narrow { link, percent: percent @ (0 | 101..) } => {
            Some(LabError::Width { link: link.0, percent })
        }
        Change::Blink { link, ms: ms @ (0 | 1000..) } => Some(LabError::Outage { link: link.0, ms }),
        Change::Narrow { link, .. } | Change::Blink { link, .. } => no_link(link),
        Change::Reset(vertex)
        | Change::Silent(vertex)
        | Change::Reporting(vertex)
        | Change::Skew { vertex, .. } => {
            (vertex.at() >= topology.vertex_count()).then_some(LabError::NoVertex(vertex.0))
        }
    };
    wrong.map_or(Ok(()), Err)
}

fn wrong_number(job: &LabJob) -> Option<&'static str> {
    let rate = |bytes_per_s: f64| bytes_per_s.is_finite() && bytes_per_s >= 0.0;
    let checks = [
        (rate(job.bytes_per_s), "bytes_per_s is no rate"),
        (job.work_s.is_finite() && job.work_s > 0.0, "work_s is not above 0"),
        ((0.0..=1.0).contains(&job.coupling), "coupling is not between 0 and 1"),
        (job.phases.is_none_or(|phases| phases.on_s > 0.0), "on_s is not above 0"),
        (job.io.as_ref().is_none_or(|io| rate(io.bytes_per_s)), "bytes_per_s of its I/O is no rate"),
        (job.io.as_ref().is_none_or(|io| !io.targets.is_empty()), "its I/O has no targets"),
    ];
    checks.into_iter().find(|(right, _)| !right).map(|(_, what)| what)
}
