//! Speed on one core.
//!
//! | module | what it measures |
//! |---|---|
//! | `decode` | bytes of rows to counters, bytes and rows a second |
//! | `models` | updates a second of both models, for the series of one Trinity |
//! | `rows` | bytes of Aries rows to signals |
//! | `wire` | a message of counters, written and read back |
//!
//! `cargo bench -p benchmarks --bench speed -- NAME` runs those whose name contains NAME. The build has the profile `dist`.
#![allow(missing_docs, clippy::unwrap_used, reason = "a measurement may stop at an error")]

mod decode;
mod models;
mod rows;
mod wire;

criterion::criterion_main!(decode::benchmarks, models::benchmarks, rows::benchmarks, wire::benchmarks);
