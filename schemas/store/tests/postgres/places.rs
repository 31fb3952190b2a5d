//! Sums of places: written in parts together with the ten seconds, aggregated by the server or by `roll_up`.

use super::*;
use store::postgres::roll_up;

/// Expected rows of every tier, computed from the series' own ten seconds.
const OF_THE_SERIES: &str = "
    SELECT concat_ws(' ', 'system', time, series, contended, ticks, contended_ticks, round(value::numeric, 3), value_max)
    FROM (SELECT time, count(*) AS series, count(*) FILTER (WHERE contended_ticks > 0) AS contended, sum(ticks) AS ticks,
                 sum(contended_ticks) AS contended_ticks, sum(value) AS value, max(value_max) AS value_max
          FROM signal_buckets GROUP BY time) b ORDER BY time";

pub(crate) fn select(tier: &str, kind: &str) -> String {
    format!(
        "SELECT concat_ws(' ', kind, time, series, contended_series, ticks, contended_ticks, round(value_sum::numeric, 3), value_max)
         FROM {tier} WHERE kind = '{kind}' ORDER BY time"
    )
}

/// As the policies do, or `roll_up`.
async fn aggregate(database: &Database) {
    match database.timescale {
        true => {
            for tier in ["places_10s", "places_1min", "places_1h"] {
                let refresh = format!("CALL refresh_continuous_aggregate('{tier}', NULL, NULL)");
                database.execute(&refresh).await;
            }
        }
        false => roll_up(&database.settings()).await.unwrap(),
    }
}

/// Two partitions that commit apart, four series each, and the stages two minutes after the last row.
async fn commit_in_parts(database: &Database, ticks: i64) {
    let mut store = PgStore::connect(&database.settings()).await.unwrap();
    for partition in [0, 1] {
        store.claim(STAGE, partition, "a", None).await.unwrap();
        let mut fixture = Fixture::new(4, ticks);
        // Other series than those of the other partition.
        fixture
            .table
            .iter_mut()
            .for_each(|info| info.part = Some(Name::parse(&format!("r0c{partition}")).unwrap()));
        fixture.thin();
        let part = PartCommit { partition, ..commit(&fixture, 1, None, 1) };
        store.commit(STAGE, &[part]).await.unwrap();
    }
    database.execute("UPDATE stage_positions SET event_time = event_time + interval '2 minutes'").await;
}

#[test]
fn parts_of_several_commits_add_up_to_what_the_series_say() {
    on_each_server(|database: Database| async move {
        commit_in_parts(&database, 600).await;
        let series = query(&database, OF_THE_SERIES).await;
        assert!(
            series.len() >= 60
                && series[1].starts_with("system ")
                && series[1].ends_with(" 8 6 80 60 12.000 3"),
            "{series:?}"
        );
        assert_eq!(query(&database, &select("places_10s", "system")).await, series);
        // All of them are in one group.
        let group: Vec<String> = series.iter().map(|row| row.replace("system", "group")).collect();
        assert_eq!(query(&database, &select("places_10s", "group")).await, group);
    });
}

#[test]
fn aggregates_stay_the_same_and_include_late_parts() {
    on_each_server(|database: Database| async move {
        commit_in_parts(&database, 4_000).await;
        aggregate(&database).await;
        let minutes = query(&database, &select("places_1min", "system")).await;
        assert_eq!(minutes.len(), 67, "{minutes:?}");
        assert!(minutes[1].ends_with(" 8 6 480 360 12.000 3"), "{minutes:?}");
        let hours = query(&database, &select("places_1h", "system")).await;
        assert!(hours.len() == 2 && hours[0].contains(" 8 6 "), "{hours:?}");
        let late = "INSERT INTO place_buckets SELECT time, 100, 10, 10, 1, 1, 100, kind, name, metric
                    FROM place_buckets WHERE kind = 'system' ORDER BY time DESC LIMIT 1";
        database.execute(late).await;
        database
            .execute("UPDATE roll_up_progress SET minutes_until = minutes_until - interval '3 minutes'")
            .await;
        aggregate(&database).await;
        let after = query(&database, &select("places_1min", "system")).await;
        assert_eq!(after[..66], minutes[..66]);
        assert!(after[66].ends_with(" 100") && after[66].contains(" 9 7 "), "{after:?}");
    });
}

/// Expected hours, computed from the minutes.
const OF_THE_MINUTES: &str = "
    SELECT concat_ws(' ', kind, date_bin('1 hour', time, 'epoch'), max(series), max(contended_series), sum(ticks), sum(contended_ticks),
                     round(avg(value_sum)::numeric, 3), max(value_max))
    FROM places_1min WHERE kind = 'system' GROUP BY kind, date_bin('1 hour', time, 'epoch') ORDER BY date_bin('1 hour', time, 'epoch')";

#[test]
fn hours_are_the_sums_of_their_minutes_and_outlive_them() {
    on_each_server(|database: Database| async move {
        commit_in_parts(&database, 8_000).await;
        aggregate(&database).await;
        let hours = query(&database, OF_THE_MINUTES).await;
        assert_eq!(hours.len(), 3);
        assert_eq!(query(&database, &select("places_1h", "system")).await, hours);
        if !database.timescale {
            // The last hour is not over.
            database
                .execute("DELETE FROM place_minutes WHERE time < (SELECT hours_until FROM roll_up_progress)")
                .await;
            assert_eq!(query(&database, &select("places_1h", "system")).await, hours);
        }
    });
}

#[test]
fn a_coarser_tier_answers_where_the_best_one_expired() {
    on_each_server(|database: Database| async move {
        commit_in_parts(&database, 600).await;
        aggregate(&database).await;
        let span = "(SELECT min(time) FROM place_buckets), (SELECT max(time) FROM place_buckets)";
        let steps = |step: u32| format!("SELECT count(*)::text FROM places_over('system', {span}, {step})");
        // Ten minutes that begin and end within a minute; of the minutes `roll_up` has all that are over.
        let counts = [
            query(&database, &steps(10)).await,
            query(&database, &steps(60)).await,
            query(&database, &steps(3_600)).await,
        ];
        assert_eq!(counts, [["60"], ["11"], ["1"]]);
        database.execute("UPDATE tier_retention SET kept_for = '1 hour' WHERE tier = '10s'").await;
        assert_eq!(query(&database, &steps(10)).await, ["11"]);
    });
}

#[test]
fn incomplete_ten_seconds_are_not_returned() {
    on_each_server(|database: Database| async move {
        commit_in_parts(&database, 600).await;
        let select = "SELECT count(*)::text FROM places_over('system', '2023-01-01', '2024-01-01', 10)";
        // The partition that is behind decides, unless it is so by more than ten minutes.
        for (fast, slow, whole) in [(19, 19, "58"), (30, 30, "60"), (60, 19, "58"), (900, 19, "60")] {
            let until = format!(
                "UPDATE stage_positions SET event_time = (SELECT max(time) FROM place_buckets)
                     + make_interval(secs => CASE partition WHEN 0 THEN {fast} ELSE {slow} END)"
            );
            database.execute(&until).await;
            assert_eq!(query(&database, select).await, [whole], "{fast} s and {slow} s");
        }
    });
}

async fn run_jobs(database: &Database, of: &str) {
    let jobs = format!("SELECT job_id::text FROM timescaledb_information.jobs WHERE {of}");
    for job in query(database, &jobs).await {
        database.execute(&format!("CALL run_job({job})")).await;
    }
}

/// As when policies are missing: before the first time, or after a user removed them.
const WITHOUT_POLICIES: &str = "
    SELECT remove_continuous_aggregate_policy(a) FROM unnest(ARRAY['places_10s', 'places_1min', 'places_1h']::regclass[]) AS a";

/// A row of the next day, up to which there is nothing any more.
const LATER: &str = "
    INSERT INTO place_buckets VALUES ('2023-11-15 10:00Z', 1, 10, 0, 1, 0, 1, 'system', '', 'aries_stall_ratio');
    UPDATE stage_positions SET event_time = '2023-11-15 12:00Z'";

#[test]
fn the_migration_aggregates_history_before_its_rows_expire() {
    on_each_server(|database: Database| async move {
        if !database.timescale {
            return;
        }
        // Of 2023, and its stages stand: far older than anything is kept below the hours.
        commit_in_parts(&database, 8_000).await;
        let hours = query(&database, &select("places_1h", "system")).await;
        assert_eq!(hours.len(), 3, "{hours:?}");
        let keep = PgRetention {
            raw_days: Some(1.0),
            ten_seconds_days: Some(1.0),
            minutes_days: Some(1.0),
            hours_days: None,
        };
        let settings = PgSettings { retention: keep, ..database.settings() };
        for _ in 0..2 {
            database.execute(WITHOUT_POLICIES).await;
            migrate(&settings).await.unwrap();
            run_jobs(&database, "proc_name = 'policy_retention' AND hypertable_name LIKE 'place%'").await;
            run_jobs(&database, "proc_name = 'policy_refresh_continuous_aggregate'").await;
            let left = "SELECT concat_ws(' ', (SELECT count(*) FROM place_buckets), (SELECT count(*) FROM places_1min))";
            assert_eq!(query(&database, left).await, ["0 0"]);
            // The last hour was not over when the stages stopped.
            let after = query(&database, &select("places_1h", "system")).await;
            assert_eq!(after[..2], hours[..2], "{after:?}");
            database.execute(LATER).await;
        }
    });
}

#[test]
fn an_aggregate_without_its_source_tier_is_not_refreshed() {
    on_each_server(|database: Database| async move {
        let days = |days: f64| Some(days);
        for kept in [1.0, 30.0] {
            let keep = PgRetention {
                raw_days: days(kept),
                ten_seconds_days: days(kept),
                minutes_days: days(kept),
                hours_days: None,
            };
            migrate(&PgSettings { retention: keep, ..database.settings() }).await.unwrap();
            if !database.timescale {
                continue;
            }
            let spans = "SELECT concat_ws(' ', r.hypertable_name, (r.config->>'start_offset')::interval < (d.config->>'drop_after')::interval,
                                (r.config->>'start_offset')::interval < (c.config->>'compress_after')::interval)
                         FROM (VALUES ('place_buckets', 'places_10s'), ('places_10s', 'places_1min'), ('places_1min', 'places_1h')) AS t (below, name)
                         JOIN timescaledb_information.jobs r ON r.hypertable_name = t.name AND r.proc_name ~ 'refresh'
                         JOIN timescaledb_information.jobs d ON d.hypertable_name = t.below AND d.proc_name = 'policy_retention'
                         JOIN timescaledb_information.jobs c ON c.hypertable_name = t.name AND c.proc_name = 'policy_compression'
                         ORDER BY t.name";
            assert_eq!(
                query(&database, spans).await,
                ["places_10s t t", "places_1h t t", "places_1min t t"],
                "{kept} days"
            );
        }
    });
}

#[test]
fn ten_seconds_without_sums_are_summed() {
    on_each_server(|database: Database| async move {
        database
            .execute(
                "INSERT INTO series (name, metric, component, part) VALUES ('aries_stall_ratio/c0-0c0s0/r0c0', 'aries_stall_ratio', 'c0-0c0s0', 'r0c0');
                 INSERT INTO signal_buckets SELECT t, 0, 1, 2, 1, 3, 2, 1, 10, 4
                 FROM generate_series(timestamptz '2026-10-15 00:00Z', '2026-10-15 00:02:50Z', '10 seconds') AS t;
                 SELECT sum_places('-infinity', 'infinity')",
            )
            .await;
        let sums = "SELECT concat_ws(' ', kind, name, count(*), sum(ticks), sum(contended_ticks)) FROM places_10s GROUP BY kind, name ORDER BY kind";
        assert_eq!(query(&database, sums).await, ["group c0-0..c1-0 18 180 72", "system  18 180 72"]);
    });
}
