//! What the raw counters did: of each tick that is a row of its own, and of minutes and hours.

use super::*;

/// Name of the series with that number in a fixture.
fn series(number: u32) -> String {
    format!("aries_stall_ratio/c0-0c0s{number}/r0c0")
}

/// Rows, ticks they stand for, and means of what `counters_over` tells of a series in steps of `step_s`.
fn told(series: &str, step_s: u32) -> String {
    format!(
        "SELECT concat_ws(' ', count(*), sum(ticks), round((sum(passed_per_s * ticks) / sum(ticks))::numeric, -1),
                          round(sum(waited_per_s * ticks) / sum(ticks)))
         FROM counters_over('{series}', to_timestamp(1699999000), to_timestamp(1700001000), {step_s})"
    )
}

#[test]
fn counters_are_there_tick_by_tick_where_contended_and_by_minutes_and_hours_of_all() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a").await.unwrap();
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
            let counters = query(&database, &told(&series(number), step_s)).await;
            assert_eq!(counters, [expected], "series {number} in steps of {step_s} s");
        }
    });
}

#[test]
fn minutes_that_are_not_written_yet_have_no_counters_and_hours_are_made_of_minutes_that_are() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim("detector", 0, "a").await.unwrap();
        let mut fixture = Fixture::new(1, 200);
        fixture.thin();
        store.commit("detector", &[commit(&fixture, 1, None, 1)]).await.unwrap();
        // Written are the first two minutes, of 40 and 60 ticks; the hour is not.
        database.execute("UPDATE stage_positions SET event_time = to_timestamp(1700000200)").await;
        assert_eq!(query(&database, &told(&series(0), 20)).await, ["2 100 1000050 0"]);
        assert_eq!(query(&database, &told(&series(0), 900)).await, ["1 200 1000050 0"]);
    });
}

#[test]
fn a_question_about_counters_is_planned_as_one_with_what_is_asked() {
    on_each_server(|database: Database| async move {
        let plan = query(&database, &format!("EXPLAIN {}", told(&series(0), 20))).await.join("\n");
        assert!(!plan.contains("Function Scan"), "{plan}");
        assert!(!plan.contains("Scan on signal_rows"), "steps of 20 s need no ticks: {plan}");
    });
}
