//! Numbered migrations; the statements live in `schemas/store/sql/migrations/`.

/// Migrations of the embedded SQLite store in the order of their numbers; the n-th brings a file to version n.
pub const SQLITE_MIGRATIONS: &[&str] = &[include_str!("../sql/migrations/sqlite/0001_schema.sql")];

/// What a job on the nodes of the JSON list `?1` would meet now, for the embedded store.
pub const SQLITE_PLACEMENT_ADVICE: &str = include_str!("../sql/read/sqlite/placement_advice.sql");

/// A migration of the server's schema.
#[derive(Clone, Copy, Debug)]
pub struct PgMigration {
    /// Its number and its name, as in the name of its file or folder: `0001_schema`.
    pub name: &'static str,
    /// Whether it is only for servers with TimescaleDB; a later `tailback migrate` applies it when the extension is added.
    pub timescale: bool,
    /// The statements.
    pub sql: &'static str,
}

/// Migrations of the PostgreSQL store in the order of their numbers; the database records each by name.
pub const POSTGRES_MIGRATIONS: &[PgMigration] = &[
    plain(
        "0001_schema",
        concat!(
            include_str!("../sql/migrations/postgres/0001_schema/tables.sql"),
            include_str!("../sql/migrations/postgres/0001_schema/views.sql"),
            include_str!("../sql/migrations/postgres/0001_schema/answers.sql"),
            include_str!("../sql/migrations/postgres/0001_schema/upkeep.sql"),
            include_str!("../sql/migrations/postgres/0001_schema/roles.sql"),
        ),
    ),
    timescale("0002_columnstore", include_str!("../sql/migrations/postgres/0002_columnstore.timescale.sql")),
    timescale("0003_tiers", include_str!("../sql/migrations/postgres/0003_tiers.timescale.sql")),
    timescale("0004_places", include_str!("../sql/migrations/postgres/0004_places.timescale.sql")),
];

const fn plain(name: &'static str, sql: &'static str) -> PgMigration {
    PgMigration { name, timescale: false, sql }
}

const fn timescale(name: &'static str, sql: &'static str) -> PgMigration {
    PgMigration { name, timescale: true, sql }
}
