//! What becomes of rows as they get older.

use super::*;

#[test]
fn the_tiers_have_the_same_columns_and_figures_on_every_server() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        let mut fixture = Fixture::new(2, 65);
        fixture.thin();
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        for tier in ["signals_10s", "signals_1min", "signals_1h", "signal_minutes", "signal_hours"] {
            let sum = query(
                &database,
                &format!("SELECT concat_ws(' ', sum(ticks), sum(contended_ticks), round(max(value)::numeric, 3), max(slowdown_s)) FROM {tier}"),
            )
            .await;
            assert_eq!(sum, ["130 65 1.000 0"], "{tier}");
        }
        let empty = StoredRows::default();
        let nothing = ResultBatch::default();
        let idle = PartCommit { stored: &empty, results: &nothing, ..commit(&fixture, 1, Some(1), 1) };
        store.commit(STAGE, &[idle]).await.unwrap();
        let more = query(
            &database,
            "SELECT tailback_expire(d, d, d, d, d)::text FROM (SELECT timestamptz '2100-01-01' AS d) t",
        )
        .await;
        assert_eq!(more, ["false"]);
        for tier in
            ["signals", "signals_10s", "signal_minutes", "signal_hours", "place_buckets", "places_10s"]
        {
            assert_eq!(
                query(&database, &format!("SELECT count(*)::text FROM {tier}")).await,
                ["0"],
                "{tier}"
            );
        }
    });
}

#[test]
fn a_tier_says_the_same_before_and_after_its_rows_are_written() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a", None).await.unwrap();
        let mut fixture = Fixture::new(3, 5_000);
        fixture.thin();
        store.commit("detector", &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let select = |tier: &str| {
            format!("SELECT concat_ws(' ', series_id, time, round(value::numeric, 4), value_min, value_max, round(mean::numeric, 4),
                            round(baseline::numeric, 4), ticks, contended_ticks, slowdown_s) FROM {tier} ORDER BY series_id, time")
        };
        for (tier, rows) in [("signals_1min", 3 * 84), ("signals_1h", 3 * 2)] {
            let mut answers = Vec::new();
            // None is written, some are, all are.
            for at in ["min(b.time)", "max(b.time)", "max(b.time) + interval '2 hours'"] {
                let moved = format!(
                    "UPDATE stage_positions SET event_time = (SELECT ({at})::timestamptz FROM signal_buckets b)"
                );
                database.execute(&moved).await;
                answers.push(query(&database, &select(tier)).await);
            }
            assert_eq!(answers[0].len(), rows, "{tier}");
            assert_eq!(answers[0], answers[1], "{tier}");
            assert_eq!(answers[0], answers[2], "{tier}");
        }
    });
}

#[test]
fn open_minutes_and_hours_survive_forgotten_positions() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a", None).await.unwrap();
        let fixture = Fixture::new(3, 5_000);
        store.commit("detector", &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let sums = "SELECT string_agg(concat_ws(' ', tier, rows, ticks), ', ') FROM (
                        SELECT 1 AS tier, count(*) AS rows, sum(ticks) AS ticks FROM signals_1min
                        UNION ALL SELECT 60, count(*), sum(ticks) FROM signals_1h ORDER BY 1) t";
        let before = query(&database, sums).await;
        assert_eq!(before, ["1 252 14970, 60 6 14970"], "the last ten seconds are not written");
        store.forget_positions().await.unwrap();
        assert_eq!(query(&database, sums).await, before);
    });
}

#[test]
fn housekeeping_removes_expired_rows_where_the_server_does_not() {
    on_each_server(|database: Database| async move {
        let settings = PgSettings { retention: PgRetention::default(), ..database.settings() };
        let mut store = PgStore::connect(&settings).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        let mut fixture = Fixture::new(2, 65);
        fixture.thin();
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let (now, years) = (Time(fixture_end_us(&fixture)), 20.0 * 365.0 * 86_400.0);
        let rows = "SELECT concat_ws(' ', (SELECT count(*) FROM signals), (SELECT count(*) FROM signals_10s),
            (SELECT count(*) FROM signal_minutes), (SELECT count(*) FROM signal_hours))";
        let before = query(&database, rows).await;
        assert!(!housekeep(&settings, now).await.unwrap().elsewhere);
        assert_eq!(query(&database, rows).await, before, "nothing is that old yet");
        let done = housekeep(&settings, now.plus_seconds(years)).await.unwrap();
        assert!(!done.elsewhere);
        assert_eq!(done.policies_failed, []);
        if !database.timescale {
            assert_eq!(query(&database, rows).await, ["0 0 0 2"], "hours stay for ever");
        }
    });
}

#[test]
fn housekeeping_removes_old_rows_only_where_configured() {
    on_each_server(|database: Database| async move {
        let mut fixture = everything();
        let closed = Episode { end: Time(1_700_000_060_000_000), ..episode(2, false) };
        fixture.results.episodes = vec![episode(1, true), closed];
        fixture.results.jobs = vec![
            Job { end: Some(Time(1_700_000_060_000_000)), ..job("1", "ann") },
            Job { end: None, ..job("2", "ann") },
        ];
        fixture.results.job_results = vec![result("1", 1), result("2", 1)];
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let left = "SELECT (SELECT count(*) FROM episodes) || ' ' || (SELECT count(*) FROM jobs) || ' '
                    || (SELECT count(*) FROM job_results WHERE job_id = '1') || ' ' || (SELECT count(*) FROM signals)";
        let before = query(&database, left).await;
        let (ended, day_s) = (Time(1_700_000_060_000_000), 86_400.0);
        housekeep(&database.settings(), ended.plus_seconds(1e4 * day_s)).await.unwrap();
        assert_eq!(query(&database, left).await, before, "without a limit all is kept");
        let settings = PgSettings { episodes_days: Some(30.0), ..database.settings() };
        housekeep(&settings, ended.plus_seconds(29.0 * day_s)).await.unwrap();
        assert_eq!(query(&database, left).await, before, "nothing is that old yet");
        housekeep(&settings, ended.plus_seconds(31.0 * day_s)).await.unwrap();
        let signals = before[0].rsplit(' ').next().unwrap().to_string();
        assert_eq!(
            query(&database, left).await,
            [format!("1 1 0 {signals}")],
            "what is open stays, and signals"
        );
    });
}

#[test]
fn expiry_keeps_what_has_no_time() {
    on_each_server(|database: Database| async move {
        let mut fixture = Fixture::new(2, 65);
        fixture.thin();
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let rows = "SELECT concat_ws(' ', (SELECT count(*) FROM signals), (SELECT count(*) FROM signals_10s),
            (SELECT count(*) FROM signal_minutes), (SELECT count(*) FROM signal_hours))";
        let before = query(&database, rows).await;
        for never in ["NULL", "'-infinity'"] {
            let expire = format!(
                "SELECT tailback_expire(d, d, d, d, d)::text FROM (SELECT {never}::timestamptz AS d) t"
            );
            let more = query(&database, &expire).await;
            assert_eq!(more, ["false"], "{never}");
            assert_eq!(query(&database, rows).await, before, "{never}");
        }
    });
}

/// Time of the last signal.
fn fixture_end_us(fixture: &Fixture) -> i64 {
    fixture.results.signals.iter().map(|signal| signal.time.0).max().unwrap()
}

#[test]
fn a_query_of_minutes_plans_only_the_chunks_of_its_time() {
    on_each_server(|database: Database| async move {
        if !database.timescale {
            return;
        }
        database
            .execute(
                "INSERT INTO signal_buckets SELECT t, 0, 1, 1, 1, 1, 1, 1, 10, 0
                 FROM generate_series(timestamptz '2026-10-01 00:00Z', '2026-10-15 00:00Z', '3 hours') t;
                 INSERT INTO signal_minutes SELECT t, 0, 1, 1, 1, 1, 1, 1, 60, 0
                 FROM generate_series(timestamptz '2026-09-01 00:00Z', '2026-10-15 00:00Z', '12 hours') t;
                 INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
                 VALUES ('detector', 0, 1, 'a', 1, 1, '2026-10-15 00:02Z', now())",
            )
            .await;
        let question = "EXPLAIN SELECT * FROM signals_1min
                        WHERE series_id = 1 AND time >= '2026-10-10 00:00Z' AND time < '2026-10-11 00:00Z'";
        let plan = query(&database, question).await;
        let read = plan.iter().filter(|line| line.contains("Scan") && line.contains("_chunk")).count();
        assert_eq!(read, 3, "two of minutes and one of ten seconds: {plan:#?}");
    });
}

/// The page's queries about now; they select series and mounts by name.
#[test]
fn the_latest_words_are_looked_for_in_the_newest_chunk_alone() {
    on_each_server(|database: Database| async move {
        if !database.timescale {
            return;
        }
        database
            .execute(
                "INSERT INTO signal_rows (time, slowdown_s, value, mean, baseline, bound, series_id, state, ticks)
                 SELECT t, 0, 1, 1, 1, 1, 1, 1, 1
                 FROM generate_series(timestamptz '2026-10-10 00:00Z', '2026-10-15 00:00Z', '1 hour') t;
                 INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
                 VALUES ('detector', 0, 1, 'a', 1, 1, '2026-10-15 00:10Z', now())",
            )
            .await;
        let hypertable =
            "SELECT id::text FROM _timescaledb_catalog.hypertable WHERE table_name = 'signal_rows'";
        let chunk = format!("on _hyper_{}_", query(&database, hypertable).await[0]);
        for (name, question) in [
            ("totals", include_str!("../../sql/read/postgres/totals.sql")),
            ("now_top", include_str!("../../sql/read/postgres/now_top.sql")),
            ("series_by_name", include_str!("../../sql/read/postgres/series_by_name.sql")),
            ("files_mounts", include_str!("../../sql/read/postgres/files_mounts.sql")),
            ("files_jobs", include_str!("../../sql/read/postgres/files_jobs.sql")),
        ] {
            let question = [("$1", "'snx'"), ("$2", "5"), ("$3", "'lustre_write_rate'")]
                .into_iter()
                .fold(question.to_string(), |text, (parameter, value)| text.replace(parameter, value));
            let plan = query(&database, &format!("EXPLAIN {question}")).await;
            let of_signals = |line: &&String| line.contains("Scan") && line.contains(&chunk);
            let read = plan.iter().filter(of_signals).count();
            assert_eq!(read, 1, "{name}: {plan:#?}");
        }
    });
}

#[test]
fn the_newest_minute_is_found_without_reading_older_hours() {
    on_each_server(|database: Database| async move {
        if database.timescale {
            // The rows are old enough to go into columns at once.
            database.execute("SELECT remove_compression_policy('signal_buckets', if_exists => true)").await;
        }
        database
            .execute(
                "INSERT INTO signal_buckets
                 SELECT t, 0, s, 2, 1, 3, 2, 1, 10, 0
                 FROM generate_series(timestamptz '2026-10-15 00:00Z', '2026-10-15 01:59:50Z', '10 seconds') t,
                      generate_series(1, 1000) s",
            )
            .await;
        database.execute("VACUUM ANALYZE signal_buckets").await;
        let minute = "EXPLAIN SELECT sum(ticks) FROM signal_buckets
                      WHERE time >= '2026-10-15 01:58Z' AND time < '2026-10-15 01:59Z'";
        let plan = query(&database, minute).await.join("\n");
        assert!(plan.contains("signal_buckets_by_time"), "{plan}");
    });
}
