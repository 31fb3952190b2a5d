//! `[kafka]`: topics, brokers, properties of librdkafka, and clients that have them.
//!
//! | file | what it holds |
//! |---|---|
//! | `section.rs` | [`Kafka`]: the keys |
//! | `properties.rs` | [`Role`], and every property of its connection |
//! | `checks.rs` | brokers, names of topics, properties that a site must not set |
//! | `client.rs` | [`Client`]: with the configured properties |
//! | `oidc/` | tokens for OAUTHBEARER |
//! | `error_log.rs` | [`ErrorLog`]: why brokers do not answer |
//! | `remedy.rs` | what to do about errors of TLS and logins |
//! | `topic_names.rs` | [`TopicNames`]: names and patterns of topics |

mod checks;
mod client;
mod error_log;
mod oidc;
mod properties;
mod remedy;
mod section;
mod topic_names;

pub(crate) use checks::check;
pub use checks::mechanisms;
pub use client::{Client, ClientError};
pub use error_log::{ErrorLog, advertised};
pub use oidc::{TokenError, observe as observe_tokens};
pub(crate) use properties::canonical;
pub use properties::{Properties, Role};
pub use remedy::remedy;
pub use section::Kafka;
pub use topic_names::TopicNames;
