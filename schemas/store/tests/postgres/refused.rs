//! Rows that the server refuses for what they contain, and messages that were passed over.

use super::*;
use schemas::{
    Action, Advice, NOTICE_VERSION, Notice, NoticeKind, RejectReason, RejectedMessage, RoutedNotice, Severity,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A trigger instead of a constraint: the columnstore takes none.
const REFUSE_SIGNALS: &str = "
    CREATE FUNCTION refuse_signal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.value > 0 AND mod(NEW.value::integer, 2) = 1 THEN
            RAISE EXCEPTION 'odd value' USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER refuse_signal BEFORE INSERT ON signal_rows FOR EACH ROW EXECUTE FUNCTION refuse_signal()";

const KEPT: &str = "SELECT concat_ws(' ', stage, topic, partition, message_offset, number, reason, size > 0)
                    FROM rejected_messages ORDER BY topic, message_offset, number";

#[test]
fn refused_rows_are_kept_aside_and_the_others_stored() {
    on_each_server(|database: Database| async move {
        database.execute(REFUSE_SIGNALS).await;
        database.execute("ALTER TABLE jobs ADD CONSTRAINT no_ben CHECK (user_name <> 'ben')").await;
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let fixture = everything();
        let figures = store.commit(STAGE, &[commit(&fixture, epoch, None, 1)]).await.unwrap();
        let refused: Vec<(&str, u64)> = figures.refused.iter().map(|r| (r.table, r.rows)).collect();
        assert_eq!(refused, [("signal_rows", 1), ("jobs", 1)]);
        assert!(figures.refused[0].error.contains("23514: odd value"), "{figures:?}");
        store.commit(STAGE, &[commit(&fixture, epoch, Some(1), 2)]).await.unwrap();
        let stored = "SELECT concat_ws(' ', (SELECT count(*) FROM signal_rows), (SELECT string_agg(job_id, ',') FROM jobs),
                             (SELECT count(*) FROM job_nodes), (SELECT count(*) FROM episodes),
                             (SELECT position FROM stage_positions))";
        assert_eq!(query(&database, stored).await, ["4 10 4 2 2"]);
        let kept = [
            "detector jobs 0 1 2 refused_row t",
            "detector jobs 0 2 2 refused_row t",
            "detector signal_rows 0 1 1 refused_row t",
            "detector signal_rows 0 2 1 refused_row t",
        ];
        assert_eq!(query(&database, KEPT).await, kept);
        let jobs = "SELECT concat_ws(' ', position('23514' IN detail) > 0, position('no_ben' IN detail) > 0,
                                     position('ben' IN convert_from(head, 'UTF8')) > 0)
                    FROM rejected_messages WHERE topic = 'jobs' LIMIT 1";
        assert_eq!(query(&database, jobs).await, ["t t t"]);
    });
}

#[test]
fn a_commit_of_refused_rows_alone_ends_soon() {
    on_each_server(|database: Database| async move {
        database.execute(REFUSE_SIGNALS).await;
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let mut fixture = Fixture::new(20_000, 1);
        fixture.stored.signals.retain(|stored| stored.signal.series.0 % 2 == 1);
        let begun = Instant::now();
        let figures = store.commit(STAGE, &[commit(&fixture, epoch, None, 1)]).await.unwrap();
        eprintln!("10,000 refused rows: {:?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        assert_eq!((figures.refused[0].table, figures.refused[0].rows), ("signal_rows", 10_000));
        let counted = "SELECT concat_ws(' ', (SELECT count(*) FROM signal_rows), (SELECT position FROM stage_positions),
                                        (SELECT count(*) FROM rejected_messages) BETWEEN 200 AND 1000)";
        assert_eq!(query(&database, counted).await, ["0 1 t"]);
    });
}

#[test]
fn a_refused_series_costs_its_own_rows() {
    on_each_server(|database: Database| async move {
        database.execute("ALTER TABLE series ADD CONSTRAINT not_1 CHECK (component <> 'c0-0c0s1')").await;
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let fixture = Fixture::new(5, 1);
        let figures = store.commit(STAGE, &[commit(&fixture, epoch, None, 1)]).await.unwrap();
        assert_eq!((figures.refused[0].table, figures.refused[0].rows), ("signal_rows", 1));
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["4"]);
        // Once the constraint is gone the series is numbered.
        database.execute("ALTER TABLE series DROP CONSTRAINT not_1").await;
        let figures = store.commit(STAGE, &[commit(&fixture, epoch, Some(1), 2)]).await.unwrap();
        assert!(figures.refused.is_empty(), "{figures:?}");
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["9"]);
    });
}

fn rejected(offset: i64) -> RejectedMessage {
    RejectedMessage {
        stage: STAGE.to_string(),
        topic: "tailback.counters".to_string(),
        partition: 0,
        offset,
        written: false,
        reason: RejectReason::BadMessage,
        detail: "damaged \0".to_string(),
        key: "k\0".to_string(),
        size: 2,
        head: vec![0, 0xFF],
    }
}

#[test]
fn rejected_messages_are_kept_once_and_bounded() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let mut fixture = Fixture::new(0, 0);
        fixture.results.rejected = vec![rejected(7), rejected(8), rejected(7)];
        store.commit(STAGE, &[commit(&fixture, epoch, None, 1)]).await.unwrap();
        store.commit(STAGE, &[commit(&fixture, epoch, Some(1), 2)]).await.unwrap();
        let kept = [
            "detector tailback.counters 0 7 0 bad_message t",
            "detector tailback.counters 0 8 0 bad_message t",
        ];
        assert_eq!(query(&database, KEPT).await, kept);
        fixture.results.rejected = (100..10_200).map(rejected).collect();
        store.commit(STAGE, &[commit(&fixture, epoch, Some(2), 3)]).await.unwrap();
        let bounds = "SELECT concat_ws(' ', count(*), max(message_offset)) FROM rejected_messages";
        let found = query(&database, bounds).await;
        assert_eq!(found, ["10000 10199"], "the newest stay");
        let retention = PgRetention { raw_days: Some(14.0), ..database.settings().retention };
        let (settings, day_s) = (PgSettings { retention, ..database.settings() }, 86_400.0);
        let now_s = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
        housekeep(&settings, Time::from_seconds(now_s + 13.0 * day_s)).await.unwrap();
        assert_eq!(query(&database, bounds).await, found, "raw_days are not over");
        housekeep(&settings, Time::from_seconds(now_s + 15.0 * day_s)).await.unwrap();
        assert_eq!(query(&database, "SELECT count(*)::text FROM rejected_messages").await, ["0"]);
    });
}

fn notice(subject: &str) -> Notice {
    Notice {
        version: NOTICE_VERSION,
        key: "0123456789abcdef.1".to_string(),
        kind: NoticeKind::Firing,
        incident: "0123456789abcdef".to_string(),
        sequence: 1,
        rule: "rule\0".to_string(),
        severity: Severity::Warning,
        subject: subject.to_string(),
        labels: BTreeMap::from([("subject".to_string(), subject.to_string())]),
        started_s: 100.0,
        fired_s: 120.0,
        resolved_s: None,
        summary: format!("{subject} waits"),
        description: String::new(),
        hint: String::new(),
        members: 1,
        slowdown_s: f64::NAN,
        slowdown_lo_s: f64::NAN,
        slowdown_hi_s: f64::NAN,
        completeness: 1.0,
        advice: Advice {
            valid_until_s: 400.0,
            links: Vec::new(),
            nodes: vec!["n\0".to_string()],
            jobs: Vec::new(),
            causes: Vec::new(),
            action: Action::NoneCapacity,
            expected_relief: 0.0,
            confidence: 0.0,
        },
    }
}

#[test]
fn notices_with_zero_characters_are_cleaned() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let mut fixture = Fixture::new(0, 0);
        let receivers = vec!["a\0b".to_string()];
        fixture.results.notices = vec![RoutedNotice { notice: notice("job\0 x"), receivers }];
        let figures = store.commit(STAGE, &[commit(&fixture, epoch, None, 1)]).await.unwrap();
        assert!(figures.refused.is_empty(), "{figures:?}");
        let stored = "SELECT concat_ws(' | ', i.rule, i.subject, i.summary, o.receiver, notice::jsonb #>> '{labels,subject}')
                      FROM alert_outbox o JOIN alert_incidents i USING (incident, notice)";
        let expected = ["rule\u{fffd} | job\u{fffd} x | job\u{fffd} x waits | a\u{fffd}b | job\u{fffd} x"];
        assert_eq!(query(&database, stored).await, expected);
    });
}
