//! What dashboards read and no stage commits: links, sums by minute, how long each tier is kept.

use schemas::Name;
use store::postgres::{PgRetention, PgSettings, migrate, put_links, roll_up};
use support::database::{Database, on_each_server, query};
use topology::LinkPlace;

/// Ten minutes of two tiles, of which one is contended; the stages are at the end of them.
const TEN_MINUTES: &str = "
    INSERT INTO series (name, metric, component, part) VALUES
        ('aries_stall_ratio/c0-0c0s0/r0c0', 'aries_stall_ratio', 'c0-0c0s0', 'r0c0'),
        ('aries_stall_ratio/c0-0c0s0/r0c1', 'aries_stall_ratio', 'c0-0c0s0', 'r0c1');
    INSERT INTO signal_buckets
    SELECT t, 0, s.series_id, 2, 1, 3, 2, 1, 10, CASE WHEN s.part = 'r0c0' THEN 4 ELSE 0 END
    FROM series s, generate_series(timestamptz '2026-10-15 00:00', '2026-10-15 00:09:50', '10 seconds') AS t;
    INSERT INTO signal_minutes
    SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks
    FROM signals_1min;
    INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
    VALUES ('detector', 0, 1, 'a', 1, 1, '2026-10-15 00:10', now());
";

fn link(series: &str, class: &'static str) -> LinkPlace {
    let name = |text| Name::parse(text).unwrap();
    let (from, to) = (name("c0-0c0s1"), name("c0-0c0s0"));
    LinkPlace { series: series.to_string(), class, from, to, bundle: String::new(), bytes_per_s: 0.0 }
}

#[test]
fn minutes_are_summed_once_and_again_for_late_rows() {
    on_each_server(|database: Database| async move {
        database.execute(TEN_MINUTES).await;
        let login = database.login("tailback_writer").await;
        let writer = PgSettings {
            url: database.url_of(&login).replace(&login, &format!("{login}:x")),
            ..database.settings()
        };
        let links = [
            link("aries_stall_ratio/c0-0c0s0/r0c0", "blue"),
            link("aries_stall_ratio/c0-0c0s0/r0c1", "green"),
        ];
        put_links(&writer, &links).await.unwrap();
        // A topology that is read again replaces what was there.
        put_links(&writer, &links).await.unwrap();
        roll_up(&writer).await.unwrap();
        roll_up(&writer).await.unwrap();
        let sums = "SELECT concat_ws(' ', component, count(*), sum(ticks), sum(contended_ticks)) FROM component_minutes GROUP BY component";
        // Until 30 s before the stages: nine minutes of ten.
        assert_eq!(query(&database, sums).await, ["c0-0c0s0 9 1080 216"]);
        // A late row of the last minutes counts three minutes later, as when all three are due at once.
        database
            .execute(
                "UPDATE signal_minutes SET contended_ticks = contended_ticks + CASE WHEN contended_ticks > 0 THEN 6 ELSE 10 END
                 WHERE time = '2026-10-15 00:08'",
            )
            .await;
        for until in ["00:10:30", "00:11:30", "00:12:30"] {
            assert!(!query(&database, sums).await.contains(&"c0-0c0s0 10 1200 256".to_string()));
            database.execute(&format!("UPDATE stage_positions SET event_time = '2026-10-15 {until}'")).await;
            roll_up(&writer).await.unwrap();
        }
        assert_eq!(query(&database, sums).await, ["c0-0c0s0 10 1200 256"]);
        database.drop_login(&login).await;
    });
}

/// Rows from ten minutes before an hour on, with that of the hour when it is over, and the stages at the time of each.
fn until(minute: u32) -> String {
    format!(
        "INSERT INTO signal_minutes
         SELECT timestamptz '2026-10-15 00:00' + interval '{minute} minutes', 0, s.series_id, 2, 1, 3, 2, 1, 60, 0
         FROM series s;
         INSERT INTO signal_hours
         SELECT '2026-10-15 00:00', 0, s.series_id, 2, 1, 3, 2, 1, 600, 0 FROM series s WHERE {minute} = 60;
         UPDATE stage_positions SET event_time = timestamptz '2026-10-15 00:01:35' + interval '{minute} minutes'"
    )
}

#[test]
fn hours_are_summed_by_rounds_of_a_minute() {
    on_each_server(|database: Database| async move {
        database.execute(TEN_MINUTES).await;
        database.execute("DELETE FROM signal_minutes").await;
        let (settings, hours) = (database.settings(), "SELECT count(*)::text FROM component_hours");
        for minute in 50..=64 {
            assert_eq!(query(&database, hours).await, ["0"], "before the hour is whole, minute {minute}");
            database.execute(&until(minute)).await;
            roll_up(&settings).await.unwrap();
        }
        let sums = "SELECT concat_ws(' ', component, series, ticks) FROM component_hours";
        assert_eq!(query(&database, sums).await, ["c0-0c0s0 2 1200"]);
    });
}

#[test]
fn migrating_prints_how_long_each_tier_is_kept() {
    on_each_server(|database: Database| async move {
        let kept =
            "SELECT tier || ' ' || coalesce((extract(epoch FROM kept_for) / 86400)::float8::text, 'for ever')
                    FROM tier_retention ORDER BY tier";
        let for_ever = ["10s for ever", "1h for ever", "1min for ever", "raw for ever"];
        assert_eq!(query(&database, kept).await, for_ever);
        let retention = PgRetention {
            raw_days: Some(1.5),
            ten_seconds_days: Some(3.0),
            minutes_days: Some(40.0),
            hours_days: None,
        };
        migrate(&PgSettings { retention, ..database.settings() }).await.unwrap();
        assert_eq!(query(&database, kept).await, ["10s 3", "1h for ever", "1min 40", "raw 1.5"]);
    });
}
