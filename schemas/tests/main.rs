//! Types and files of the crate, from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | `site` | site files: the expected sources, and the sentence that a wrong file gets |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod site;
