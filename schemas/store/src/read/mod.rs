//! Reading either database: SQL files, columns and parameters have the same names in both.
//!
//! | module | what it holds |
//! |---|---|
//! | `reader` | [`Reader`], one transaction of either database; [`Question`] |
//! | `session` | [`Session`], a connection to the server with its prepared statements |
//! | `error` | [`ReadError`] |
//! | [`jobs`] | one job: its run, nodes, result, causes, factors; two runs side by side |
//! | [`contention`] | running jobs, and what they wait for now |
//! | [`episodes`] | episodes of a job, and one with the samples around its onset |
//! | [`regions`] | regions of a job, and the one of a series |
//! | [`series`] | latest signals, and signals and counters of a series over time |
//! | [`fabric`] | groups, switches, classes, parallel links, the worst links |
//! | [`map`] | the topology and its states, at any stored time; what a job touches |
//! | [`files`] | write rates of file systems |
//! | [`placement`] | what a job would meet now: on given nodes, and by its application |
//! | [`alerts`] | incidents, deliveries, silences |
//! | [`health`] | sources, rows that were not used, incidents |
//! | [`history`] | contention and incidents of the latest hours |
//! | [`doctor`] | the server as `tailback doctor` looks at it |
//!
//! The statements are `schemas/store/sql/read/`, a file of one name for each of `sqlite` and `postgres`.

pub mod alerts;
pub mod contention;
pub mod doctor;
pub mod episodes;
mod error;
pub mod fabric;
pub mod files;
pub mod health;
pub mod history;
pub mod job_lines;
pub mod jobs;
pub mod map;
pub mod placement;
mod reader;
pub mod regions;
pub mod series;
mod session;

pub use error::ReadError;
pub use reader::{Column, Parameter, Parameters, Question, Reader, Row};
pub use session::Session;

use serde::de::DeserializeOwned;

/// The query in `sql/read/sqlite/NAME.sql` and `sql/read/postgres/NAME.sql`.
macro_rules! question {
    ($name:literal) => {
        question!($name, $name)
    };
    ($sqlite:literal, $postgres:literal) => {
        $crate::read::Question {
            sqlite: include_str!(concat!("../../sql/read/sqlite/", $sqlite, ".sql")),
            postgres: include_str!(concat!("../../sql/read/postgres/", $postgres, ".sql")),
        }
    };
}
use question;

/// Whether a file of the embedded store has its tables.
pub const STORE_IS_READY: &str = include_str!("../../sql/read/sqlite/store_is_ready.sql");

/// A cause or kind from its word in the tables, which is its word in JSON.
fn word<T: DeserializeOwned>(text: String) -> Result<T, ReadError> {
    Ok(serde_json::from_value(serde_json::Value::String(text))?)
}
