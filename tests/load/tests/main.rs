//! Rows of a Trinity (`decoded`), and what a minute takes on disk (`minutes`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod decoded;
mod minutes;
