//! What the raw counters did: of each tick that is a row of its own, and of minutes and hours.

use super::*;

/// Name of the series with that number in a fixture.
fn series(number: u32) -> String {
    format!("aries_stall_ratio/c0-0c0s{number}/r0c0")
}

/// Rows, ticks they cover, and means of what `counters_over` returns for a series in steps of `step_s`.
fn select(series: &str, step_s: u32) -> String {
    format!(
        "SELECT concat_ws(' ', count(*), sum(ticks), round((sum(passed_per_s * ticks) / sum(ticks))::numeric, -1),
                          round(sum(waited_per_s * ticks) / sum(ticks)))
         FROM counters_over('{series}', to_timestamp(1699999000), to_timestamp(1700001000), {step_s})"
    )
}

#[test]
fn counters_are_kept_by_tick_where_contended_else_by_minute() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a", None).await.unwrap();
        // The first series is clear, the second is contended in each of the 200 ticks.
        let mut fixture = Fixture::new(2, 200);
        fixture.thin();
        store.commit("detector", &[commit(&fixture, 1, None, 1)]).await.unwrap();
        database
            .execute("UPDATE stage_positions SET event_time = to_timestamp(1700000200) + interval '2 hours'")
            .await;
        for (number, step_s, expected) in [
            (1, 1, "200 200 1000100 1000000"),
            (0, 1, "4 200 1000100 0"),
            (1, 20, "4 200 1000100 1000000"),
            (0, 20, "4 200 1000100 0"),
            (1, 900, "1 200 1000100 1000000"),
            (0, 900, "1 200 1000100 0"),
        ] {
            let counters = query(&database, &select(&series(number), step_s)).await;
            assert_eq!(counters, [expected], "series {number} in steps of {step_s} s");
        }
    });
}

#[test]
fn unwritten_minutes_have_no_counters_and_hours_use_written_ones() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a", None).await.unwrap();
        let mut fixture = Fixture::new(1, 200);
        fixture.thin();
        store.commit("detector", &[commit(&fixture, 1, None, 1)]).await.unwrap();
        // Written are the first two minutes, of 40 and 60 ticks; the hour is not.
        database.execute("UPDATE stage_positions SET event_time = to_timestamp(1700000200)").await;
        assert_eq!(query(&database, &select(&series(0), 20)).await, ["2 100 1000050 0"]);
        assert_eq!(query(&database, &select(&series(0), 900)).await, ["1 200 1000050 0"]);
    });
}

#[test]
fn the_rest_of_a_minute_with_some_ticks_is_their_mean() {
    on_each_server(|database: Database| async move {
        // A minute of 60 ticks with 1,000 a second each, but for three that are kept and have 4,000.
        database
            .execute(
                "INSERT INTO series (name, metric, component, part)
                 VALUES ('aries_stall_ratio/c0-0c0s0/r0c0', 'aries_stall_ratio', 'c0-0c0s0', 'r0c0');
                 INSERT INTO signal_minutes SELECT to_timestamp(1700000040), 0, series_id, 1, 1, 1, 1, 1, 60, 3, 1150, 2300 FROM series;
                 INSERT INTO signal_rows
                 SELECT to_timestamp(1700000090 + n), 0, series_id, 1, 1, 1, 1, 2, 1, 4000, 8000 FROM series, generate_series(1, 3) n",
            )
            .await;
        assert_eq!(query(&database, &select(&series(0), 1)).await, ["4 60 1150 2300"]);
        let rows = "SELECT concat_ws(' ', extract(epoch FROM at_time)::bigint, passed_per_s, waited_per_s, ticks) FROM
            counters_over('aries_stall_ratio/c0-0c0s0/r0c0', to_timestamp(1699999000), to_timestamp(1700001000), 1) ORDER BY 1";
        let tick = |second: i64| format!("{} 4000 8000 1", 1_700_000_090 + second);
        let expected = ["1700000040 1000 2000 57".to_string(), tick(1), tick(2), tick(3)];
        assert_eq!(query(&database, rows).await, expected);
    });
}

#[test]
fn a_query_of_counters_is_planned_for_its_parameters() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a", None).await.unwrap();
        let fixture = Fixture::new(2, 200);
        store.commit("detector", &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let rows = if database.timescale {
            let chunks = "SELECT chunk_name::text FROM timescaledb_information.chunks WHERE hypertable_name = 'signal_rows'";
            query(&database, chunks).await
        } else {
            vec!["signal_rows".to_string()]
        };
        let mut reads_ticks = Vec::new();
        for step_s in [1, 20] {
            let plan = query(&database, &format!("EXPLAIN {}", select(&series(0), step_s))).await.join("\n");
            assert!(!plan.contains("Function Scan"), "{plan}");
            reads_ticks.push(rows.iter().any(|name| plan.contains(&format!("on {name}"))));
        }
        assert_eq!(reads_ticks, [true, false], "steps of 20 s need no ticks");
    });
}
