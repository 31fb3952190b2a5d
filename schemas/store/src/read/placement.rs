//! What a job on given nodes would meet now.

use super::Question;

/// By the nodes of a JSON list.
pub const OF_NODES: Question = Question {
    sqlite: crate::migrations::SQLITE_PLACEMENT_ADVICE,
    postgres: include_str!("../../sql/read/postgres/placement.sql"),
};
