//! The network: groups, switches, classes, parallel links, the worst links.

use super::{Question, question};

/// What is known of links.
pub const KNOWN_LINKS: Question = question!("fabric_known_links");
/// Groups of switches.
pub const GROUPS: Question = question!("fabric_groups");
/// Switches of a group.
pub const SWITCHES: Question = question!("fabric_switches");
/// Classes of links.
pub const CLASSES: Question = question!("fabric_classes");
/// Parallel links.
pub const BUNDLES: Question = question!("fabric_bundles");
/// Links that lost most.
pub const WORST: Question = question!("fabric_worst");
/// Tiles of an Aries router.
pub const TILES: Question = question!("router_tiles");
