//! The network: groups, switches, classes, parallel links, the worst links.

use super::{Question, question};

/// What is known of links.
pub const KNOWN_LINKS: Question = question!("fabric_known_links");
/// Groups of switches, and switches.
pub const LINKS_BY_PLACE: Question = question!("fabric_places");
/// Classes of links, and parallel links.
pub const LINKS_BY_CLASS: Question = question!("fabric_links");
/// Links that lost most.
pub const WORST: Question = question!("fabric_worst");
/// Tiles of an Aries router.
pub const TILES: Question = question!("router_tiles");
