//! Which files are opened, and which are refused without being touched.

use super::*;
use crate::store::{StoreError, open_reader};
use schemas::sql::SQLITE_MIGRATIONS;

#[test]
fn a_new_file_has_all_tables_and_opens_again_with_what_was_committed() {
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
    assert_eq!(figure(&open_reader(&path).unwrap(), "SELECT count(*) FROM signals"), 3.0);
}

#[test]
fn settings_that_only_count_before_the_first_table_were_made_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path, Retention::default()).unwrap());
    let reader = open_reader(&path).unwrap();
    let text = |pragma| reader.pragma_query_value(None, pragma, |row| row.get::<_, String>(0));
    assert_eq!(text("journal_mode").unwrap(), "wal");
    assert_eq!(figure(&reader, "SELECT auto_vacuum FROM pragma_auto_vacuum"), 2.0);
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
fn sources_of_a_store_before_they_had_parts_get_the_one_that_was_meant_or_are_told_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(Store::open(&path, Retention::default()).unwrap());
    std::fs::remove_file(&path).unwrap();
    let old = Connection::open(&path).unwrap();
    SQLITE_MIGRATIONS[..5].iter().for_each(|migration| old.execute_batch(migration).unwrap());
    old.execute_batch(
        "PRAGMA application_id = 0x5441494C; PRAGMA user_version = 5;
         INSERT INTO series VALUES (0, 'a', 'lustre_write_rate', 'n1', 'home'), (1, 'b', 'lustre_write_rate', 'n2', 'home'),
             (2, 'c', 'lustre_write_rate', 'n2', 'scratch'), (3, 'd', 'aries_stall_ratio', 'c0-0c0s0', 'r0c0');
         INSERT INTO producers VALUES ('n1', 'lustre_client', 'n1', 9, 10), ('n2', 'lustre_client', 'n2', 9, 10),
             ('n1', 'aries_rtr', 'c0-0c0s0', 9, 10);
         INSERT INTO silences VALUES ('n1', 'lustre_client', 'n1', 5, NULL), ('n2', 'lustre_client', 'n2', 5, NULL),
             ('n2', 'lustre_client', 'n2', 1, 4);",
    )
    .unwrap();
    drop(old);
    drop(Store::open(&path, Retention::default()).unwrap());
    let reader = open_reader(&path).unwrap();
    let told = |sql: &str| -> String { reader.query_row(sql, [], |row| row.get(0)).unwrap() };
    let rows =
        "SELECT group_concat(producer || ' ' || schema || ' ' || part || ' ' || rows, '; ') FROM producers";
    assert_eq!(told(rows), "n1 aries_rtr  10; n1 lustre_client home 10");
    let silences = "SELECT group_concat(producer || ' ' || part || ' ' || from_time, '; ') FROM silences";
    assert_eq!(told(silences), "n1 home 5.0; n2  1.0");
}
