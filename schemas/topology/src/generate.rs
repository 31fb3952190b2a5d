//! Machines from their parameters. A parameter file (`kind = "fat_tree"`, …) may stand wherever a topology file may.

mod aries;
mod dragonfly;
mod dragonfly_plus;
mod fat_tree;
mod tables;

pub use aries::Aries;
pub use dragonfly::Dragonfly;
pub use dragonfly_plus::DragonflyPlus;
pub use fat_tree::FatTree;

use super::class::{LinkClass, VertexKind};
use super::draft::{Draft, DraftVertex, PortClaim};
use super::graph::Topology;
use serde::{Deserialize, Serialize};

/// Vertices of the largest machine built; a slip of the pen must not fill the memory.
pub const VERTICES_MAX: u64 = 1_000_000;
/// Cables of the largest machine built.
pub const CABLES_MAX: u64 = 8_000_000;

/// Parameters of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Machine {
    /// Cray XC: groups of two cabinets.
    Aries(Aries),
    /// Groups of routers that are all connected with each other.
    Dragonfly(Dragonfly),
    /// Groups of leaves and spines.
    DragonflyPlus(DragonflyPlus),
    /// Two or three levels of switches.
    FatTree(FatTree),
}

/// Parameters that no machine can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// A number is out of its range.
    #[error("{parameter} = {value} is not possible: {why}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What is possible.
        why: String,
    },
    /// It would have more parts than are built.
    #[error(
        "the machine would have {0} vertices or cables; at most {VERTICES_MAX} vertices and {CABLES_MAX} cables are built"
    )]
    TooLarge(u64),
}

fn wrong(parameter: &'static str, value: impl ToString, why: impl Into<String>) -> MachineError {
    MachineError::Parameter { parameter, value: value.to_string(), why: why.into() }
}

fn at_least(parameter: &'static str, value: u32, least: u32) -> Result<(), MachineError> {
    let why = || format!("at least {least}");
    if value < least { Err(wrong(parameter, value, why())) } else { Ok(()) }
}

fn positive(parameter: &'static str, bytes_per_s: f64) -> Result<(), MachineError> {
    let possible = bytes_per_s.is_finite() && bytes_per_s > 0.0;
    if possible { Ok(()) } else { Err(wrong(parameter, bytes_per_s, "a capacity in bytes/s above 0")) }
}

fn not_too_large(vertices: u64, cables: u64) -> Result<(), MachineError> {
    match (vertices > VERTICES_MAX, cables > CABLES_MAX) {
        (false, false) => Ok(()),
        (true, _) => Err(MachineError::TooLarge(vertices)),
        _ => Err(MachineError::TooLarge(cables)),
    }
}

/// Product of counts that does not overflow.
fn product(counts: &[u32]) -> u64 {
    counts.iter().fold(1u64, |all, count| all.saturating_mul(u64::from(*count)))
}

impl Machine {
    /// Builds it.
    ///
    /// # Errors
    /// [`MachineError`] names the parameter that is not possible.
    pub fn build(&self) -> Result<Topology, MachineError> {
        match self {
            Machine::Aries(machine) => machine.build(),
            Machine::Dragonfly(machine) => machine.build(),
            Machine::DragonflyPlus(machine) => machine.build(),
            Machine::FatTree(machine) => machine.build(),
        }
    }
}

/// A new vertex whose name is its key.
fn named(draft: &mut Draft, kind: VertexKind, name: String, ports: u32, group: Option<u32>) -> DraftVertex {
    let vertex = draft.vertex(&name, kind);
    let facts = draft.facts(vertex);
    facts.ports = ports.min(u32::from(u16::MAX)) as u16;
    facts.group = group;
    facts.name = Some(name);
    vertex
}

/// One end of a cable: vertex and port.
type End = (DraftVertex, u32);

/// A cable with the same capacity in both directions.
fn cable(draft: &mut Draft, a: End, b: End, class: LinkClass, rail: u32, bytes_per_s: f64) {
    draft.connect(PortClaim {
        vertex: a.0,
        port: a.1 as u16,
        peer: b.0,
        peer_port: b.1 as u16,
        bytes_per_s,
        class: Some(class),
        rail: Some(rail as u8),
    });
}
