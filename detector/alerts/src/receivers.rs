//! The delivery of notices from the outbox to receivers.
//!
//! | module | what it holds |
//! |---|---|
//! | `receiver` | receivers: one file each, checked at start |
//! | `deliver` | the task of one receiver: lease, send, record the outcome |
//! | `pace` | when the next try is, and how many there may be |
//! | `http` | requests: no redirects, a time limit, a configured CA beside the system's |
//! | `webhook` | signed JSON |
//! | `alertmanager` | Prometheus' Alertmanager, API v2 |
//! | `slurm` | comments of jobs and nodes, and taking them back |
//! | `notice_metrics` | what is measured |

pub(crate) mod alertmanager;
mod deliver;
mod http;
mod notice_metrics;
mod pace;
mod receiver;
mod slurm;
mod webhook;

pub use deliver::{Clock, DeliverError, Deliverer, Delivery, deliver_all};
pub use http::ClientError;
pub use notice_metrics::describe;
pub use pace::Random;
pub use receiver::{Kind, Mark, ReadSecret, Receiver, ReceiverError, load};
pub use webhook::signature;
