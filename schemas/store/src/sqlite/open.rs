//! Opening a store: the check that the file is ours, its settings, its migrations.

use super::StoreError;
use crate::migrations::SQLITE_MIGRATIONS;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Marks the file as Tailback's: the bytes `TAIL` at SQLite's offset for it.
const APPLICATION_ID: i32 = 0x5441_494C;

/// How long a statement waits for another connection's lock.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Rights of a new store, which the umask may narrow.
const MODE: u32 = 0o640;

/// Statements kept prepared; more than there are files in `schemas/store/sql/sqlite/`.
const STATEMENTS: usize = 64;

/// A connection that may write: checked, configured and migrated.
///
/// # Errors
/// [`StoreError`] says whether to retry, or what prevents it.
pub fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = open_with(path, SQLITE_MIGRATIONS)?;
    let put = |connection: &mut Connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        put_metrics(&transaction)?;
        transaction.commit()
    };
    put(&mut connection).map_err(|e| StoreError::from_sqlite(path, e))?;
    Ok(connection)
}

/// Stores the catalogue of metrics.
///
/// # Errors
/// As SQLite reports them.
pub fn put_metrics(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(include_str!("../../sql/sqlite/put_metric.sql"))?;
    crate::metrics::rows().try_for_each(|row| {
        let fields =
            (row.metric, row.subject, row.title, row.unit, row.direction, row.measures, row.resource);
        statement.execute(fields).map(|_| ())
    })
}

/// [`open_writer`] with another list of migrations.
pub(super) fn open_with(path: &Path, migrations: &[&str]) -> Result<Connection, StoreError> {
    let error = |e| StoreError::from_sqlite(path, e);
    create_private(path)?;
    let mut connection = Connection::open_with_flags(plain_path(path), writing()).map_err(error)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(error)?;
    check_owner(&connection, path)?;
    check_version(&connection, path, migrations.len())?;
    configure(&connection).map_err(error)?;
    migrate(&mut connection, path, migrations)?;
    Ok(connection)
}

/// Makes an empty file that only the own account and its group may read, where there is none: it will name users' jobs. SQLite
/// gives the files beside it the same rights.
fn create_private(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(MODE).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::CannotOpen { path: path.to_path_buf(), detail: error.to_string() })
        }
        _ => Ok(()),
    }
}

/// A path is never a URI, whatever it begins with.
pub(super) fn plain_path(path: &Path) -> PathBuf {
    if path.is_relative() { Path::new(".").join(path) } else { path.to_path_buf() }
}

fn writing() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// A file that SQLite keeps beside the store.
pub(super) fn sidecar(path: &Path, suffix: &str) -> PathBuf {
    let mut file = path.as_os_str().to_os_string();
    file.push(suffix);
    file.into()
}

/// Closes a finished store: its file contains everything, and readers need no write access to its folder. `false` if
/// another connection that is open prevents it; the store is then left in WAL mode, which is valid as well.
pub(super) fn finish(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let done = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .and_then(|()| connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0)));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    match done {
        Ok(mode) => Ok(String::eq(&mode, "delete")),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Ok(false),
            _ => Err(error),
        },
    }
}

/// Removes a store with its WAL files, if there is one; never a file of another program.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    let error = |e| StoreError::from_sqlite(path, e);
    let reader = Connection::open_with_flags(plain_path(path), OpenFlags::SQLITE_OPEN_READ_ONLY);
    check_owner(&reader.map_err(error)?, path)?;
    for suffix in ["", "-wal", "-shm"] {
        match std::fs::remove_file(sidecar(path, suffix)) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                let detail = format!("it cannot be removed: {source}");
                return Err(StoreError::CannotOpen { path: path.to_path_buf(), detail });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses the file of another program before anything is written to it. A file without tables has no owner:
/// a new one, or one whose creation was cut short.
pub(super) fn check_owner(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let error = |e| StoreError::from_sqlite(path, e);
    let objects: u32 = connection
        .query_row(include_str!("../../sql/sqlite/objects.sql"), [], |row| row.get(0))
        .map_err(error)?;
    let owner: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(error)?;
    if owner == APPLICATION_ID || (objects == 0 && owner == 0) {
        return Ok(());
    }
    Err(StoreError::NotOurs {
        path: path.to_path_buf(),
        found: format!("an SQLite file of another program (application id {owner})"),
    })
}

/// The file's version, unless it is newer than the `known` migrations.
pub(super) fn check_version(connection: &Connection, path: &Path, known: usize) -> Result<usize, StoreError> {
    let found: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|e| StoreError::from_sqlite(path, e))?;
    let found = found as usize;
    if found > known {
        return Err(StoreError::Newer { path: path.to_path_buf(), found, known });
    }
    Ok(found)
}

/// `synchronous=NORMAL` in WAL mode syncs at checkpoints, not at commits. A killed process loses nothing:
/// what it wrote is with the operating system. A power failure may lose the last commits, results, positions
/// and state together, and never damages the file.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    // Before WAL mode writes the first page: later it would take a VACUUM.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // 64 MiB of pages in memory: the newest bucket's, which every commit touches again.
    connection.pragma_update(None, "cache_size", -65_536)?;
    // 16 MiB of log: a page that several commits touch is copied back once.
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

/// Brings the tables up to date: one transaction a version, each of which leaves a complete store behind.
fn migrate(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<(), StoreError> {
    let error = |e| StoreError::from_sqlite(path, e);
    loop {
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(error)?;
        // Read under the lock: another process may have migrated in between.
        let version = check_version(&transaction, path, migrations.len())?;
        let Some(migration) = migrations.get(version) else {
            return Ok(());
        };
        transaction.execute_batch(migration).map_err(error)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(error)?;
        transaction.pragma_update(None, "user_version", version as u32 + 1).map_err(error)?;
        transaction.commit().map_err(error)?;
    }
}
