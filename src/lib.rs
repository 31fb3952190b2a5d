//! The command line of Tailback: it wires the crates together and holds no model, no format and no SQL of
//! its own but the report's.
//!
//! | module | what it holds |
//! |---|---|
//! | [`cli`] | the commands and their arguments |
//! | [`commands`] | commands of which a crate does the work |
//! | [`config`] | the configuration: defaults, file, environment |
//! | [`check`] | `tailback check`: what is wrong with a configuration |
//! | [`run`] | `tailback run`: Kafka in, database out; and the same stages in one process |
//! | [`doctor`] | `tailback doctor`: what is wrong with an installation, and how to mend it |
//! | [`health`] | `tailback health`: whether the process here is ready |
//! | [`ldms_config`] | `tailback ldms-config`: configuration for a site's ldmsd |
//! | [`migrate`] | `tailback migrate`: the database's schema |
//! | [`log`] | lines on standard error |
//! | [`panics`] | a panic ends the process |
//! | [`replay`] | `tailback replay`: recorded rows to files |
//! | [`outputs`] | the four files of a replay |
//! | [`demo`] | `tailback demo`: the simulated cluster, live |
//! | [`simulate`] | `tailback simulate`: recorded rows of the simulated cluster, with truth |
//! | [`sample`] | `tailback sample`: the native sampler on a node |
//! | [`serve`] | `tailback serve`: the page over an existing store |
//! | [`report`] | `tailback report`: the post-mortem of a job |
//! | [`topology`] | `tailback topology`: what a network is like, what is wrong with it, a picture of it |
//! | [`alerts`] | notices to receivers, and `tailback alerts` |
//! | [`bars`] | progress on a terminal |
//! | [`shutdown`] | Ctrl-C and SIGTERM |

pub mod alerts;
pub mod bars;
pub mod check;
pub mod cli;
pub mod commands;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod health;
pub mod ldms_config;
pub mod log;
pub mod memory;
pub mod migrate;
pub mod outputs;
pub mod panics;
pub mod replay;
pub mod report;
pub mod run;
pub mod sample;
pub mod serve;
pub mod shutdown;
pub mod simulate;
pub mod topology;
