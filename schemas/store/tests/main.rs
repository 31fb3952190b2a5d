//! Both stores, from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | `factors`, `factors_embedded` | calibration by finished runs, in both stores |
//! | `postgres`, `postgres_storage_policy` | the server's store: commits, tiers, places, what is kept |
//! | `application_advice` | what is known of an application before a job of it is placed |
//! | `answers`, `collection`, `dashboard_sums` | SQL: its documented answers, sources that report, sums for dashboards |
//! | `kept_sums` | what lists of a large store read instead of summing up |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod answers;
mod application_advice;
mod collection;
mod dashboard_sums;
mod factors;
mod factors_embedded;
mod kept_sums;
mod postgres;
mod postgres_storage_policy;
