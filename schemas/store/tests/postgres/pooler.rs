//! A real PgBouncer between the store and the server, in each of its modes.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::postgres::{
    Cause, PgError, PgSettings, PgStore, connect, connect_reader, connect_to_read, migrate, pending,
};
use support::database::{client, create_database, url_of};
use support::service::{Service, open_folder};
use tokio::runtime::Runtime;

/// A PgBouncer in front of a server, with that many connections to it.
fn pooler(folder: &Path, server: &Service, mode: &str, connections: &str) -> Option<Service> {
    let more = [OsStr::new(&server.address), OsStr::new(mode)];
    let pool = [("TAILBACK_PGBOUNCER_POOL", Path::new(connections))];
    Service::start_in("pgbouncer", &folder.join(format!("{mode}{connections}")), &more, &pool)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The error names the pooler and the remedy.
fn is_named<T>(result: Result<T, PgError>) {
    let error = result.err().unwrap();
    assert!(matches!(&error, PgError::Stop(why) if why.cause == Cause::Pooler), "{error}");
    let text = error.to_string();
    assert!(text.contains("PgBouncer") && text.contains("pool_mode = session"), "{text}");
}

#[test]
fn a_pooler_of_transactions_is_named_by_every_command() {
    let folder = open_folder();
    let Some(server) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    // One connection to the server is the hardest to recognise, and as a site has it.
    for (mode, connections) in [("transaction", "1"), ("transaction", "20"), ("statement", "20")] {
        let Some(pooler) = pooler(folder.path(), &server, mode, connections) else { return };
        runtime().block_on(async {
            let settings = PgSettings::at(&pooler.address);
            for _ in 0..5 {
                is_named(connect(&settings).await);
                is_named(connect_to_read(&settings).await);
            }
            is_named(migrate(&settings).await);
            is_named(pending(&settings).await);
            is_named(PgStore::connect(&settings).await);
            is_named(connect_reader(&settings).await);
            // No setting of a refused session is left to other clients.
            let other = client(&pooler.address).await;
            let left = other.simple_query("SHOW default_transaction_read_only").await.unwrap();
            assert!(format!("{left:?}").contains("off"), "{left:?}");
        });
    }
}

#[test]
fn a_pooler_of_transactions_is_named_under_load() {
    let folder = open_folder();
    let Some(server) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    let Some(pooler) = pooler(folder.path(), &server, "transaction", "4") else { return };
    runtime().block_on(async {
        let ends = Arc::new(AtomicBool::new(false));
        let load: Vec<_> = (0..12)
            .map(|_| {
                let (ends, url) = (Arc::clone(&ends), pooler.address.clone());
                tokio::spawn(async move {
                    let client = client(&url).await;
                    while !ends.load(Ordering::Relaxed) {
                        client.batch_execute("BEGIN; SELECT pg_sleep(0.001); COMMIT").await.unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..20 {
            is_named(connect(&PgSettings::at(&pooler.address)).await);
        }
        ends.store(true, Ordering::Relaxed);
        for client in load {
            client.await.unwrap();
        }
    });
}

#[test]
fn a_pooler_of_sessions_is_used_like_a_server() {
    let folder = open_folder();
    let Some(server) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    let Some(pooler) = pooler(folder.path(), &server, "session", "20") else { return };
    runtime().block_on(async {
        create_database(&client(&server.address).await, "site").await;
        let settings =
            PgSettings { timescale: false, ..PgSettings::at(&url_of(&pooler.address, "tailback", "site")) };
        migrate(&settings).await.unwrap();
        for _ in 0..5 {
            PgStore::connect(&settings).await.unwrap().claim("detector", 0, "a", None).await.unwrap();
            connect_reader(&settings).await.unwrap();
        }
        // All of the next to last connections are taken: the probe cannot have one, and the session is used.
        let mut held = Vec::new();
        for _ in 0..19 {
            let held_one = client(&settings.url).await;
            held_one.batch_execute("SELECT 1").await.unwrap();
            held.push(held_one);
        }
        let short = PgSettings { connect_timeout_s: 1.0, ..settings };
        let session = connect(&short).await;
        assert!(session.is_ok(), "{:?}", session.err());
        tokio::time::sleep(Duration::from_millis(50)).await;
    });
}
