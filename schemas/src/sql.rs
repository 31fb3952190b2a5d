//! Numbered migrations; the statements live in `schemas/sql/`.

/// Migrations of the embedded SQLite store in the order of their numbers; the n-th brings a file to version n.
pub const SQLITE_MIGRATIONS: &[&str] = &[include_str!("../sql/sqlite/0001_tables.sql")];
