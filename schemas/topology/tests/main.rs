//! Topologies, from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | `answers` | what people get printed and drawn |
//! | `faults`, `plain` | contradictions; round trips through the plain form |
//! | `machines`, `routing` | machines of the papers (checks B1 and K1, Mutrino); their tables and paths |
//! | `readers` | readers of files |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod answers;
mod faults;
mod machines;
mod plain;
mod readers;
mod routing;
