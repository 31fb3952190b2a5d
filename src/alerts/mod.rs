//! Notices out of the outbox to receivers, and what people ask of them.
//!
//! | file | what it holds |
//! |---|---|
//! | `receiver.rs` | receivers: one file each, checked at start |
//! | `deliver.rs` | the task of one receiver: lease, send, record the outcome |
//! | `pace.rs` | when the next try is, and how many there may be |
//! | `http.rs` | requests: no redirects, a time limit, a configured CA beside the system's |
//! | `webhook.rs` | signed JSON |
//! | `alertmanager.rs` | Prometheus' Alertmanager, API v2 |
//! | `slurm.rs` | comments of jobs and nodes, and taking them back |
//! | `advice.rs` | `GET /api/v1/advice` |
//! | `notice_metrics.rs` | what is measured |
//! | `command.rs`, `words.rs` | `tailback alerts`, and its text |

mod advice;
mod alertmanager;
pub mod command;
mod deliver;
mod http;
mod notice_metrics;
mod pace;
mod receiver;
mod slurm;
mod webhook;
mod words;

pub use advice::router;
pub use command::AlertsArgs;
pub use deliver::{Clock, Deliverer, deliver_all};
pub use notice_metrics::describe;
pub use pace::Random;
pub use receiver::{Receiver, ReceiverError, load};
pub use webhook::signature;
