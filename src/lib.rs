//! The command line of Tailback: it wires the crates together and holds no model, no format and no SQL of its own.
//!
//! | module | what it holds |
//! |---|---|
//! | [`cli`] | the commands and their arguments |
//! | [`commands`] | a module for each command but `run` |
//! | [`runtime`] | `tailback run`: Kafka in, database out |
//! | [`log`] | lines on standard error |
//! | [`panics`] | a panic ends the process |
//! | [`memory`] | what the allocator keeps |
//! | [`bars`] | progress on a terminal |
//! | [`tls`] | OpenSSL at the end of the process |
//! | [`shutdown`] | Ctrl-C and SIGTERM |

pub mod bars;
pub mod cli;
pub mod commands;
pub mod log;
pub mod memory;
pub mod panics;
pub mod runtime;
pub mod shutdown;
pub mod tls;
