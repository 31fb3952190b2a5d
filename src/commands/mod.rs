//! The commands: their arguments, what they call, and what they print.
//!
//! | module | what it holds |
//! |---|---|
//! | [`alerts`] | `tailback alerts`: incidents, deliveries, silences |
//! | [`ask`] | `tailback ask`: whether the job that asks is contended; tokens of jobs |
//! | [`backtest`] | `tailback backtest`: configurations scored on rows whose truth is known |
//! | [`check`] | `tailback check`: what is wrong with a configuration |
//! | [`demo`] | `tailback demo`: the simulated cluster, live |
//! | [`doctor`] | `tailback doctor`: what is wrong with an installation, and how to mend it |
//! | [`explain`] | `tailback explain`: why a stretch was called contended |
//! | [`generate`] | `tailback generate`: completions of shells and man pages, for packages |
//! | [`health`] | `tailback health`: whether the process here is ready |
//! | [`jobs`] | `tailback jobs`: what jobs lost, a line each |
//! | [`lab`] | `tailback lab`: experiments on simulated machines |
//! | [`ldms_config`] | `tailback ldms-config`: configuration for a site's ldmsd |
//! | [`metrics`] | `tailback metrics`: the catalogue; metric files checked, and tried on rows |
//! | [`migrate`] | `tailback migrate`: the database's schema |
//! | `own_job` | the job in which a command runs, and its requests |
//! | [`progress`] | `tailback progress`: what a job counted, from a batch script |
//! | [`replay`] | `tailback replay`: recorded rows to files |
//! | [`report`] | `tailback report`: the post-mortem of a job |
//! | [`sample`] | `tailback sample`: the native sampler on a node |
//! | [`serve`] | `tailback serve`: the page over an existing store |
//! | [`simulate`] | `tailback simulate`: recorded rows of the simulated cluster, with truth |
//! | [`state`] | `tailback state`: states of the stages to a file and back |
//! | [`topology`] | `tailback topology`: what a network is like, what is wrong with it, a picture of it |

pub mod alerts;
pub mod ask;
pub mod backtest;
pub mod check;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod generate;
pub mod health;
pub mod jobs;
pub mod lab;
pub mod ldms_config;
pub mod metrics;
pub mod migrate;
mod own_job;
pub mod progress;
pub mod replay;
pub mod report;
pub mod sample;
pub mod serve;
pub mod simulate;
pub mod state;
pub mod topology;
