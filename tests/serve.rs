//! `tailback serve` over stores that it did not write itself.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rusqlite::Connection;
use schemas::sql::SQLITE_MIGRATIONS;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

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

/// A running `tailback serve`, ended when it goes.
struct Serving(Child, BufReader<ChildStderr>);

impl Serving {
    fn start(store: &Path) -> Serving {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tailback"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(store);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let told = BufReader::new(child.stderr.take().unwrap());
        Serving(child, told)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn status(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_string()
}

#[test]
fn a_store_of_an_older_version_is_brought_up_to_date_and_every_view_answers() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("old.db");
    let version = older_store(&store);
    let mut serving = Serving::start(&store);
    let told = serving.line();
    let wanted = format!("old.db was brought up to date, from version {version} to {}", version + 1);
    assert!(told.contains(&wanted), "{told}");
    let page = serving.line();
    let address = page.split("http://").nth(1).unwrap().split(['/', ' ']).next().unwrap();
    for path in ["/api/v1/now", "/api/v1/fabric", "/api/v1/files", "/api/v1/jobs", "/api/v1/health"] {
        assert_eq!(status(address, path), "HTTP/1.1 200 OK", "{path}");
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("new.db");
    older_store(&store);
    Connection::open(&store).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let mut serving = Serving::start(&store);
    let told = serving.line();
    assert!(told.contains("new.db: the store has version 99, newer than"), "{told}");
    assert!(!serving.0.wait().unwrap().success());
}
