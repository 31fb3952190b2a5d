//! Embedded stores where nothing may be written, and the rights of files that name users' jobs.

use super::serving::Serving;
use rusqlite::Connection;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::service::open_folder;

/// An account without rights.
const OTHER: u32 = 65_534;

fn rows() -> PathBuf {
    support::paths::root().join("tests/fixtures/ldms/kafka/ldms.lustre_client.jsonl")
}

/// Replays recorded rows in `folder` into `out`, with a umask that hides nothing.
fn replay(folder: &Path, out: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 0; exec \"$0\" replay \"$1\" --out \"$2\"", crate::TAILBACK]);
    let output = shell.arg(rows()).arg(out).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The program as an account that may not write into the folder of the store.
fn reader(folder: &Path) -> Command {
    let program = folder.join("tailback");
    if !program.exists() {
        // By a process of its own: a child of another test would inherit the file that is open for writing ("text file busy").
        assert!(
            Command::new("cp")
                .args([crate::TAILBACK.as_ref(), program.as_path()])
                .status()
                .unwrap()
                .success()
        );
    }
    let mut command = Command::new(program);
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(OTHER).gid(OTHER);
    }
    command.current_dir(folder);
    command
}

/// A folder that may only be read, with these files.
fn archive(folder: &Path, name: &str, files: &[(&Path, &str)]) -> PathBuf {
    let archive = folder.join(name);
    std::fs::create_dir(&archive).unwrap();
    for (from, to) in files {
        std::fs::copy(from, archive.join(to)).unwrap();
        set_permissions(archive.join(to), Permissions::from_mode(0o444)).unwrap();
    }
    set_permissions(&archive, Permissions::from_mode(0o555)).unwrap();
    archive.join("tailback.db")
}

fn text(store: &Connection, sql: &str) -> String {
    store.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn ran(folder: &Path, arguments: &[&str], store: &Path) -> Output {
    reader(folder).args(arguments).arg("--store").arg(store).output().unwrap()
}

#[test]
fn a_finished_store_is_read_where_nothing_may_be_written() {
    let folder = open_folder();
    replay(folder.path(), "found");
    let found = folder.path().join("found/tailback.db");
    let opened = Connection::open(&found).unwrap();
    let job = text(&opened, "SELECT job_id FROM jobs LIMIT 1");
    let episode = text(&opened, "SELECT CAST(id AS TEXT) FROM episodes LIMIT 1");
    drop(opened);
    let closed = archive(folder.path(), "closed", &[(&found, "tailback.db")]);
    // As earlier builds left it, and a demo that is killed after its last commit was copied back.
    let connection = Connection::open(&found).unwrap();
    assert_eq!(text(&connection, "PRAGMA journal_mode = WAL"), "wal");
    drop(connection);
    let in_wal_mode = archive(folder.path(), "wal", &[(&found, "tailback.db")]);
    for store in [&closed, &in_wal_mode] {
        for arguments in [&["report", &job][..], &["explain", &episode], &["alerts", "list"]] {
            let output = ran(folder.path(), arguments, store);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !output.stdout.is_empty(), "{arguments:?}: {error}");
        }
        let mut command = reader(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(store);
        let mut serving = Serving::of(command);
        let page = serving.page();
        for path in ["jobs", "now", "jobs"] {
            assert_eq!(page.ask(path).0, 200, "{path}");
        }
    }
}

#[test]
fn a_store_that_was_not_closed_names_what_to_copy() {
    let folder = open_folder();
    replay(folder.path(), "found");
    let found = folder.path().join("found/tailback.db");
    let connection = Connection::open(&found).unwrap();
    assert_eq!(text(&connection, "PRAGMA journal_mode = WAL"), "wal");
    connection.execute_batch("CREATE TABLE later (x)").unwrap();
    let log = folder.path().join("found/tailback.db-wal");
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    let store = archive(folder.path(), "unclosed", &[(&found, "tailback.db"), (&log, "tailback.db-wal")]);
    let output = ran(folder.path(), &["report", "7"], &store);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("was not closed") && error.contains("tailback.db-wal"), "{error}");
}

#[test]
fn results_are_not_readable_by_everyone() {
    let folder = open_folder();
    // A folder's name is no URI.
    replay(folder.path(), "file:x");
    let out = folder.path().join("file:x");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&out).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o640, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["dropped.json", "episodes.jsonl", "jobs.jsonl", "signals.jsonl", "tailback.db"]);
}
