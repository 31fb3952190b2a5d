//! `[kafka]`: topics, brokers, properties of librdkafka, and clients that have them.
//!
//! | file | what it holds |
//! |---|---|
//! | `section.rs` | [`Kafka`]: the keys |
//! | `properties.rs` | [`Role`], and every property of its connection |
//! | `checks.rs` | brokers, names of topics, properties that a site must not set |
//! | `client.rs` | a client with the configured properties |
//! | `error_log.rs` | [`ErrorLog`]: why brokers do not answer |
//! | `topic_names.rs` | [`TopicNames`]: names and patterns of topics |

mod checks;
mod client;
mod error_log;
mod properties;
mod section;
mod topic_names;

pub(crate) use checks::check;
pub use client::ClientError;
pub use error_log::{ErrorLog, advertised};
pub use properties::{Properties, Role};
pub use section::Kafka;
pub use topic_names::TopicNames;
