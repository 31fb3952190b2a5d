//! Commits: results, position and state together, once, by their owner alone.

use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Commits, again and again where trying again helps.
async fn until_committed(store: &mut PgStore, part: PartCommit<'_>) {
    let mut result = store.commit(STAGE, &[part]).await;
    while matches!(result, Err(PgError::Retry(_))) {
        result = store.commit(STAGE, &[part]).await;
    }
    result.unwrap();
}

#[test]
fn what_is_committed_is_read_back_with_position_and_state() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let claim = store.claim(STAGE, 0, "a", None).await.unwrap();
        assert_eq!((claim.epoch, claim.position, claim.snapshot), (1, None, None));
        let fixture = Fixture::new(12_000, 2);
        // Incompressible, so that it fills several chunks.
        let state: Vec<u8> =
            (0..20_000_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        let part = PartCommit { snapshot: Some((3, &state)), ..commit(&fixture, 1, None, 70) };
        let figures = store.commit(STAGE, &[part]).await.unwrap();
        assert_eq!((figures.signals, figures.direct), (24_000, database.timescale));
        let claim = store.claim(STAGE, 0, "b", None).await.unwrap();
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
        assert_eq!(old.claim(STAGE, 0, "old", None).await.unwrap().epoch, 1);
        old.commit(STAGE, &[commit(&fixture, 1, None, 10)]).await.unwrap();
        let claim = new.claim(STAGE, 0, "new", None).await.unwrap();
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
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let fixture = Fixture::new(4_000, 1);
        let (mut position, mut repeated) = (None, 0);
        for round in 0..20_i64 {
            let to = round + 1;
            let killer = database.kill_writers_after(round as u64 * 3);
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
            repeated += tries;
        }
        assert!(repeated > 0, "no commit was cut off");
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["80000"]);
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
        let epoch = store.claim(STAGE, 0, "a", None).await.unwrap().epoch;
        let fixture = Fixture::new(10, 1);
        // The commit waits for a row that another transaction locks, and is killed there. What the holder leaves is what a commit
        // leaves that happened while its answer was lost.
        let holder = database.begin("UPDATE stage_positions SET position = 5, commits = 1").await;
        let killed = async {
            database.until_a_writer_waits().await;
            database.kill_writers_after(0).await.unwrap();
        };
        let parts = [commit(&fixture, epoch, None, 5)];
        let (first, ()) = tokio::join!(store.commit(STAGE, &parts), killed);
        assert!(matches!(first, Err(PgError::Retry(_))), "{first:?}");
        holder.batch_execute("COMMIT").await.unwrap();
        let figures = store.commit(STAGE, &parts).await.unwrap();
        assert!(figures.repeated);
        store.commit(STAGE, &[commit(&fixture, epoch, Some(5), 6)]).await.unwrap();
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["10"]);
    });
}

#[test]
fn a_series_gets_its_number_with_the_first_row_about_it() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        store.claim(STAGE, 1, "a", None).await.unwrap();
        let known =
            async || query(&database, "SELECT component FROM series ORDER BY length(component), 1").await;
        let (mut few, mut others) = (Fixture::new(8, 1), Fixture::new(8, 1));
        few.stored.signals.retain(|row| row.signal.series.0 < 2);
        few.stored.buckets.clear();
        few.results.job_series = vec![(Name::parse("10").unwrap(), SeriesIndex(6))];
        others.stored.signals.retain(|row| row.signal.series.0 == 4);
        others.stored.buckets.clear();
        let theirs = PartCommit { partition: 1, ..commit(&others, 1, None, 1) };
        store.commit(STAGE, &[commit(&few, 1, None, 1), theirs]).await.unwrap();
        assert_eq!(known().await, ["c0-0c0s0", "c0-0c0s1", "c0-0c0s4", "c0-0c0s6"]);
        // The stage that takes the partition over finds the numbers, and gives the other series theirs.
        let mut next = PgStore::connect(&database.settings()).await.unwrap();
        next.claim(STAGE, 0, "b", None).await.unwrap();
        next.commit(STAGE, &[commit(&Fixture::new(8, 1), 2, Some(1), 2)]).await.unwrap();
        assert_eq!(known().await.len(), 8);
        let twice = "SELECT s.component FROM signals JOIN series s USING (series_id) GROUP BY 1 HAVING count(*) = 2 ORDER BY 1";
        assert_eq!(query(&database, twice).await, ["c0-0c0s0", "c0-0c0s1", "c0-0c0s4"]);
    });
}

#[test]
fn forgotten_positions_begin_a_new_generation_of_numbers() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        let claim = store.claim(STAGE, 0, "a", None).await.unwrap();
        assert_eq!(claim.generation, 0);
        store.commit(STAGE, &[commit(&Fixture::new(3, 1), 1, None, 7)]).await.unwrap();
        assert_eq!(store.forget_positions().await.unwrap(), 1);
        let claim = store.claim(STAGE, 0, "a", None).await.unwrap();
        assert_eq!((claim.generation, claim.position), (1, None));
        // Taken again before anything was committed it is the same one: what is found again has the same numbers.
        assert_eq!(store.claim(STAGE, 0, "b", None).await.unwrap().generation, 1);
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["3"]);
    });
}

#[test]
fn a_clock_that_is_ahead_leaves_the_present_of_others() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        let mut ahead = Fixture::new(2, 1);
        let tomorrow =
            Time::from_seconds(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64() + 86_400.0);
        ahead.stored.passed.latest = Some(tomorrow);
        let clock = "SELECT concat_ws(' ', now <= now(), now = to_timestamp(1700000000.000001)) FROM clock";
        let nothing = Fixture::new(0, 0);
        store.commit(STAGE, &[commit(&nothing, 1, None, 1)]).await.unwrap();
        assert_eq!(query(&database, clock).await, [""], "nothing is known of time without a signal");
        store.commit(STAGE, &[commit(&Fixture::new(2, 1), 1, Some(1), 2)]).await.unwrap();
        assert_eq!(query(&database, clock).await, ["t t"]);
        store.commit(STAGE, &[commit(&ahead, 1, Some(2), 3)]).await.unwrap();
        assert_eq!(query(&database, clock).await, ["t f"]);
        // One that was taken there already comes back with the next commit.
        database.execute("UPDATE stage_positions SET event_time = now() + interval '1 hour'").await;
        store.commit(STAGE, &[commit(&Fixture::new(2, 1), 1, Some(3), 4)]).await.unwrap();
        assert_eq!(query(&database, clock).await, ["t f"]);
    });
}

#[test]
fn two_stores_that_meet_the_same_series_agree_on_its_number() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let (mut a, mut b) =
            (PgStore::connect(&settings).await.unwrap(), PgStore::connect(&settings).await.unwrap());
        a.claim(STAGE, 0, "a", None).await.unwrap();
        b.claim(STAGE, 1, "b", None).await.unwrap();
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

#[test]
fn numbers_lost_by_the_server_are_not_used_again() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        store.commit(STAGE, &[commit(&Fixture::new(4, 1), 1, None, 1)]).await.unwrap();
        // A server that crashed without its latest writes gives the number of c0-0c0s1 to another series.
        database
            .execute("UPDATE series SET name = 'lustre_write_rate/nid1', component = 'nid1' WHERE component = 'c0-0c0s1'")
            .await;
        database.kill_writers_after(0).await.unwrap();
        until_committed(&mut store, commit(&Fixture::new(4, 1), 1, Some(1), 2)).await;
        let rows = "SELECT concat(s.component, ' ', count(*)) FROM signals JOIN series s USING (series_id) GROUP BY s.component ORDER BY 1";
        assert_eq!(
            query(&database, rows).await,
            ["c0-0c0s0 2", "c0-0c0s1 1", "c0-0c0s2 2", "c0-0c0s3 2", "nid1 1"]
        );
    });
}

#[test]
fn a_server_that_may_only_be_read_for_a_while_is_tried_again() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        let read_only = async |on: &str| {
            let name = query(&database, "SELECT current_database()::text").await.remove(0);
            database
                .execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {on}"))
                .await;
            database.kill_writers_after(0).await.unwrap();
        };
        read_only("on").await;
        let fixture = Fixture::new(4, 1);
        for _ in 0..2 {
            let refused = store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await;
            assert!(matches!(refused, Err(PgError::Retry(_))), "{refused:?}");
        }
        let admin = database.begin("SET TRANSACTION READ WRITE").await;
        admin.batch_execute("COMMIT; SET default_transaction_read_only = off").await.unwrap();
        let name = query(&database, "SELECT current_database()::text").await.remove(0);
        let writable = format!("ALTER DATABASE {name} RESET default_transaction_read_only");
        admin.batch_execute(&writable).await.unwrap();
        database.kill_writers_after(0).await.unwrap();
        until_committed(&mut store, commit(&fixture, 1, None, 1)).await;
        assert_eq!(query(&database, "SELECT count(*)::text FROM signals").await, ["4"]);
    });
}

#[test]
fn a_server_lost_within_the_tls_handshake_is_retried() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url =
            format!("postgresql://tailback@{}/tailback?sslmode=require", listener.local_addr().unwrap());
        let goes = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut asks_for_tls = [0; 8];
            socket.read_exact(&mut asks_for_tls).await.unwrap();
            socket.write_all(b"S").await.unwrap();
            // And it is gone: the first message of the client is read, so that it sees an end, no reset.
            socket.read_u8().await.unwrap();
        });
        let refused = PgStore::connect(&PgSettings::at(&url)).await.map(|_| ());
        goes.await.unwrap();
        assert!(matches!(refused, Err(PgError::Retry(_))), "{refused:?}");
    });
}

#[test]
fn texts_of_any_length_and_content_hold_nothing_up() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        store.claim(STAGE, 0, "a", None).await.unwrap();
        // Letters of two bytes that do not compress, and zero characters.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let letter = |at: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if at % 100 == 7 { '\0' } else { char::from_u32(0x400 + (state >> 32) as u32 % 256).unwrap() }
        };
        let long: String = (0..100_000).map(letter).collect();
        let job = Job {
            job_id: Name::parse("7").unwrap(),
            label: long.clone(),
            user: long.clone(),
            name: long.clone(),
            nodes: Vec::new(),
            start: Time::from_seconds(1.7e9),
            end: None,
            end_presumed: false,
            app: Some(long),
        };
        let mut fixture = Fixture::new(4, 1);
        fixture.results.jobs = vec![job];
        store.commit(STAGE, &[commit(&fixture, 1, None, 1)]).await.unwrap();
        let kept = "SELECT concat(octet_length(user_name) BETWEEN 1990 AND 2000, right(user_name, 1), position(chr(65533) IN name))
                    FROM jobs WHERE job_id = '7' AND label = user_name AND app = name";
        assert_eq!(query(&database, kept).await, ["t…8"]);
    });
}
