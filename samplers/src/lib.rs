//! What runs on a node, and the simulated cluster that stands in for it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`cluster`] | [`Cluster`], which plays a scenario and writes LDMS rows, a second at a time |
//! | [`scenario`] | [`Scenario`], the built-in ones, and bare series for tests of models |
//! | [`ior_rates`] | rates and truth of the first process of an IOR schedule |
//! | [`jobs`] | [`jobs::JobSpec`], what jobs do |
//! | [`lustre`] | how writers share four OSTs |
//! | [`aries`] | routers, tiles, links, routes; what load does to a link |
//! | [`lab`] | any topology under known jobs, with the truth about every link |
//! | [`faults`] | [`Faults`], faults between sampler and store |
//! | [`native`] | the native sampler: rows of a real node, without LDMS |
//! | [`ldms`] | configuration of sampler daemons, in pieces |
//! | [`ldms_rows`] | [`Rows`] and [`Schema`], the format of the rows |
//! | [`truth`] | [`Truth`], true losses and their causes |
//! | `machine` | the physics from event to event |
//! | `network` | loads, stalls and tile counters |
//! | [`messages`] | time of single messages by LogGP |
//! | [`parallel`] | many cases on all processors |
//! | [`requests`] | clients that ask servers and wait |
//! | [`rng`] | the random numbers |

pub mod aries;
pub mod cluster;
pub mod faults;
pub mod ior_rates;
pub mod jobs;
pub mod lab;
pub mod ldms;
pub mod ldms_rows;
pub mod lustre;
mod machine;
pub mod messages;
pub mod native;
mod network;
pub mod parallel;
pub mod requests;
pub mod rng;
pub mod scenario;
pub mod truth;

pub use cluster::Cluster;
pub use faults::Faults;
pub use ldms_rows::{Rows, Schema};
pub use scenario::{Scenario, ScenarioError};
pub use truth::{JobTruth, Truth};

#[cfg(test)]
extern crate self as samplers;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
