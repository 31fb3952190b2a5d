//! The rows of one Trinity, faster than a simulated machine could make them, and with known truth.
//!
//! `samplers::Cluster` has physics, and one dragonfly group; a broker is filled with 52 of them. So here each link
//! and each client has a level, noise around it, and, if it is one of those that suffer, a span of contention.
//!
//! | module | content |
//! |---|---|
//! | [`site`] | [`Site`]: the size, and the names of routers, links and clients |
//! | [`model`] | [`Model`]: the counters, a second at a time, and the spans of contention |
//! | [`jobs`] | [`Jobs`]: which job runs on which node, and the nodes' rows about it |
//! | [`rows`] | [`RowWriter`]: rows as an ldmsd's Kafka store writes them |
//! | [`feed`] | [`Feed`]: all rows of one second in the order of arrival |
//! | [`broker`] | [`Broker`]: topics, and rows into them |
//! | [`asking`] | jobs that ask whether they are contended: a store with them, and clients |
//! | [`rng`] | the random numbers |

pub mod asking;
pub mod broker;
pub mod feed;
pub mod jobs;
pub mod model;
pub mod rng;
pub mod rows;
pub mod site;

pub use broker::Broker;
pub use feed::Feed;
pub use jobs::Jobs;
pub use model::Model;
pub use rows::RowWriter;
pub use site::Site;

#[cfg(test)]
extern crate self as load;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
