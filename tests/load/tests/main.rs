//! Rows of a Trinity (`decoded`), disk space of a minute (`minutes`), and the README's commands (`fill`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod decoded;
mod fill;
mod minutes;
