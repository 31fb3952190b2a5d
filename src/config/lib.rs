//! The configuration: embedded defaults, then the user's file, then the environment, then the command line. Every mistake is
//! named with its file and line or its variable. No network is used.
//!
//! | module | what it holds |
//! |---|---|
//! | `default.toml` | every key with its default, unit, range and meaning |
//! | `rules` | every key with what it may be |
//! | `known` | which keys there are, and which one was meant |
//! | `merge` | the layers and how they lie on each other |
//! | `examine` | [`examine()`] and [`settings`]: from layers to a checked configuration |
//! | `assemble` | the checked values as types |
//! | `run_config` | [`RunConfig`] |
//! | `problem` | where a value came from, what is wrong with it |
//! | [`sections`] | the sections as types |
//! | [`stage`] | the stages by name |
//! | [`kafka`] | topics, brokers, properties of librdkafka, clients |
//! | `database` | the database's settings as the store takes them |
//! | `metric` | the detector's settings |
//! | [`metrics`] | the folder of a site's metrics |
//! | `fabric` | what regions are made of |
//! | `checks` | checks beyond the rule of a single key |
//! | [`secrets`] | secrets and the files that hold them |
//! | `site` | the site file |
//! | `alerts` | rules of alerts, and receivers |
//! | [`effective`] | the effective values, with origins |
//! | `host_name` | the name of this machine |
//! | `page_address` | the address of the page, for links |

pub mod effective;
pub mod kafka;
pub mod metrics;
pub mod secrets;
pub mod sections;
pub mod stage;

mod alerts;
mod assemble;
mod checks;
mod database;
mod examine;
mod fabric;
mod host_name;
mod known;
mod merge;
mod metric;
mod page_address;
mod problem;
#[cfg(test)]
mod reference;
mod rules;
mod run_config;
mod site;
#[cfg(test)]
mod tests;

pub use examine::{Examined, SettingsError, environment, examine, settings};
pub use host_name::host_name;
pub use page_address::page_address;
pub use problem::{ConfigError, Origin, Problem};
pub use run_config::RunConfig;

/// The default file: complete, with comments.
pub const DEFAULT: &str = include_str!("default.toml");
