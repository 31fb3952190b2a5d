//! The map: vertices, links and series by number, their states now and at a time, and what a job touches.

use super::{Question, question};

/// Numbers of links, nodes and series.
pub const SIZE: Question = question!("map_size");
/// Links of the topology.
pub const LINKS: Question = question!("map_links");
/// Nodes and their switches.
pub const PLACES: Question = question!("map_places");
/// All series.
pub const SERIES: Question = question!("map_series");
/// Series by latest state.
pub const STATES: Question = question!("map_states");
/// Series by their state at a time.
pub const STATES_AT: Question = question!("map_states_at");
/// Single links of a vertex.
pub const LINKS_OF: Question = question!("map_links_of");
/// Nodes of a job and their switches.
pub const JOB_NODES: Question = question!("footprint_nodes");
/// Links of a job.
pub const JOB_LINKS: Question = question!("footprint_links");
/// Jobs that a job lost time to, and those that lost time to it.
pub const JOB_RIVALS: Question = question!("footprint_rivals");
