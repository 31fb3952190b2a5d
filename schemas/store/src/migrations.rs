//! Numbered migrations; the statements live in `schemas/store/sql/migrations/`.

/// The text of files of one folder in this order, with an empty line between two.
macro_rules! joined {
    ($folder:literal, $first:literal $(, $more:literal)* $(,)?) => {
        concat!(
            include_str!(concat!("../sql/migrations/", $folder, $first, ".sql")),
            $("\n", include_str!(concat!("../sql/migrations/", $folder, $more, ".sql")),)*
        )
    };
}

/// Migrations of the embedded SQLite store in the order of their numbers; the n-th brings a file to version n.
pub const SQLITE_MIGRATIONS: &[&str] = &[joined!(
    "sqlite/0001_schema/",
    "tables/metrics",
    "tables/signals",
    "tables/jobs",
    "tables/regions",
    "tables/places",
    "tables/alerts",
    "tables/sources",
    "tables/state",
    "views",
    "answers/blame",
    "answers/incidents",
    "answers/job_post_mortem",
    "answers/job_neighbours",
    "answers/regions_and_links",
    "answers/compare_jobs",
    "calibration",
)];

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
            joined!(
                "postgres/0001_schema/tables/",
                "metrics",
                "signals",
                "jobs",
                "regions",
                "places",
                "dashboard_sums",
                "alerts",
                "sources",
                "stages",
                "health_limits",
            ),
            include_str!("../sql/migrations/postgres/0001_schema/views.sql"),
            joined!(
                "postgres/0001_schema/answers/",
                "blame",
                "incidents",
                "job_post_mortem",
                "job_loss_curve",
                "job_neighbours",
                "compare_jobs",
                "regions_and_links",
                "placement_advice",
                "application_advice",
                "tiers",
            ),
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
