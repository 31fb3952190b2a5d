//! Shared code of the tests; no part of the program.
//!
//! | module | content |
//! |---|---|
//! | [`paths`] | the repository, the program under test |
//! | [`skip`] | records the tests that lack a part of the machine |
//! | [`service`] | one server of `tests/services`, stopped when dropped |
//! | [`stack`] | Kafka, PostgreSQL and the schema registry, shared by the streaming scenarios of a process |
//! | [`tls`] | certificates, and the rules by which a PostgreSQL admits accounts |
//! | [`database`] | a PostgreSQL database for one test, on a server that all test runs share |
//! | [`batches`] | results to commit: ticks of some series |
//! | [`counters`] | messages of `tailback.counters`: a row of one writer |
//! | [`answers`] | fixed results with known answers: four jobs, three routers, one region |
//! | [`documents`] | commands and blocks of README and docs, as a user types them |
//! | [`node`] | a node whose sysfs and procfs are folders |
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

pub mod answers;
pub mod batches;
pub mod counters;
pub mod database;
pub mod documents;
pub mod node;
pub mod paths;
pub mod service;
pub mod skip;
pub mod stack;
pub mod tls;
