//! Topologies: machines of the papers (checks B1 and K1, Mutrino), contradictions, round trips.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod faults;
mod machines;
mod plain;
mod routing;
