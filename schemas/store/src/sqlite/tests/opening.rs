//! Which files are opened, and which are refused without being touched.

use super::*;
use crate::migrations::SQLITE_MIGRATIONS;
use crate::sqlite::open::{open_with, sidecar};
use crate::sqlite::{StoreError, open_reader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn a_new_file_has_all_tables_and_keeps_commits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let state = StateBlob { name: "models", version: 3, content: b"\0state" };
    let mut store = Store::open(&path, Retention::default()).unwrap();
    assert_eq!(store.load_state("models").unwrap(), None);
    store.commit(&tick(3, 0), &[state]).unwrap();
    drop(store);
    let store = Store::open(&path, Retention::default()).unwrap();
    assert_eq!(store.load_state("models").unwrap(), Some((3, b"\0state".to_vec())));
    assert_eq!(store.load_series().unwrap(), (0..3).map(|n| series(n).1).collect::<Vec<_>>());
    assert_eq!(number(&open_reader(&path).unwrap(), "SELECT count(*) FROM signals"), 3.0);
}

#[test]
fn settings_are_applied_before_the_first_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path, Retention::default()).unwrap());
    let reader = open_reader(&path).unwrap();
    let text = |pragma| reader.pragma_query_value(None, pragma, |row| row.get::<_, String>(0));
    assert_eq!(text("journal_mode").unwrap(), "wal");
    assert_eq!(number(&reader, "SELECT auto_vacuum FROM pragma_auto_vacuum"), 2.0);
}

#[test]
fn a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path, Retention::default()).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(&path, Retention::default()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("store.db: the store has version 99, newer than"));
    assert!(!error.is_retryable());
    assert!(matches!(open_reader(&path), Err(StoreError::Newer { .. })));
}

#[test]
fn a_foreign_file_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (database, text) = (folder.path().join("other.db"), folder.path().join("notes.txt"));
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
    std::fs::write(&text, "x".repeat(5_000)).unwrap();
    for path in [&database, &text] {
        let before = std::fs::read(path).unwrap();
        let error = Store::open(path, Retention::default()).unwrap_err();
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

#[test]
fn a_missing_file_is_not_created_by_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    assert!(matches!(open_reader(&path), Err(StoreError::CannotOpen { .. })));
    assert!(!path.exists());
}

#[test]
fn a_lock_held_by_another_process_is_worth_another_try() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.commit(&tick(1, 0), &[]).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(&tick(1, 0), &[]).unwrap();
}

#[test]
fn later_migration_is_applied_once_and_keeps_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.commit(&tick(3, 0), &[]).unwrap();
    drop(store);
    let later = [SQLITE_MIGRATIONS, &["CREATE TABLE later (x INTEGER) STRICT"]].concat();
    for _ in 0..2 {
        let connection = open_with(&path, &later).unwrap();
        assert_eq!(number(&connection, "SELECT count(*) FROM later"), 0.0);
        assert_eq!(number(&connection, "SELECT count(*) FROM signals"), 3.0);
        assert_eq!(number(&connection, "SELECT user_version FROM pragma_user_version"), later.len() as f64);
    }
    assert!(matches!(open_reader(&path), Err(StoreError::Newer { .. })));
}

#[test]
fn failed_migration_leaves_the_version_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let later =
        [SQLITE_MIGRATIONS, &["CREATE TABLE later (x INTEGER) STRICT; SELECT * FROM missing"]].concat();
    assert!(open_with(&path, &later).is_err());
    let reader = open_reader(&path).unwrap();
    assert_eq!(number(&reader, "SELECT count(*) FROM sqlite_master WHERE name = 'later'"), 0.0);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_store_is_not_readable_by_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.commit(&tick(3, 0), &[]).unwrap();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(&folder.path().join(file)) & !0o640, 0, "{file}");
    }
}

#[test]
fn a_finished_store_is_one_file_and_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.commit(&tick(3, 0), &[]).unwrap();
    let reader = open_reader(&path).unwrap();
    assert!(!store.finish().unwrap(), "another connection is open");
    store.commit(&tick(3, 1), &[]).unwrap();
    drop(reader);
    assert!(store.finish().unwrap());
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[18..20], [1, 1], "no write-ahead log by the header of the file");
    assert!(!sidecar(&path, "-wal").exists());
    store.commit(&tick(3, 2), &[]).unwrap();
    drop(store);
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.commit(&tick(3, 3), &[]).unwrap();
    assert_eq!(number(&open_reader(&path).unwrap(), "SELECT count(*) FROM signals"), 12.0);
}

#[test]
fn a_path_with_the_signs_of_a_uri_is_a_path() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a?mode=ro", "b#c", "d%20e"] {
        let path = folder.path().join(name);
        Store::open(&path, Retention::default()).unwrap().commit(&tick(3, 0), &[]).unwrap();
        assert!(path.is_file());
        open_reader(&path).unwrap();
        Store::remove(&path).unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn a_store_of_another_build_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path, Retention::default()).unwrap());
    Connection::open(&path).unwrap().execute_batch("DROP TABLE metrics").unwrap();
    let error = Store::open(&path, Retention::default()).unwrap_err();
    assert!(matches!(error, StoreError::OtherBuild { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("metrics") && text.contains("replay the rows again"), "{text}");
}
