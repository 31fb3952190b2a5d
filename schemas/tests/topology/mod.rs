//! Topologies: machines of the papers (checks B1 and K1, Mutrino), contradictions, round trips.
mod faults;
mod machines;
mod plain;
mod routing;
