//! The Grafana dashboards.
//!
//! | module | what it holds |
//! |---|---|
//! | [`source`] | what people write: TOML and SQL |
//! | [`board`], [`panel`], [`field`], [`alerts`] | the JSON that is made of it |
//! | [`files`] | the committed JSON is that of the sources, and is complete |
//! | [`sdk`] | it parses into the types of Grafana's Foundation SDK |
//! | [`macros`] | a query with Grafana's macros and variables put in |
//! | [`day`], [`answers`] | every query on PostgreSQL and TimescaleDB, over a simulated day |
//!
//! `UPDATE_GOLDEN=1 cargo test --release -p dashboards grafana::` writes the JSON again.

mod alerts;
mod answers;
mod board;
mod day;
mod field;
mod files;
mod macros;
mod panel;
mod sdk;
mod source;
