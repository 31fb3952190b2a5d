//! Jobs on a network, whose losses are known by the bytes that they move.
//!
//! The truth knows no stalls and no model: a job's speed is what its flows move over what they move when it is alone. What they
//! move follows from max-min shares of the links ([`shares`]) among jobs that wait: a slowed job sends less ([`moment`]).
//!
//! | module | what it holds |
//! |---|---|
//! | [`shares`] | max-min fair shares by water filling |
//! | [`moment`] | rates, loads and stalls while nothing changes |
//! | [`world`] | jobs over time, and what each lost to whom |
//! | [`draw`] | a scenario of a kind, from its seed |
//! | `machine` | the machines that scenarios are drawn on |
//! | [`play`] | a scenario through all stages |
//! | [`score`] | results against the truth |

pub mod draw;
mod machine;
pub mod moment;
pub mod play;
pub mod score;
pub mod shares;
#[cfg(test)]
mod tests;
pub mod world;
