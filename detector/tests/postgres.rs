//! The server's store against a real PostgreSQL, with TimescaleDB and without where the server has it.
//!
//! `TAILBACK_PG_URL` names a server on which databases and roles may be made; without it the tests start one of their
//! own. `TAILBACK_SKIP_SERVICES=1` lets them pass where no server can be had.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod postgres_support;

use detector::postgres::{
    PartCommit, PgError, PgRetention, PgSettings, PgStore, housekeep, migrate, pending, server_facts,
};
use detector::storage_policy::StoredRows;
use postgres_support::{Database, Fixture, on_each_server, query, query_as};
use schemas::{
    Cause, CauseKind, CauseShare, DropReason, Episode, EpisodeId, Job, JobResult, Name, ResultBatch,
    SeriesIndex, Time,
};

const STAGE: &str = "detector";

fn commit<'a>(fixture: &'a Fixture, epoch: i64, from: Option<i64>, to: i64) -> PartCommit<'a> {
    PartCommit {
        partition: 0,
        epoch,
        from_position: from,
        to_position: to,
        results: &fixture.results,
        stored: &fixture.stored,
        table: &fixture.table,
        snapshot: None,
    }
}

#[test]
fn migrations_apply_once_and_the_second_time_nothing() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        // The database was migrated when it was made.
        assert_eq!(migrate(&settings).await.unwrap(), vec![]);
        assert!(pending(&settings).await.unwrap().is_empty());
        let facts = server_facts(&settings).await.unwrap();
        assert!(facts.server_version.starts_with("15") || !facts.server_version.is_empty());
        assert_eq!(facts.timescale_version.is_some(), database.timescale);
        assert_eq!(facts.policies.is_empty(), !database.timescale);
        assert!(facts.tables.iter().any(|t| t.table == "signal_rows"));
    });
}

#[test]
fn a_migration_that_changed_is_named() {
    on_each_server(|database: Database| async move {
        database.execute("UPDATE schema_migrations SET checksum = 1 WHERE name = '0002_tiers'").await;
        let refused = migrate(&database.settings()).await.unwrap_err();
        assert!(matches!(&refused, PgError::Stop(text) if text.contains("0002_tiers")), "{refused}");
        database.execute("DELETE FROM schema_migrations WHERE name = '0002_tiers'").await;
        let old = PgStore::connect(&database.settings()).await.unwrap_err();
        assert!(matches!(&old, PgError::Stop(text) if text.contains("tailback migrate")), "{old}");
    });
}

#[test]
fn what_is_committed_is_read_back_with_position_and_state() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let claim = store.claim(STAGE, 0, "a").await.unwrap();
        assert_eq!((claim.epoch, claim.position, claim.snapshot), (1, None, None));
        let fixture = Fixture::new(12_000, 2);
        // Incompressible, so that it fills several chunks.
        let state: Vec<u8> =
            (0..20_000_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        let part = PartCommit { snapshot: Some((3, &state)), ..commit(&fixture, 1, None, 70) };
        let figures = store.commit(STAGE, &[part]).await.unwrap();
        assert_eq!((figures.signals, figures.direct), (24_000, database.timescale));
        let claim = store.claim(STAGE, 0, "b").await.unwrap();
        let snapshot = claim.snapshot.unwrap();
        assert_eq!((claim.epoch, claim.position, snapshot.position, snapshot.version), (2, Some(70), 70, 3));
        assert!(snapshot.content == state);
        let counted =
            query(&database, "SELECT count(*)::text || ' ' || count(DISTINCT series_id) FROM signals").await;
        assert_eq!(counted, ["24000 12000"]);
        // NaN is NULL, the state is a word, times keep their microseconds.
        let row = query(
            &database,
            "SELECT concat_ws(' ', s.name, extract(epoch FROM time), value, coalesce(mean::text, 'null'), state, ticks)
             FROM signals JOIN series s USING (series_id) WHERE s.component = 'c0-0c0s5' ORDER BY time",
        )
        .await;
        assert_eq!(row[0], "aries_stall_ratio/c0-0c0s5/r0c0 1700000000.000005 5 null contended 1");
    });
}

#[test]
fn an_owner_that_lost_its_partition_cannot_commit() {
    on_each_server(|database: Database| async move {
        let (mut old, mut new) = (
            PgStore::connect(&database.settings()).await.unwrap(),
            PgStore::connect(&database.settings()).await.unwrap(),
        );
        let fixture = Fixture::new(10, 1);
        assert_eq!(old.claim(STAGE, 0, "old").await.unwrap().epoch, 1);
        old.commit(STAGE, &[commit(&fixture, 1, None, 10)]).await.unwrap();
        let claim = new.claim(STAGE, 0, "new").await.unwrap();
        assert_eq!((claim.epoch, claim.position), (2, Some(10)));
        let refused = old.commit(STAGE, &[commit(&fixture, 1, Some(10), 20)]).await.unwrap_err();
        assert!(matches!(refused, PgError::Fenced { partition: 0 }), "{refused}");
        // A wrong position is refused likewise, and an unclaimed partition too; the right one passes.
        let wrong = new.commit(STAGE, &[commit(&fixture, 2, Some(9), 20)]).await.unwrap_err();
        assert!(matches!(wrong, PgError::Fenced { .. }), "{wrong}");
        let unclaimed = PartCommit { partition: 7, ..commit(&fixture, 1, None, 1) };
        assert!(matches!(new.commit(STAGE, &[unclaimed]).await, Err(PgError::Fenced { partition: 7 })));
        new.commit(STAGE, &[commit(&fixture, 2, Some(10), 20)]).await.unwrap();
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["20"]);
        new.release(STAGE, 0, 2).await.unwrap();
        assert_eq!(query(&database, "SELECT coalesce(owner, 'none') FROM stage_positions").await, ["none"]);
    });
}

#[test]
fn a_killed_connection_loses_nothing_and_doubles_nothing() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a").await.unwrap().epoch;
        let fixture = Fixture::new(20_000, 1);
        let mut position = None;
        for round in 0..20_i64 {
            let to = round + 1;
            let killer = database.kill_writers_after(round as u64 * 7);
            let mut tries = 0;
            loop {
                match store.commit(STAGE, &[commit(&fixture, epoch, position, to)]).await {
                    Ok(_) => break,
                    Err(PgError::Retry(_)) if tries < 20 => tries += 1,
                    Err(other) => unreachable!("round {round}: {other}"),
                }
            }
            killer.await.unwrap();
            position = Some(to);
        }
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["400000"]);
        assert_eq!(
            query(&database, "SELECT position || ' ' || commits FROM stage_positions").await,
            ["20 20"]
        );
    });
}

#[test]
fn a_commit_whose_answer_was_lost_is_not_done_twice() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a").await.unwrap().epoch;
        let fixture = Fixture::new(10, 1);
        // What is left by a commit that happened while its answer was lost.
        database.execute("UPDATE stage_positions SET position = 5, commits = 1").await;
        database.kill_writers_after(0).await.unwrap();
        let first = store.commit(STAGE, &[commit(&fixture, epoch, None, 5)]).await;
        let figures = match first {
            Ok(_) => unreachable!("the connection was killed"),
            Err(PgError::Retry(_)) => store.commit(STAGE, &[commit(&fixture, epoch, None, 5)]).await.unwrap(),
            // The connection was seen to be closed before the commit began: nothing was in doubt.
            Err(PgError::Fenced { .. }) => return,
            Err(other) => unreachable!("{other}"),
        };
        assert!(figures.repeated);
        store.commit(STAGE, &[commit(&fixture, epoch, Some(5), 6)]).await.unwrap();
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["10"]);
    });
}

#[test]
fn two_stores_that_meet_the_same_series_agree_on_its_number() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let (mut a, mut b) =
            (PgStore::connect(&settings).await.unwrap(), PgStore::connect(&settings).await.unwrap());
        a.claim(STAGE, 0, "a").await.unwrap();
        b.claim(STAGE, 1, "b").await.unwrap();
        let (fixture, mut other) = (Fixture::new(5_000, 1), Fixture::new(5_000, 1));
        other.table.reverse();
        let mine = [commit(&fixture, 1, None, 1)];
        let theirs = [PartCommit { partition: 1, ..commit(&other, 1, None, 1) }];
        let (one, two) = tokio::join!(a.commit(STAGE, &mine), b.commit(STAGE, &theirs));
        one.unwrap();
        two.unwrap();
        let counted = query(
            &database,
            "SELECT concat_ws(' ', (SELECT count(*) FROM series), (SELECT max(series_id) <= 10000 FROM series),
                    (SELECT count(*) FROM (SELECT series_id FROM signals GROUP BY 1 HAVING count(*) = 2) t))",
        )
        .await;
        assert_eq!(counted, ["5000 t 5000"]);
    });
}

fn job(id: &str, user: &str) -> Job {
    Job {
        job_id: Name::parse(id).unwrap(),
        user: user.to_string(),
        name: "'); DROP TABLE jobs; --\0 \u{1f600}".to_string(),
        nodes: vec![Name::parse("nid00001").unwrap(), Name::parse("a.b_c-d:e@f+g#h").unwrap()],
        start: Time(1_700_000_000_000_000),
        end: None,
        end_presumed: true,
        label: "12_7".to_string(),
        app: None,
    }
}

fn result(id: &str, causes: usize) -> JobResult {
    let share = CauseShare {
        cause: Cause::OtherJob,
        kind: CauseKind::Capacity,
        series_or_job: "x'\0\\".to_string(),
        share: 0.25,
    };
    JobResult {
        job_id: Name::parse(id).unwrap(),
        contended_s: 2.0,
        slowdown_s: 1.0,
        slowdown_lo_s: 0.5,
        slowdown_hi_s: 1.5,
        completeness: 1.0,
        causes: vec![share; causes],
    }
}

fn episode(id: u64, open: bool) -> Episode {
    Episode {
        id: EpisodeId(id),
        series: SeriesIndex(1),
        start: Time(1_700_000_000_000_000),
        end: Time(1_700_000_005_000_000),
        open,
        peak: f64::NAN,
        baseline: 2.0,
        slowdown_s: 1.0,
        slowdown_lo_s: 0.5,
        slowdown_hi_s: 1.5,
        completeness: 1.0,
        profile: vec![],
        causes: result("1", 1).causes,
    }
}

/// A batch with something for every table, and keys that occur twice: the later row holds.
fn everything() -> Fixture {
    let mut fixture = Fixture::new(3, 1);
    let batch = &mut fixture.results;
    batch.jobs = vec![job("10", "nobody"), job("10", "ann"), job("11", "ben")];
    batch.job_results = vec![result("10", 3), result("10", 1), result("11", 2), result("12", 1)];
    batch.job_series = vec![(Name::parse("10").unwrap(), SeriesIndex(0)); 2];
    batch.episodes = vec![episode(1, true), episode(1, false), episode(2, true)];
    batch.drops.count(DropReason::ALL[0]);
    fixture
}

#[test]
fn the_later_row_of_a_key_holds_and_names_are_no_statements() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a").await.unwrap();
        store.claim(STAGE, 1, "a").await.unwrap();
        let fixture = everything();
        let second = PartCommit { partition: 1, ..commit(&fixture, 1, None, 1) };
        store.commit(STAGE, &[commit(&fixture, 1, None, 1), second]).await.unwrap();
        store.commit(STAGE, &[commit(&fixture, 1, Some(1), 2)]).await.unwrap();
        let counted = query(
            &database,
            "SELECT concat_ws(' ', (SELECT string_agg(user_name, ',' ORDER BY job_id) FROM jobs),
                    (SELECT count(*) FROM job_nodes), (SELECT count(*) FROM job_results),
                    (SELECT count(*) FROM job_causes), (SELECT count(*) FROM job_series),
                    (SELECT count(*) FROM episodes), (SELECT count(*) FROM episodes WHERE open AND peak IS NULL),
                    (SELECT count FROM dropped_rows), (SELECT count(*) FROM series_now WHERE state = 'contended'))",
        )
        .await;
        // The result of job 12 came before the job: stages write in any order.
        assert_eq!(counted, ["ann,ben 4 3 4 1 4 2 2 2"]);
    });
}

#[test]
fn a_user_sees_the_own_jobs_and_a_reader_cannot_write() {
    on_each_server(|database: Database| async move {
        let (ann, grafana, writer) = (
            database.login("tailback_user").await,
            database.login("tailback_reader").await,
            database.login("tailback_writer").await,
        );
        let mut settings = database.settings();
        settings.url = database.url_of(&writer);
        let mut store = PgStore::connect(&settings).await.unwrap();
        store.claim(STAGE, 0, "a").await.unwrap();
        let mut fixture = everything();
        fixture.results.jobs = vec![job("10", &ann), job("11", "ben")];
        fixture.results.job_results.retain(|result| result.job_id.as_str() != "12");
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        // Large enough for the columnstore: the writer makes chunks that belong to the owner.
        let large = Fixture::new(20_000, 1);
        store.commit(STAGE, &[PartCommit { ..commit(&large, 1, Some(1), 2) }]).await.unwrap();
        for sql in [
            "SELECT job_id FROM jobs",
            "SELECT job_id FROM job_slowdown",
            "SELECT DISTINCT job_id FROM job_causes",
            "SELECT DISTINCT job_id FROM job_nodes",
            "SELECT job_id FROM job_results",
        ] {
            assert_eq!(query_as(&database, &ann, sql).await.unwrap(), ["10"], "{sql}");
            assert_eq!(query_as(&database, &grafana, sql).await.unwrap().len(), 2, "{sql}");
        }
        for sql in [
            "SELECT name FROM series",
            "SELECT owner FROM stage_positions",
            "DELETE FROM jobs RETURNING job_id",
        ] {
            assert!(query_as(&database, &ann, sql).await.is_err(), "{sql}");
        }
        assert!(query_as(&database, &grafana, "DELETE FROM jobs RETURNING job_id").await.is_err());
        assert_eq!(
            query_as(&database, &grafana, "SELECT count(*)::text FROM signals").await.unwrap(),
            ["20003"]
        );
        for login in [ann, grafana, writer] {
            database.drop_login(&login).await;
        }
    });
}

#[test]
fn the_tiers_have_the_same_columns_and_figures_on_every_server() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a").await.unwrap();
        let mut fixture = Fixture::new(2, 65);
        fixture.thin();
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        if database.timescale {
            // A policy that ran before the rows came has passed over their time.
            for tier in ["signals_1min", "signals_1h"] {
                database.execute(&format!("CALL refresh_continuous_aggregate('{tier}', NULL, NULL)")).await;
            }
        }
        for tier in ["signals_10s", "signals_1min", "signals_1h"] {
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
        let more =
            query(&database, "SELECT tailback_expire('2100-01-01', '2100-01-01', '2100-01-01')::text").await;
        assert_eq!(more, ["false"]);
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["0"]);
    });
}

#[test]
fn housekeeping_removes_what_is_past_its_time_where_the_server_does_not() {
    on_each_server(|database: Database| async move {
        let settings = PgSettings { retention: PgRetention::default(), ..database.settings() };
        let mut store = PgStore::connect(&settings).await.unwrap();
        store.claim(STAGE, 0, "a").await.unwrap();
        let mut fixture = Fixture::new(2, 65);
        fixture.thin();
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let (now, years) = (Time(fixture_end_us(&fixture)), 20.0 * 365.0 * 86_400.0);
        let rows = "SELECT (SELECT count(*) FROM signals) || ' ' || (SELECT count(*) FROM signals_10s)";
        let before = query(&database, rows).await;
        assert!(!housekeep(&settings, now).await.unwrap().elsewhere);
        assert_eq!(query(&database, rows).await, before, "nothing is that old yet");
        let done = housekeep(&settings, now.plus_seconds(years)).await.unwrap();
        assert!(!done.elsewhere);
        assert_eq!(done.policies_failed, []);
        if !database.timescale {
            assert_eq!(query(&database, rows).await, ["0 0"]);
        }
    });
}

/// Time of the last signal.
fn fixture_end_us(fixture: &Fixture) -> i64 {
    fixture.results.signals.iter().map(|signal| signal.time.0).max().unwrap()
}
