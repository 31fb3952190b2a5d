//! End to end: the program as its users run it, in one binary.
//!
//! | module | content | tier |
//! |---|---|---|
//! | `alerts` | webhooks, outbox, receivers; a real Alertmanager and Slurm | fast; `--full` with real receivers |
//! | `backtest` | `tailback backtest`: scores, sweeps, refusals | fast |
//! | `config` | `tailback check`: a folder a case | fast |
//! | `demo` | `tailback demo`: kill -9 and continue | fast |
//! | `doctor` | `tailback doctor` on a healthy and a broken site | `--full` |
//! | `documents` | links of the documents, and the names of the code in them | fast |
//! | `generated` | completions of shells and man pages | fast |
//! | `hostile` | foreign pages, posts without a token, bodies that expand, slow connections | `--full` |
//! | `hosts` | one host under several names; jobs and ports that fit nothing | fast |
//! | `job_stats` | jobs that only Lustre's servers show | fast |
//! | `lab` | `tailback lab` as a person runs it | fast |
//! | `ldms_config` | `tailback ldms-config`: golden files of three sites | fast |
//! | `ldmsd` | a real ldmsd with the generated files | `--full` |
//! | `postgres_answers` | jobs, report and explain: PostgreSQL beside the embedded store | fast |
//! | `progress` | a job that reports its steps: measured loss, calibration | fast |
//! | `recorded_links` | links of recorded rows | fast |
//! | `recordings` | `tailback replay` of what people have: folders, dumps, one file for a post-mortem | fast |
//! | `replay` | `tailback replay` of recorded rows | fast |
//! | `sample` | `tailback sample` on a node made of folders | fast |
//! | `serve` | `tailback serve` from a store and from a database | fast |
//! | `slurm` | jobs of a real Slurm, through Kafka, into the database; one of them reports and asks | `--full` |
//! | `streaming` | `tailback run`: Kafka, PostgreSQL, disturbances | a core fast, all in `--full` |
//! | `tls_server` | a small server that other tests use | |
//! | `words` | refused words in comments, logs and errors | fast |
//!
//! `tests/run --list` names the suites; servers come from the crate `support`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print its measurements"
)]

mod alerts;
mod backtest;
mod config;
mod demo;
mod doctor;
mod documents;
mod generated;
mod hostile;
mod hosts;
mod job_stats;
mod lab;
mod ldms_config;
mod ldmsd;
mod metrics;
mod postgres_answers;
mod progress;
mod recorded_links;
mod recordings;
mod replay;
mod sample;
mod schedulers;
mod serve;
mod slurm;
mod streaming;
mod tls_server;
mod words;

/// The program under test.
const TAILBACK: &str = env!("CARGO_BIN_EXE_tailback");
