//! The embedded store.

use crate::answer::ApiError;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use store::read::Reader;
use store::sqlite::{ReadConnection, open_to_read};

const BUSY_WAIT: Duration = Duration::from_secs(2);
const STATEMENTS_CACHED: usize = 64;

/// One guarded connection. The first request that finds a store with tables opens it, since the writer may start later
/// than the page.
pub struct Embedded {
    path: PathBuf,
    connection: Mutex<Option<ReadConnection>>,
}

impl Embedded {
    /// The store at `path`, which need not exist yet.
    pub fn new(path: PathBuf) -> Embedded {
        Embedded { path, connection: Mutex::new(None) }
    }

    /// Runs `questions` in one transaction.
    ///
    /// # Errors
    /// [`ApiError::Waiting`] while there is no store, else what `questions` returns.
    pub fn read<T>(&self, questions: impl FnOnce(&Reader<'_>) -> Result<T, ApiError>) -> Result<T, ApiError> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = match slot.take() {
            Some(open) => open,
            None => open(&self.path)?,
        };
        let transaction = open.connection.transaction()?;
        let answer = questions(&Reader::Sqlite(&transaction));
        transaction.finish()?;
        // A file that was taken to be finished may have been replaced since.
        *slot = Some(open).filter(|open| !open.is_immutable);
        answer
    }
}

fn open(path: &Path) -> Result<ReadConnection, ApiError> {
    if !path.exists() {
        return Err(ApiError::Waiting("the store does not exist yet".to_string()));
    }
    let open = open_to_read(path).map_err(|error| ApiError::Store(error.into()))?;
    open.connection.busy_timeout(BUSY_WAIT)?;
    open.connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    let ready: i64 = open.connection.query_row(store::read::STORE_IS_READY, [], |row| row.get(0))?;
    if ready == 0 {
        return Err(ApiError::Waiting("the store has no tables yet".to_string()));
    }
    Ok(open)
}
