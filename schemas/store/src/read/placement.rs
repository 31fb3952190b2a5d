//! What a job would meet now: on given nodes, and by the earlier runs of its application.

use super::{Question, question};

/// By the nodes of a JSON list.
pub const OF_NODES: Question = Question {
    sqlite: crate::migrations::SQLITE_PLACEMENT_ADVICE,
    postgres: include_str!("../../sql/read/postgres/placement.sql"),
};

/// By an application and a user, who may be null: topic, name, a figure with its ends and unit, detail.
pub const OF_APPLICATION: Question = question!("application_advice");
