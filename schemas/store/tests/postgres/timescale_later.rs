//! Databases to which TimescaleDB is added when they have rows.

use super::*;
use crate::integration::postgres::places::select as places_in;
use support::database::on_each_empty_server;

/// Three hours of ten seconds, of which the last minute and hour are not over, with minutes and hours of them.
const TEN_SECONDS: &str = "
    INSERT INTO signal_buckets
    SELECT t, extract(epoch FROM t)::bigint % 1000, s, s, s, s, s, 1, 10, 0
    FROM generate_series(timestamptz '2026-10-15 00:20Z', '2026-10-15 03:30:20Z', '10 seconds') t, generate_series(1, 3) s;
    INSERT INTO signal_minutes
    SELECT date_bin('1 minute', time, 'epoch') AS minute, max(slowdown_s), series_id, avg(value), min(value_min), max(value_max),
           avg(mean), avg(baseline), sum(ticks), sum(contended_ticks)
    FROM signal_buckets GROUP BY minute, series_id;
    INSERT INTO signal_hours
    SELECT date_bin('1 hour', time, 'epoch') AS hour, max(slowdown_s), series_id, avg(value), min(value_min), max(value_max),
           avg(mean), avg(baseline), sum(ticks), sum(contended_ticks)
    FROM signal_buckets GROUP BY hour, series_id;
    INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
    VALUES ('detector', 0, 1, 'a', 1, 1, '2026-10-15 03:30:25Z', now())";

/// A minute of places that is older than any ten seconds, and an hour that is older than any minute.
const OLD_PLACES: &str = "
    INSERT INTO place_minutes VALUES ('group', 'c0-0..c1-0', 'aries_stall_ratio', '2020-01-01 00:05Z', 30, 2, 1800, 60, 15, 4);
    INSERT INTO place_hours VALUES ('group', 'c0-0..c1-0', 'aries_stall_ratio', '2019-12-31 22:00Z', 30, 2, 108000, 60, 15, 4);
    UPDATE roll_up_progress SET hours_until = '2020-01-01 00:00Z'";

async fn rows_of(database: &Database, tier: &str) -> Vec<String> {
    let rows = format!(
        "SELECT concat_ws(' ', series_id, time, value::real, value_max, mean::real, ticks, contended_ticks, slowdown_s)
         FROM {tier} ORDER BY series_id, time"
    );
    query(database, &rows).await
}

async fn apply(database: &Database, of: impl Fn(&PgMigration) -> bool) {
    for migration in POSTGRES_MIGRATIONS.iter().filter(|migration| of(migration)) {
        database.execute(migration.sql).await;
        let known = "INSERT INTO schema_migrations (version, name, checksum) VALUES (0, '";
        database.execute(&format!("{known}{}', 0)", migration.name)).await;
    }
}

async fn without_timescale(database: &Database, rows: &str) {
    database.execute(include_str!("../../sql/postgres/schema_migrations.sql")).await;
    apply(database, |migration| !migration.timescale).await;
    database.execute(rows).await;
}

async fn add_timescale(database: &Database) {
    database.execute("CREATE EXTENSION timescaledb").await;
    apply(database, |migration| migration.timescale).await;
}

#[test]
fn minutes_and_hours_stay_as_they_are() {
    on_each_empty_server(|database: Database| async move {
        without_timescale(&database, TEN_SECONDS).await;
        let before = [rows_of(&database, "signals_1min").await, rows_of(&database, "signals_1h").await];
        assert_eq!(before.each_ref().map(Vec::len), [573, 12]);
        if !database.timescale {
            return;
        }
        add_timescale(&database).await;
        let after = [rows_of(&database, "signals_1min").await, rows_of(&database, "signals_1h").await];
        assert_eq!(before, after);
        let expiries = "SELECT count(*)::text FROM pg_proc WHERE proname = 'tailback_expire'";
        assert_eq!(query(&database, expiries).await, ["1"], "the one that the writer may call");
    });
}

#[test]
fn old_minutes_and_hours_of_places_are_in_the_aggregates() {
    on_each_empty_server(|database: Database| async move {
        without_timescale(&database, OLD_PLACES).await;
        if database.timescale {
            add_timescale(&database).await;
        }
        let minutes = query(&database, &places_in("places_1min", "group")).await;
        assert!(minutes.last().is_some_and(|row| row.ends_with(" 30 2 1800 60 15.000 4")), "{minutes:?}");
        let hours = query(&database, &places_in("places_1h", "group")).await;
        assert!(hours.len() == 2 && hours[0].ends_with(" 30 2 108000 60 15.000 4"), "{hours:?}");
        assert!(hours[1].ends_with(" 30 2 1800 60 15.000 4"), "{hours:?}");
    });
}
