//! The server's store against a real PostgreSQL, with TimescaleDB and without where the server has it.
//!
//! | file | what it holds |
//! |---|---|
//! | `commits.rs` | positions, claims, connections that are killed |
//! | `tiers.rs` | tiers, housekeeping, expiry |
//! | `refused.rs` | rows that the server refuses, messages that were passed over |
//! | `places.rs` | sums of places and their aggregates |
//! | `tls.rs` | modes of TLS, a refused TLS |
//! | `logins.rs` | certificates of clients, channel binding |
//! | `accounts.rs` | an owner that may not make roles |
//! | `hosts.rs` | several hosts in the URL |
//! | `savepoints.rs` | states to a savepoint and back |
//! | `pooler.rs` | PgBouncer in each of its modes |
//! | `timescale_later.rs` | databases to which TimescaleDB is added when they have rows |
//!
//! `TAILBACK_PG_URL` names a server on which databases and roles may be made; without it the tests start one of their
//! own.
mod accounts;
mod commits;
mod counters;
mod hosts;
mod logins;
mod places;
mod pooler;
mod refused;
mod savepoints;
mod tiers;
mod timescale_later;
mod tls;

use schemas::{
    Cause, CauseKind, CauseShare, DropReason, Episode, EpisodeId, Job, JobProgress, JobResult, MeasuredLoss,
    Name, ResultBatch, SeriesIndex, Time,
};
use store::migrations::{POSTGRES_MIGRATIONS, PgMigration};
use store::postgres::{
    PartCommit, PgError, PgRetention, PgSettings, PgStore, housekeep, migrate, migrate_to, pending,
    server_facts,
};
use store::storage_policy::StoredRows;
use support::batches::Fixture;
use support::database::{Database, on_each_server, query, query_as};

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

/// The embedded migrations and one after them.
fn with_a_later_one(sql: &'static str) -> &'static [PgMigration] {
    let later = PgMigration { name: "9999_later", timescale: false, sql };
    [POSTGRES_MIGRATIONS, &[later]].concat().leak()
}

#[test]
fn later_migration_is_applied_once() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let later = with_a_later_one("CREATE TABLE later (x integer); INSERT INTO later VALUES (1)");
        let applied = migrate_to(&settings, later).await.unwrap();
        assert_eq!(applied.iter().map(|one| one.name).collect::<Vec<_>>(), ["9999_later"]);
        assert_eq!(migrate_to(&settings, later).await.unwrap(), vec![]);
        let found = "SELECT concat_ws(' ', (SELECT count(*) FROM later), version, name) FROM schema_migrations WHERE version > 99";
        assert_eq!(query(&database, found).await, ["1 9999 9999_later"]);
        let older = migrate(&settings).await.unwrap_err();
        assert!(
            matches!(&older, PgError::Stop(text) if text.contains("the migration 9999_later")),
            "{older}"
        );
    });
}

#[test]
fn later_migration_keeps_rows_states_and_positions() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let mut store = PgStore::connect(&settings).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let fixture = Fixture::new(100, 20);
        let part = PartCommit { snapshot: Some((1, b"state")), ..commit(&fixture, epoch, None, 7) };
        store.commit(STAGE, &[part]).await.unwrap();
        let rows =
            "SELECT concat_ws(' ', (SELECT count(*) FROM signal_rows), (SELECT count(*) FROM episodes),
                    (SELECT count(*) FROM job_results))";
        let before = query(&database, rows).await;
        let later = with_a_later_one(
            "ALTER TABLE episodes ADD COLUMN note text NOT NULL DEFAULT 'none'; ALTER TABLE signal_rows ADD COLUMN extra real",
        );
        migrate_to(&settings, later).await.unwrap();
        assert_eq!(query(&database, rows).await, before);
        let kept = "SELECT concat_ws(' ', p.position, s.position, octet_length(s.content) > 0)
                    FROM stage_positions p JOIN stage_snapshots s USING (stage, partition)";
        assert_eq!(query(&database, kept).await, ["7 7 t"]);
    });
}

#[test]
fn failed_migration_leaves_nothing_behind() {
    on_each_server(|database: Database| async move {
        let later = with_a_later_one("CREATE TABLE later (x integer); SELECT 1 / 0");
        let failed = migrate_to(&database.settings(), later).await.unwrap_err();
        assert!(failed.to_string().contains("9999_later"), "{failed}");
        let left = "SELECT concat_ws(' ', to_regclass('later') IS NULL, count(*)) FROM schema_migrations WHERE version > 99";
        assert_eq!(query(&database, left).await, ["t 0"]);
        assert!(pending(&database.settings()).await.unwrap().is_empty());
    });
}

#[test]
fn a_migration_that_changed_is_named() {
    on_each_server(|database: Database| async move {
        database.execute("UPDATE schema_migrations SET checksum = 1 WHERE name = '0001_schema'").await;
        let refused = migrate(&database.settings()).await.unwrap_err();
        assert!(matches!(&refused, PgError::Stop(text) if text.contains("0001_schema")), "{refused}");
        database.execute("DELETE FROM schema_migrations WHERE name = '0001_schema'").await;
        let old = PgStore::connect(&database.settings()).await.unwrap_err();
        assert!(matches!(&old, PgError::Stop(why) if why.cause == store::postgres::Cause::Schema), "{old}");
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
        judged: 1.0,
        causes: vec![share; causes],
        progress: vec![JobProgress {
            name: Name::parse("steps").unwrap(),
            covered_s: 4.0,
            contended_s: 2.0,
            per_s: None,
            counters_s: 1.0,
            loss: MeasuredLoss::NeverClear,
        }],
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
    batch.jobs = vec![job("10", "eve"), job("10", "ann"), job("11", "ben")];
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
        store.claim(STAGE, 0, "a", None).await.unwrap();
        store.claim(STAGE, 1, "a", None).await.unwrap();
        let fixture = everything();
        let second = PartCommit { partition: 1, ..commit(&fixture, 1, None, 1) };
        store.commit(STAGE, &[commit(&fixture, 1, None, 1), second]).await.unwrap();
        store.commit(STAGE, &[commit(&fixture, 1, Some(1), 2)]).await.unwrap();
        let counted = query(
            &database,
            "SELECT concat_ws(' ', (SELECT string_agg(user_name, ',' ORDER BY job_id) FROM jobs),
                    (SELECT count(*) FROM job_nodes), (SELECT count(*) FROM job_results),
                    (SELECT count(*) FROM job_causes), (SELECT count(*) FROM job_progress),
                    (SELECT count(*) FROM job_series),
                    (SELECT count(*) FROM episodes), (SELECT count(*) FROM episodes WHERE open AND peak IS NULL),
                    (SELECT count FROM dropped_rows), (SELECT count(*) FROM series_now WHERE state = 'contended'))",
        )
        .await;
        // The result of job 12 came before the job: stages write in any order.
        assert_eq!(counted, ["ann,ben 4 3 4 3 1 4 2 2 2"]);
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
        store.claim(STAGE, 0, "a", None).await.unwrap();
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
            "SELECT DISTINCT job_id FROM job_progress",
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
