//! Minutes and hours of a database in which the server aggregated them are in the tables that the detector writes.

use super::*;
use schemas::sql::{POSTGRES_MIGRATIONS, PgMigration};
use support::database::on_each_empty_server;

/// Three hours of ten seconds, of which the last minute and hour are not over.
const TEN_SECONDS: &str = "
    INSERT INTO signal_buckets
    SELECT t, extract(epoch FROM t)::bigint % 1000, s, s, s, s, s, 1, 10, 0
    FROM generate_series(timestamptz '2026-10-15 00:20Z', '2026-10-15 03:30:20Z', '10 seconds') t, generate_series(1, 3) s;
    INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
    VALUES ('detector', 0, 1, 'a', 1, 1, '2026-10-15 03:30:25Z', now())";

async fn told(database: &Database, tier: &str) -> Vec<String> {
    let rows = format!(
        "SELECT concat_ws(' ', series_id, time, value::real, value_max, mean::real, ticks, contended_ticks, slowdown_s)
         FROM {tier} ORDER BY series_id, time"
    );
    query(database, &rows).await
}

pub(crate) async fn apply(database: &Database, of: impl Fn(&PgMigration) -> bool) {
    for migration in POSTGRES_MIGRATIONS.iter().filter(|migration| of(migration)) {
        database.execute(migration.sql).await;
        let known = "INSERT INTO schema_migrations (version, name, checksum) VALUES (0, '";
        database.execute(&format!("{known}{}', 0)", migration.name)).await;
    }
}

/// The schema before the migration of this number.
pub(crate) async fn as_of(database: &Database, number: &str) {
    if database.timescale {
        database.execute("CREATE EXTENSION timescaledb").await;
    }
    database.execute(include_str!("../../src/postgres/sql/schema_migrations.sql")).await;
    let here = |migration: &PgMigration| database.timescale || !migration.timescale;
    apply(database, |migration| here(migration) && migration.name < number).await;
}

/// The version before minutes and hours had tables, with rows.
async fn as_before(database: &Database) {
    as_of(database, "0029").await;
    database.execute(TEN_SECONDS).await;
}

async fn says_the_same_after_the_migrations(database: &Database) {
    let before = [told(database, "signals_1min").await, told(database, "signals_1h").await];
    let here = |migration: &PgMigration| database.timescale || !migration.timescale;
    apply(database, |migration| here(migration) && migration.name > "0029").await;
    let after = [told(database, "signals_1min").await, told(database, "signals_1h").await];
    assert_eq!(before, after);
    let rows =
        "SELECT concat_ws(' ', (SELECT count(*) FROM signal_minutes), (SELECT count(*) FROM signal_hours))";
    assert_eq!(query(database, rows).await, ["573 12"]);
}

/// With what the server aggregates, and TimescaleDB there from the start.
#[test]
fn what_the_server_aggregated_is_taken_over_by_the_tables_of_minutes_and_hours() {
    on_each_empty_server(|database: Database| async move {
        as_before(&database).await;
        if database.timescale {
            // Of the minutes a part, the rest is made when it is asked for.
            let minutes = "CALL refresh_continuous_aggregate('signals_1min', NULL, '2026-10-15 02:30Z')";
            database.execute(minutes).await;
            database.execute("CALL refresh_continuous_aggregate('signals_1h', NULL, NULL)").await;
        }
        says_the_same_after_the_migrations(&database).await;
    });
}

#[test]
fn what_was_aggregated_is_taken_over_although_positions_were_forgotten_before() {
    on_each_empty_server(|database: Database| async move {
        as_before(&database).await;
        database.execute("DELETE FROM stage_positions").await;
        says_the_same_after_the_migrations(&database).await;
    });
}

#[test]
fn timescaledb_that_comes_later_leaves_minutes_and_hours_as_they_are() {
    on_each_empty_server(|database: Database| async move {
        database.execute(include_str!("../../src/postgres/sql/schema_migrations.sql")).await;
        apply(&database, |migration| !migration.timescale && migration.name < "0029").await;
        database.execute(TEN_SECONDS).await;
        apply(&database, |migration| !migration.timescale && migration.name > "0029").await;
        if !database.timescale {
            return;
        }
        let before = [told(&database, "signals_1min").await, told(&database, "signals_1h").await];
        database.execute("CREATE EXTENSION timescaledb").await;
        apply(&database, |migration| migration.timescale).await;
        let after = [told(&database, "signals_1min").await, told(&database, "signals_1h").await];
        assert_eq!(before, after);
        let expiries = "SELECT count(*)::text FROM pg_proc WHERE proname = 'tailback_expire'";
        assert_eq!(query(&database, expiries).await, ["1"], "the one that the writer may call");
    });
}
