//! Topologies: machines of the papers (checks B1 and K1, Mutrino), contradictions, round trips.
#![allow(clippy::unwrap_used, clippy::panic)]

mod faults;
mod machines;
mod plain;
mod routing;
