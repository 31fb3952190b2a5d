//! `tailback serve` over stores and databases that it did not write itself.
//!
//! | file | what it holds |
//! |---|---|
//! | `serving.rs` | a running `tailback serve`, and questions to it |
//! | `stores.rs` | embedded stores of other versions |
//! | `both.rs` | the same rows in a store and in a database |
//! | `answers.rs` | every answer from the database is that from the store |
//! | `database.rs` | databases that are away, restarted, of another version, or not to be read |

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod answers;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../detector/tests/answers_support/mod.rs"]
mod answers_support;
mod both;
mod database;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../detector/tests/postgres_support/mod.rs"]
mod postgres_support;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../readmes/mod.rs"]
mod readmes;
mod serving;
mod stores;
