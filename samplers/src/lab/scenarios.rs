//! Labelled cases: one class of cause each, with nodes and rates drawn by the seed within the class.
//!
//! Rates are set by the utilisation that they make: a job is drawn, its load at a rate of 1 is counted on all links
//! ([`super::asked`]), and the rate is the one that gives the link in question the wanted load. In every case the first
//! [`ONSET_S`] seconds hold nothing contended, so that a detector may learn.

mod calibrate;
mod endpoints;
mod shared;
mod single;

use super::{LabError, Setup};
use schemas::{Cause, CauseKind};
use topology::MachineError;

/// When contention begins, in seconds from the start of the lab.
pub const ONSET_S: u32 = 120;
/// How long a case is worth playing, in seconds.
pub const DURATION_S: u32 = 420;

/// A class of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScenarioKind {
    /// All-to-all of one job above what the uplinks of its leaves carry.
    SelfOverload,
    /// A second job shares the uplinks of the first.
    OtherJob,
    /// Checkpoints of another job cross the links of a job's messages.
    IoOnMpi,
    /// Uplinks fail; the others carry their load.
    FailoverInduced,
    /// Many nodes of a job send to one.
    IncastSelf,
    /// The nodes of another job send to a host that a job uses too.
    IncastOther,
    /// Jobs all over the machine need more than all uplinks carry.
    Capacity,
    /// Destinations of equal remainder pile flows on few uplinks beside idle ones (Vishnu 2007; check T1).
    Avoidable,
    /// Background traffic alone.
    Quiet,
    /// Links used to 70% by one job each: traffic is not contention.
    TrafficWithoutStalls,
    /// Traffic of nodes without a reported job slows a job.
    Unknown,
}

impl ScenarioKind {
    /// All classes.
    pub const ALL: [ScenarioKind; 11] = [
        ScenarioKind::SelfOverload,
        ScenarioKind::OtherJob,
        ScenarioKind::IoOnMpi,
        ScenarioKind::FailoverInduced,
        ScenarioKind::IncastSelf,
        ScenarioKind::IncastOther,
        ScenarioKind::Capacity,
        ScenarioKind::Avoidable,
        ScenarioKind::Quiet,
        ScenarioKind::TrafficWithoutStalls,
        ScenarioKind::Unknown,
    ];
}

/// What a case is known to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Cause on the worst link of the victim; `None`: nothing is contended.
    pub cause: Option<Cause>,
    /// Kind there; `None` where the class does not fix it.
    pub kind: Option<CauseKind>,
    /// The job that suffers.
    pub victim: Option<u64>,
    /// The job that causes it; `None` where there is not one alone.
    pub aggressor: Option<u64>,
}

/// A case with its label.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// Its class.
    pub kind: ScenarioKind,
    /// To be played with [`super::Lab::new`] for [`DURATION_S`].
    pub setup: Setup,
    /// Its label. The truth of the lab is more detailed, second by second.
    pub expected: Expected,
}

/// Why a case could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LabelledError {
    /// The network.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The jobs.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// A case of `kind`; the same for the same `seed`.
///
/// # Errors
/// [`LabelledError`] if a generator refuses, which none is known to do.
pub fn labelled(kind: ScenarioKind, seed: u64) -> Result<Labelled, LabelledError> {
    match kind {
        ScenarioKind::SelfOverload => single::self_overload(seed),
        ScenarioKind::OtherJob => shared::other_job(seed, true),
        ScenarioKind::IoOnMpi => shared::io_on_mpi(seed),
        ScenarioKind::FailoverInduced => single::failover(seed),
        ScenarioKind::IncastSelf => endpoints::incast_self(seed),
        ScenarioKind::IncastOther => endpoints::incast_other(seed),
        ScenarioKind::Capacity => shared::capacity(seed),
        ScenarioKind::Avoidable => single::avoidable(seed),
        ScenarioKind::Quiet => single::quiet(seed),
        ScenarioKind::TrafficWithoutStalls => single::traffic(seed),
        ScenarioKind::Unknown => shared::other_job(seed, false),
    }
}
