//! Numbered migrations; the statements live in `schemas/sql/`.

/// Migrations of the embedded SQLite store in the order of their numbers; the n-th brings a file to version n.
pub const SQLITE_MIGRATIONS: &[&str] = &[
    include_str!("../sql/sqlite/0001_tables.sql"),
    include_str!("../sql/sqlite/0002_job_runs.sql"),
    include_str!("../sql/sqlite/0003_silences.sql"),
];

/// A migration of the server's schema.
#[derive(Clone, Copy, Debug)]
pub struct PgMigration {
    /// Its number and its name, as in the file's name: `0001_tables`.
    pub name: &'static str,
    /// Whether it is for servers with TimescaleDB alone; it is made up for when the extension comes later.
    pub timescale: bool,
    /// The statements.
    pub sql: &'static str,
}

/// Migrations of the PostgreSQL store in the order of their numbers; the database records each by name.
pub const POSTGRES_MIGRATIONS: &[PgMigration] = &[
    plain("0001_tables", include_str!("../sql/postgres/0001_tables.sql")),
    plain("0002_tiers", include_str!("../sql/postgres/0002_tiers.sql")),
    plain("0003_roles", include_str!("../sql/postgres/0003_roles.sql")),
    timescale("0004_columnstore", include_str!("../sql/postgres/0004_columnstore.timescale.sql")),
    timescale("0005_aggregates", include_str!("../sql/postgres/0005_aggregates.timescale.sql")),
    plain("0006_job_runs", include_str!("../sql/postgres/0006_job_runs.sql")),
    plain("0007_collection", include_str!("../sql/postgres/0007_collection.sql")),
];

const fn plain(name: &'static str, sql: &'static str) -> PgMigration {
    PgMigration { name, timescale: false, sql }
}

const fn timescale(name: &'static str, sql: &'static str) -> PgMigration {
    PgMigration { name, timescale: true, sql }
}
