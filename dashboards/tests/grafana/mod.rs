//! The Grafana dashboards.
//!
//! | module | content |
//! |---|---|
//! | [`source`] | the sources: TOML and SQL |
//! | [`board`], [`panel`], [`field`], [`alerts`] | the JSON generated from them |
//! | [`files`] | the committed JSON matches the sources, and is complete |
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
