//! Why the store refuses, by what to do next: try again, or stop and report to a person.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// What went wrong with a store, in one sentence that names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another connection holds the lock for longer than the timeout: try again.
    #[error("{}: another process is writing to the store; trying again helps", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// No room: free some, or set a smaller limit.
    #[error("{}: the disk is full; nothing of this commit was written", .path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The content is damaged: restore or remove the file.
    #[error("{}: the store is damaged ({detail}); move it away or restore it from a backup", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file of another program: name another one.
    #[error("{}: this is no store of Tailback but {found}; it was left as it is", .path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// Written by a newer Tailback: use that one.
    #[error("{}: the store has version {found}, newer than {known}, the newest this Tailback knows", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: usize,
        /// The newest version known here.
        known: usize,
    },
    /// A reader met tables of an older Tailback: a writer brings them up to date.
    #[error("{}: the store has version {found}, older than {known}; opening it with a command that writes brings it up to date", .path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: usize,
        /// The version needed.
        known: usize,
    },
    /// Tables of another build, which has the same version: let that build read it.
    #[error(
        "{}: the store was written by another build of Tailback ({detail}): replay the rows again, or read it with that build",
        .path.display()
    )]
    OtherBuild {
        /// The file.
        path: PathBuf,
        /// What is missing.
        detail: String,
    },
    /// Neither the folder nor the log beside the store may be written, and the log has commits.
    #[error(
        "{}: the store was not closed and its folder cannot be written: copy it together with {}-wal into a folder of your own",
        .path.display(), .path.display()
    )]
    NotClosed {
        /// The file.
        path: PathBuf,
    },
    /// Missing, a folder, or without permission.
    #[error("{}: the store cannot be opened: {detail}", .path.display())]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        detail: String,
    },
    /// Any other error of SQLite; the batch breaks a rule of the tables, or the disk fails.
    #[error("{}: SQLite refuses: {source}", .path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// In SQLite's words.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether the same call may succeed later without a person's help.
    pub fn is_retryable(&self) -> bool {
        match self {
            StoreError::Busy { .. } => true,
            StoreError::DiskFull { .. }
            | StoreError::Corrupt { .. }
            | StoreError::NotOurs { .. }
            | StoreError::Newer { .. }
            | StoreError::Older { .. }
            | StoreError::OtherBuild { .. }
            | StoreError::NotClosed { .. }
            | StoreError::CannotOpen { .. }
            | StoreError::Refused { .. } => false,
        }
    }

    /// The store error that an error of SQLite amounts to.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_path_buf();
        let detail = source.to_string();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, detail },
            Some(ErrorCode::NotADatabase) => {
                StoreError::NotOurs { path, found: "a file of another kind".to_string() }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                StoreError::CannotOpen { path, detail }
            }
            _ if is_of_other_build(&source) => StoreError::OtherBuild { path, detail },
            _ => StoreError::Refused { path, source },
        }
    }
}

/// Whether a table or column is missing: between releases the tables of two builds may differ.
pub fn is_of_other_build(error: &rusqlite::Error) -> bool {
    let text = error.to_string();
    ["no such table", "no such column", "has no column named"].iter().any(|words| text.contains(words))
}
