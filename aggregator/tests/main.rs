//! The decoders and readers of files, from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | `avro`, `avro_oracle` | Avro messages: recorded ones; generated ones beside the library `apache-avro` |
//! | `confluent` | the client of a schema registry |
//! | `job_column` | jobs that rows' own `job_id` shows |
//! | `files` | files: what they are, the order of their rows, errors |
//! | `oracle` | the decoder beside a plain one, on mutated rows and arbitrary bytes |
//! | `recorded` | every kind of recorded row |
//! | `slurm` | messages of jobcomp/kafka, posted events |
//! | `tables` | tables and rows as stores, decompositions and people write them |
//! | `support` | recorded rows, and the plain decoder |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print"
)]

mod avro;
mod avro_oracle;
mod confluent;
mod files;
mod job_column;
mod oracle;
mod recorded;
mod slurm;
mod support;
mod tables;
