//! Embedded stores of other versions.

use super::serving::Serving;
use rusqlite::Connection;
use std::path::Path;
use store::migrations::SQLITE_MIGRATIONS;

/// SQLite's mark of a file of Tailback's.
const APPLICATION_ID: i32 = 0x5441_494C;

/// An empty store as the version before this one wrote it.
fn older_store(path: &Path) -> usize {
    let version = SQLITE_MIGRATIONS.len() - 1;
    let connection = Connection::open(path).unwrap();
    for migration in &SQLITE_MIGRATIONS[..version] {
        connection.execute_batch(migration).unwrap();
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", version as u32).unwrap();
    version
}

#[test]
fn a_store_of_an_older_version_is_brought_up_to_date_and_every_view_answers() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("old.db");
    let version = older_store(&store);
    let mut serving = Serving::start("--store", &store);
    let line = serving.line();
    let wanted = format!("old.db was brought up to date, from version {version} to {}", version + 1);
    assert!(line.contains(&wanted), "{line}");
    let page = serving.page();
    for path in ["now", "fabric", "files", "jobs", "health"] {
        assert_eq!(page.ask(path).0, 200, "{path}");
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("new.db");
    older_store(&store);
    Connection::open(&store).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let mut serving = Serving::start("--store", &store);
    let line = serving.line();
    assert!(line.contains("new.db: the store has version 99, newer than"), "{line}");
    assert!(!serving.ended());
}
