//! Connections that only read, also where neither file nor folder may be written.

use super::StoreError;
use super::open::{BUSY_TIMEOUT, check_owner, check_version, plain_path, sidecar};
use crate::migrations::SQLITE_MIGRATIONS;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fmt::Write;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A connection that only reads.
#[derive(Debug)]
pub struct ReadConnection {
    /// The connection.
    pub connection: Connection,
    /// Whether the file is taken to be finished: what another process writes from now on is not seen, and may be read wrongly.
    pub is_immutable: bool,
}

/// A connection for readers: it cannot write, and it never blocks the writer.
///
/// # Errors
/// [`StoreError`] if there is no store at `path`, or none of the version this program reads.
pub fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = open_to_read(path)?.connection;
    check_owner(&connection, path)?;
    let known = SQLITE_MIGRATIONS.len();
    let found = check_version(&connection, path, known)?;
    if found < known {
        return Err(StoreError::Older { path: path.to_path_buf(), found, known });
    }
    Ok(connection)
}

/// Opens any SQLite file to read. Readers of a store in WAL mode write beside it; where they cannot, a store whose log is empty
/// is read as a file that does not change.
///
/// # Errors
/// [`StoreError::NotClosed`] for a store whose log has commits that cannot be read there, or why it cannot be opened.
pub fn open_to_read(path: &Path) -> Result<ReadConnection, StoreError> {
    let error = |e| StoreError::from_sqlite(path, e);
    match opened(&plain_path(path), OpenFlags::empty()) {
        Ok(connection) => Ok(ReadConnection { connection, is_immutable: false }),
        Err(refused) if needs_to_write(&refused) && is_readable(path) => {
            if std::fs::metadata(sidecar(path, "-wal")).is_ok_and(|log| log.len() > 0) {
                return Err(StoreError::NotClosed { path: path.to_path_buf() });
            }
            let finished = opened(Path::new(&immutable_uri(path)), OpenFlags::SQLITE_OPEN_URI);
            // The reason that concerns the file itself is the first one.
            let connection = finished.map_err(|_| error(refused))?;
            Ok(ReadConnection { connection, is_immutable: true })
        }
        Err(other) => Err(error(other)),
    }
}

/// Opens a file; the first query finds out whether it can be read.
fn opened(path: &Path, more: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.query_row(include_str!("../../sql/sqlite/objects.sql"), [], |_| Ok(()))?;
    Ok(connection)
}

/// Whether it is a file that this account may read.
fn is_readable(path: &Path) -> bool {
    File::open(path).and_then(|file| file.metadata()).is_ok_and(|known| known.is_file())
}

fn needs_to_write(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// The file as a URI; a path may contain any byte but 0.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in plain_path(path).as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte))
            }
            other => drop(write!(uri, "%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_a_valid_uri() {
        assert_eq!(immutable_uri(Path::new("/a b/ü?.db")), "file:/a%20b/%C3%BC%3F.db?immutable=1");
        assert_eq!(immutable_uri(Path::new("file:x")), "file:./file%3Ax?immutable=1");
    }
}
