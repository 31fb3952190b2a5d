//! Numbered migrations; the statements live in `schemas/sql/`.

/// Migrations of the embedded SQLite store in the order of their numbers; the n-th brings a file to version n.
pub const SQLITE_MIGRATIONS: &[&str] = &[
    include_str!("../sql/sqlite/0001_tables.sql"),
    include_str!("../sql/sqlite/0002_job_runs.sql"),
    include_str!("../sql/sqlite/0003_silences.sql"),
    include_str!("../sql/sqlite/0004_regions.sql"),
    include_str!("../sql/sqlite/0005_answers.sql"),
    include_str!("../sql/sqlite/0006_source_parts.sql"),
    include_str!("../sql/sqlite/0008_factors.sql"),
    include_str!("../sql/sqlite/0009_alerts.sql"),
    include_str!("../sql/sqlite/0010_link_places.sql"),
    include_str!("../sql/sqlite/0011_counters.sql"),
];

/// What a job on the nodes of the JSON list `?1` would meet now, asked of the embedded store.
pub const SQLITE_PLACEMENT_ADVICE: &str = include_str!("../sql/sqlite/queries/placement_advice.sql");

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
    plain("0008_regions", include_str!("../sql/postgres/0008_regions.sql")),
    plain("0009_expiry", include_str!("../sql/postgres/0009_expiry.sql")),
    timescale("0010_expiry", include_str!("../sql/postgres/0010_expiry.timescale.sql")),
    plain("0011_job_answers", include_str!("../sql/postgres/0011_job_answers.sql")),
    plain("0012_network_answers", include_str!("../sql/postgres/0012_network_answers.sql")),
    plain("0013_source_parts", include_str!("../sql/postgres/0013_source_parts.sql")),
    timescale("0014_expiry", include_str!("../sql/postgres/0014_expiry.timescale.sql")),
    plain("0015_factors", include_str!("../sql/postgres/0015_factors.sql")),
    plain("0018_alerts", include_str!("../sql/postgres/0018_alerts.sql")),
    plain("0022_dashboards", include_str!("../sql/postgres/0022_dashboards.sql")),
    timescale("0023_dashboards", include_str!("../sql/postgres/0023_dashboards.timescale.sql")),
    plain("0024_prompt_answers", include_str!("../sql/postgres/0024_prompt_answers.sql")),
    plain("0025_generations", include_str!("../sql/postgres/0025_generations.sql")),
    plain("0026_numbers_of_series", include_str!("../sql/postgres/0026_numbers_of_series.sql")),
    plain("0027_newest_minutes", include_str!("../sql/postgres/0027_newest_minutes.sql")),
    timescale("0028_fresh_tiers", include_str!("../sql/postgres/0028_fresh_tiers.timescale.sql")),
    timescale("0029_tiers_aside", include_str!("../sql/postgres/0029_tiers_aside.timescale.sql")),
    plain("0030_tiers", include_str!("../sql/postgres/0030_tiers.sql")),
    timescale("0031_tiers", include_str!("../sql/postgres/0031_tiers.timescale.sql")),
    plain("0032_page", include_str!("../sql/postgres/0032_page.sql")),
    plain("0033_counters", include_str!("../sql/postgres/0033_counters.sql")),
    plain("0034_placement", include_str!("../sql/postgres/0034_placement.sql")),
    plain("0035_places", include_str!("../sql/postgres/0035_places.sql")),
    timescale("0036_places", include_str!("../sql/postgres/0036_places.timescale.sql")),
    plain("0037_rejected", include_str!("../sql/postgres/0037_rejected.sql")),
];

const fn plain(name: &'static str, sql: &'static str) -> PgMigration {
    PgMigration { name, timescale: false, sql }
}

const fn timescale(name: &'static str, sql: &'static str) -> PgMigration {
    PgMigration { name, timescale: true, sql }
}
