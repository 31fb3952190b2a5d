//! All SQL but Grafana's, for SQLite and PostgreSQL: tables, writing, reading, retention, the outbox of alerts.
//!
//! | module | what it holds |
//! |---|---|
//! | [`migrations`] | the numbered migrations of both databases |
//! | [`sqlite`] | the embedded SQLite store |
//! | [`postgres`] | the PostgreSQL store, with TimescaleDB where the server has it |
//! | [`read`] | what page, report and doctor ask of either database |
//! | [`outbox`] | notices on their way, in either database |
//! | [`savepoint`] | states and positions in one file |
//! | [`outage`] | lasting failures in the log: of the database, and of what else fails again and again |
//! | [`storage_policy`] | which signals are kept, and the ten-second tier |
//! | [`tiers`] | minutes and hours, made from the ten seconds |
//! | [`place_sums`] | sums over the system, groups, file systems and classes of links |
//! | `metrics` | the catalogue as rows of a table |
//! | [`private_key`] | private keys in the form that TLS takes |
//! | `text` | text from outside as the databases take it |
//!
//! The statements are `schemas/store/sql/`, a folder for each of `sqlite`, `postgres`, `read`, `outbox` and `migrations`.
//! A `{name}` in one is filled in by `format!`: settings of the session and numbers of the server's own, never data.

mod metrics;
pub mod migrations;
pub mod outage;
pub mod outbox;
pub mod place_sums;
pub mod postgres;
pub mod private_key;
pub mod read;
pub mod savepoint;
pub mod sqlite;
pub mod storage_policy;
mod text;
pub mod tiers;

#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
