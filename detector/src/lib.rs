//! Counters to rates, the contention models, episodes and what jobs lost: no database, no Kafka, no HTTP, no clock.
//!
//! A row goes one way: [`detector::Detector::rows`] → [`ingest`] (order, duplicates, sources, rates) →
//! [`model`] (per series) → [`evidence`] (a fall is judged by the others) → [`episodes`] → [`jobs`] →
//! [`detector::Detector::take`], whose batch a sink such as a store commits.
//!
//! | module | what it holds |
//! |---|---|
//! | [`equations`] | the equations of both models, pure; each names its number in the report |
//! | [`reports`] | the pace of jobs by their own reports |
//! | [`settings`] | what can be set, with defaults |
//! | [`inbox`] | rows of one Kafka partition in the order of time across the raw partitions |
//! | [`ingest`] | rows to readings in event time |
//! | [`model`] | banks of both models |
//! | [`evidence`] | judgement of a fall from the other clients of a file system |
//! | [`spells`] | when a file system was contended, in event time |
//! | [`gains`] | which clients took what contended ones lost |
//! | [`episodes`] | contended stretches as they open, grow, close and settle |
//! | [`coverage`] | ticks seen, for completeness |
//! | [`fabric`] | from links to jobs: regions, kinds, causes |
//! | [`factors`] | what a job loses to itself, to others, to its placement |
//! | [`ledger`] | jobs by number and node, their series and latest results |
//! | [`jobs`] | what a job lost |
//! | [`detector`] | the stage as a whole |
//! | [`spellings`] | names of hosts without regard to domain and case |
//! | [`score`] | a model alone on a bare series, to compare with a truth |

pub mod coverage;
pub mod detector;
pub mod episodes;
pub mod equations;
pub mod evidence;
pub mod fabric;
pub mod factors;
pub mod gains;
pub mod inbox;
pub mod ingest;
pub mod jobs;
pub mod ledger;
pub mod model;
pub mod reports;
pub mod score;
pub mod settings;
pub mod spellings;
pub mod spells;

#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
