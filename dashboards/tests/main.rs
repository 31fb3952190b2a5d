//! The page's server and Grafana's dashboards, from outside.
//!
//! | module | content |
//! |---|---|
//! | `api` | every endpoint over a small store |
//! | `grafana` | the dashboards: made of their sources, every query on a real PostgreSQL |
//! | `readme_commands` | commands of this crate's READMEs |
//! | `server` | the server on a real port |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod api;
mod grafana;
mod readme_commands;
mod server;
