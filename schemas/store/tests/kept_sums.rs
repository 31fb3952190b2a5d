//! What lists read instead of summing up: losses of regions and of incidents of file systems, nodes, file systems and bytes of jobs, and
//! the part of the episodes that a search covers.

use store::postgres::{PgSettings, roll_up};
use support::database::{Database, on_each_server, query};
use tokio_postgres::NoTls;

/// Two clients of one file system, a job that uses both, and an incident of ten minutes in which one of them lost 30 s; an hour later.
const INCIDENT: &str = r#"
    INSERT INTO metrics VALUES ('lustre_write_rate', 'Lustre clients', 'writes', 'bytes/s', 'falling', 'progress', 'data') ON CONFLICT DO NOTHING;
    INSERT INTO series (name, metric, component, part)
    SELECT 'lustre_write_rate/' || n || '/scratch', 'lustre_write_rate', n, 'scratch' FROM unnest(ARRAY['nid1', 'nid2']) AS n;
    INSERT INTO jobs (job_id, user_name, name, start_time) VALUES ('7', 'ann', 'cfd', '2026-10-15 00:00Z');
    INSERT INTO job_series SELECT '7', series_id FROM series;
    INSERT INTO episodes
    SELECT 0, 1, series_id, '2026-10-15 00:10Z', '2026-10-15 00:20Z', false, 4, 0.5, 30, 20, 40, 1, '[]', '[]' FROM series WHERE component = 'nid1';
    INSERT INTO alert_incidents
    SELECT 'a1', 'storage', 'warning', 'scratch', 'resolved', s, s, s + 600, s + 900, 1, 'throttle_io', 'slow',
           '{"labels": {"mount": "scratch", "metric": "lustre_write_rate"}, "members": 1, "slowdown_s": 1, "slowdown_lo_s": 1, "slowdown_hi_s": 1,
             "completeness": 1}'
    FROM (SELECT extract(epoch FROM timestamptz '2026-10-15 00:10Z') AS s) AS t;
    INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
    VALUES ('detector', 0, 1, 'a', 1, 1, '2026-10-15 00:30Z', now());
"#;
const LOSS: &str = "SELECT concat_ws(' ', lost_s, lost_lo_s, lost_hi_s, lost_by, members) FROM incidents";
const EPISODE_GROWS: &str = "UPDATE episodes SET slowdown_s = slowdown_s + 10";

async fn roll_up_at(database: &Database, writer: &PgSettings, time: &str) {
    database.execute(&format!("UPDATE stage_positions SET event_time = '2026-10-15 {time}Z'")).await;
    roll_up(writer).await.unwrap();
}

#[test]
fn storage_loss_is_kept_an_hour_after_its_end() {
    on_each_server(|database: Database| async move {
        database.execute(INCIDENT).await;
        let login = database.login("tailback_writer").await;
        let writer = PgSettings {
            url: database.url_of(&login).replace(&login, &format!("{login}:x")),
            ..database.settings()
        };
        // The mean of the two clients.
        assert_eq!(query(&database, LOSS).await, ["15 10 20 jobs 1"]);
        roll_up_at(&database, &writer, "00:30").await;
        database.execute(EPISODE_GROWS).await;
        assert_eq!(query(&database, LOSS).await, ["15 10 20 jobs 1"], "summed up within two minutes");
        database.execute("UPDATE stage_positions SET event_time = '2026-10-15 00:33Z'").await;
        assert_eq!(query(&database, LOSS).await, ["20 10 20 jobs 1"], "the sum is too old");
        roll_up_at(&database, &writer, "01:20").await;
        database.execute(EPISODE_GROWS).await;
        roll_up_at(&database, &writer, "03:00").await;
        assert_eq!(query(&database, LOSS).await, ["20 10 20 jobs 1"]);
        // An incident that fires again has another state.
        database.execute("UPDATE alert_incidents SET resolved_s = resolved_s + 60").await;
        assert_eq!(query(&database, LOSS).await, ["25 10 20 jobs 1"]);
        database.execute("DELETE FROM alert_incidents").await;
        assert_eq!(query(&database, "SELECT count(*)::text FROM storage_losses").await, ["0"]);
        database.drop_login(&login).await;
    });
}

#[test]
fn region_loss_follows_its_victims() {
    on_each_server(|database: Database| async move {
        let losses =
            "SELECT concat_ws(' ', region_id, lost_s, lost_lo_s, lost_hi_s) FROM region_losses ORDER BY 1";
        database
            .execute("INSERT INTO region_victims VALUES (1, '7', 0, 3, 2, 4, 0.5), (1, '8', 1, 3, 1, 5, 0.5), (2, '7', 0, 1, 1, 1, 1)")
            .await;
        assert_eq!(query(&database, losses).await, ["1 6 3 9", "2 1 1 1"]);
        database.execute("UPDATE region_victims SET lost_s = 5 WHERE job_id = '8'").await;
        database.execute("DELETE FROM region_victims WHERE job_id = '7'").await;
        assert_eq!(query(&database, losses).await, ["1 5 1 5"]);
    });
}

#[test]
fn the_size_of_a_job_follows_its_nodes() {
    on_each_server(|database: Database| async move {
        let sizes = "SELECT concat_ws(' ', job_id, nodes) FROM job_sizes ORDER BY job_id";
        database.execute("INSERT INTO job_nodes VALUES ('7', 'nid1'), ('7', 'nid2'), ('8', 'nid1')").await;
        assert_eq!(query(&database, sizes).await, ["7 2", "8 1"]);
        database
            .execute("DELETE FROM job_nodes WHERE node = 'nid1'; INSERT INTO job_nodes VALUES ('9', 'nid1')")
            .await;
        assert_eq!(query(&database, sizes).await, ["7 1", "9 1"]);
    });
}

#[test]
fn file_systems_of_a_job_are_those_of_its_clients() {
    on_each_server(|database: Database| async move {
        database.execute(INCIDENT).await;
        let mounts = "SELECT concat_ws(' ', job_id, mount) FROM job_mounts";
        assert_eq!(query(&database, mounts).await, ["7 scratch"]);
        database.execute("UPDATE jobs SET end_time = '2026-10-15 00:20Z'").await;
        query(&database, "SELECT tailback_expire_results('2026-10-16', 10)::text").await;
        assert!(query(&database, mounts).await.is_empty());
    });
}

/// Minutes in which each of two clients of one file system writes 10 bytes/s, with the stages at `stages_at`.
fn minutes_of(client: &str, from: &str, until: &str, stages_at: &str) -> String {
    format!(
        "INSERT INTO signal_minutes
         SELECT t, 0, series_id, 10, 10, 10, 10, 10, 60, 0
         FROM series, generate_series(timestamptz '2026-10-15 {from}Z', '2026-10-15 {until}Z', '1 minute') AS t WHERE component = '{client}';
         UPDATE stage_positions SET event_time = '2026-10-15 {stages_at}Z' WHERE partition = 0;"
    )
}

const BYTES: &str = "SELECT concat_ws(' ', mount, nullif(job_id, ''), count(*), sum(bytes), max(seconds)) FROM file_system_bytes
                     GROUP BY mount, job_id ORDER BY job_id";

#[test]
fn bytes_of_a_file_system_are_summed_by_job_and_minute() {
    on_each_server(|database: Database| async move {
        database.execute(INCIDENT).await;
        database
            .execute(
                "INSERT INTO jobs (job_id, user_name, name, start_time, end_time)
                 VALUES ('8', 'bob', 'cfd', '2026-10-15 00:02:30Z', '2026-10-15 00:04Z');
                 INSERT INTO job_series SELECT '8', series_id FROM series WHERE component = 'nid2'",
            )
            .await;
        for client in ["nid1", "nid2"] {
            database.execute(&minutes_of(client, "00:00", "00:05", "00:06")).await;
        }
        roll_up(&database.settings()).await.unwrap();
        assert_eq!(
            query(&database, BYTES).await,
            ["scratch 5 6000 60", "scratch 7 5 6000 60", "scratch 8 2 1200 60"]
        );
        query(&database, "SELECT tailback_expire_results('2026-10-16', 10)::text").await;
        assert_eq!(query(&database, BYTES).await, ["scratch 5 6000 60", "scratch 7 5 6000 60"]);
    });
}

#[test]
fn bytes_of_a_partition_that_was_behind_are_added_once_it_caught_up() {
    on_each_server(|database: Database| async move {
        database.execute(INCIDENT).await;
        database
            .execute(
                "INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
                 VALUES ('detector', 1, 1, 'a', 1, 1, '2026-10-15 00:00Z', now())",
            )
            .await;
        database.execute(&minutes_of("nid1", "00:00", "02:59", "03:06")).await;
        roll_up(&database.settings()).await.unwrap();
        assert_eq!(query(&database, BYTES).await, ["scratch 180 108000 60", "scratch 7 180 108000 60"]);
        database.execute(&minutes_of("nid1", "03:00", "03:59", "04:06")).await;
        database.execute(&minutes_of("nid2", "00:00", "03:59", "04:06")).await;
        database.execute("UPDATE stage_positions SET event_time = '2026-10-15 04:06Z'").await;
        roll_up(&database.settings()).await.unwrap();
        assert_eq!(query(&database, BYTES).await, ["scratch 240 288000 60", "scratch 7 240 288000 60"]);
    });
}

#[test]
fn bytes_older_than_six_hours_are_kept_by_hour() {
    on_each_server(|database: Database| async move {
        database.execute(INCIDENT).await;
        database.execute(&minutes_of("nid1", "00:00", "07:59", "08:06")).await;
        roll_up(&database.settings()).await.unwrap();
        // Two hours and six times sixty minutes.
        assert_eq!(query(&database, BYTES).await, ["scratch 362 288000 3600", "scratch 7 362 288000 3600"]);
    });
}

#[test]
fn search_covers_the_latest_50_000_episodes_and_names_the_earliest() {
    on_each_server(|database: Database| async move {
        database.execute(INCIDENT).await;
        database
            .execute(
                "INSERT INTO episodes
                 SELECT 1, n, 1, to_timestamp(1e6 + n), to_timestamp(1e6 + n + 60000 - n), false, 4, 0.5, 1, 1, 1, 1, '[]', '[]'
                 FROM generate_series(1, 50000) AS n",
            )
            .await;
        let (client, connection) = tokio_postgres::connect(&database.settings().url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let none: Option<&str> = None;
        let (by, sign) = (Some("length"), -1.0);
        let search = async |to: Option<f64>| {
            let row = client
                .query(
                    include_str!("../sql/read/postgres/episode_search.sql"),
                    &[
                        &None::<bool>,
                        &None::<f64>,
                        &to,
                        &none,
                        &none,
                        &none,
                        &none,
                        &none,
                        &none,
                        &by,
                        &sign,
                        &1_i64,
                        &0_i64,
                    ],
                )
                .await
                .unwrap()
                .remove(0);
            (row.get::<_, i64>(0), row.get::<_, Option<f64>>(1), row.get::<_, Option<i64>>(2))
        };
        // The longest one is the earliest, which is not among them.
        assert_eq!(search(None).await, (50_000, Some(1e6 + 2.0), Some(1_000_000_000_002)));
        assert_eq!(search(Some(1e6 + 10.0)).await, (10, None, Some(1_000_000_000_001)));
        assert_eq!(search(Some(5.0)).await, (0, None, None));
    });
}
