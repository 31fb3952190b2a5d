//! What a job on given nodes would meet now.

use super::Question;

/// By the nodes of a JSON list.
pub const OF_NODES: Question = Question {
    sqlite: crate::migrations::SQLITE_PLACEMENT_ADVICE,
    postgres: include_str!("../../sql/read/postgres/placement.sql"),
};

/// The server's, by an array of nodes; a figure alone has a unit.
pub const OF_ARRAY: &str = include_str!("../../sql/read/postgres/placement_of_array.sql");
