//! The network: switches, hosts, directed links, forwarding tables; readers, generators, checks and drawing.
//!
//! Everything is numbered from 0 without gaps ([`VertexIndex`], [`LinkIndex`]) and kept in columns, so that loads,
//! stalls or states of all links are plain vectors beside it. A link is directed and belongs to its transmitting
//! end: there is one [`LinkIndex`] for every connected port. The links of a vertex lie side by side, in the order
//! of their ports.
//!
//! | module | what it holds |
//! |---|---|
//! | [`class`] | [`VertexKind`], [`LinkClass`], [`Shape`] |
//! | [`graph`] | [`Topology`]: the columns, and the way from names and ports to numbers |
//! | `spellings` | hosts by other spellings of their names |
//! | [`draft`] | [`Draft`]: claims of files or generators, and what becomes of those that contradict |
//! | [`fault`] | [`Fault`], [`Faults`]: what is wrong with a topology, where, how often |
//! | [`levels`] | levels, groups and rails, where the files do not give them |
//! | [`forwarding`] | [`ForwardingTable`] with its time of validity, [`Lids`] |
//! | [`routes`] | [`Routes`]: the tables valid at one time; walks, projection of flows |
//! | [`shortest`] | one of the shortest paths, where there are no tables |
//! | [`check`] | loops, dead ends and levels: faults of the whole, not of a line |
//! | [`parallel`] | [`ParallelLinks`]: groups of links among which traffic may choose |
//! | [`imbalance`] | [`Imbalance`] of the loads of such a group |
//! | [`mod@regions`] | chosen links that touch |
//! | [`places`] | [`NodePlace`]: the switches that hosts hang on; [`LinkPlace`]: links by their series |
//! | [`series`] | from a link to the series that measures it, and back |
//! | [`cname`] | names of Cray's machine room |
//! | [`rate`] | bytes a second of InfiniBand's words for width and speed |
//! | [`plain`] | [`PlainTopology`]: the document that can express everything |
//! | [`generate`] | [`Machine`]: Aries, Dragonfly, Dragonfly+ and fat trees from their parameters |
//! | [`machines`] | machines of the papers and small ones, by name |
//! | [`readers`] | [`readers::read`]: fabric tools' output, cnames, Slingshot cables, parameters of machines to a topology |
//! | [`answers`] | what `tailback topology` prints of a topology |
//! | [`draw`] | a picture of a topology, as SVG |

pub mod answers;
pub mod check;
pub mod class;
pub mod cname;
pub mod draft;
pub mod draw;
pub mod fault;
pub mod forwarding;
pub mod generate;
pub mod graph;
pub mod imbalance;
pub mod levels;
pub mod machines;
pub mod parallel;
pub mod places;
pub mod plain;
pub mod rate;
pub mod readers;
pub mod regions;
pub mod routes;
pub mod series;
pub mod shortest;
mod spellings;

pub use class::{LinkClass, Shape, VertexKind};
pub use draft::{Draft, DraftVertex, PortClaim};
pub use fault::{Fault, FaultKind, Faults, Origin};
pub use forwarding::{ForwardingTable, Lids};
pub use generate::{Machine, MachineError};
pub use graph::{LinkIndex, Topology, VertexIndex};
pub use imbalance::Imbalance;
pub use parallel::{ParallelKind, ParallelLinks};
pub use places::{LinkPlace, NodePlace, aries_group, link_places, node_places};
pub use plain::{PlainError, PlainTopology};
pub use regions::regions;
pub use routes::{Flow, RouteError, Routes};
pub use series::{PortUnknown, UnknownPort, unknown_ports};

#[cfg(test)]
extern crate self as topology;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
