//! The command line of Tailback: it wires the crates together and holds no model, no format and no SQL of
//! its own but the report's.
//!
//! | module | what it holds |
//! |---|---|
//! | [`cli`] | the commands and their arguments |
//! | [`config`] | the configuration: defaults, file, environment |
//! | [`check`] | `tailback check`: what is wrong with a configuration |
//! | [`run`] | `tailback run`: Kafka in, database out; and the same stages in one process |
//! | [`doctor`] | `tailback doctor`: what is wrong with an installation, and how to mend it |
//! | [`health`] | `tailback health`: whether the process here is ready |
//! | [`lab`] | `tailback lab`: experiments on simulated machines |
//! | [`ldms_config`] | `tailback ldms-config`: configuration for a site's ldmsd |
//! | [`migrate`] | `tailback migrate`: the database's schema |
//! | [`log`] | lines on standard error |
//! | [`panics`] | a panic ends the process |
//! | [`replay`] | `tailback replay`: recorded rows to files |
//! | [`outputs`] | the four files of a replay |
//! | [`unused`] | what of the inputs was not used, in words |
//! | [`demo`] | `tailback demo`: the simulated cluster, live |
//! | [`simulate`] | `tailback simulate`: recorded rows of the simulated cluster, with truth |
//! | [`backtest`] | `tailback backtest`: configurations scored on rows whose truth is known |
//! | [`sample`] | `tailback sample`: the native sampler on a node |
//! | [`serve`] | `tailback serve`: the page over an existing store |
//! | [`report`] | `tailback report`: the post-mortem of a job |
//! | [`topology`] | `tailback topology`: what a network is like, what is wrong with it, a picture of it |
//! | [`alerts`] | `tailback alerts`: incidents, deliveries, silences |
//! | [`bars`] | progress on a terminal |
//! | [`shutdown`] | Ctrl-C and SIGTERM |
//! | [`wrong_clocks`] | producers whose clocks are ahead, named |

pub mod alerts;
pub mod backtest;
pub mod bars;
pub mod check;
pub mod cli;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod health;
pub mod lab;
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
pub mod unused;
pub mod wrong_clocks;
