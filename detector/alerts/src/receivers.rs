//! The delivery of notices from the outbox to receivers.
//!
//! | module | what it holds |
//! |---|---|
//! | `receiver` | receivers: one file each, checked at start |
//! | `deliver` | the task of one receiver: lease, send, record the outcome |
//! | `pace` | when the next try is, and how many there may be |
//! | `client` | the client of a receiver: no redirects, a time limit, authorities, its own certificate, a proxy |
//! | `http` | requests with credentials, and their answers |
//! | `remedy` | why a receiver refuses, and what to do |
//! | `probe` | whether a receiver accepts our credentials |
//! | `heartbeat` | alerts that fire while the monitor works |
//! | `webhook` | signed JSON |
//! | `alertmanager` | Prometheus' Alertmanager, API v2 |
//! | `slurm` | comments of jobs and nodes, and taking them back |
//! | `notice_metrics` | what is measured |

pub(crate) mod alertmanager;
mod client;
mod deliver;
mod heartbeat;
mod http;
mod notice_metrics;
mod pace;
mod probe;
mod receiver;
mod remedy;
mod slurm;
mod webhook;

pub use client::ClientError;
pub use deliver::{Clock, DeliverError, Deliverer, Delivery, deliver_all};
pub use heartbeat::{Heartbeats, Working, beat_all};
pub use notice_metrics::describe;
pub use pace::Random;
pub use probe::probe;
pub use receiver::{Kind, Mark, ReadSecret, Receiver, ReceiverError, load};
pub use remedy::no_answer;
pub use webhook::signature;
