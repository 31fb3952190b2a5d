//! The store, opened read-only and asked off the async threads.

use crate::answer::ApiError;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const BUSY_WAIT: Duration = Duration::from_secs(2);
const STATEMENTS_CACHED: usize = 64;

/// One guarded connection. It is opened at the first question that finds a store with tables, since the
/// writer may come up later than the page.
pub struct StoreReader {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl StoreReader {
    /// A reader of the store at `path`, which need not exist yet.
    pub fn new(path: PathBuf) -> Arc<StoreReader> {
        Arc::new(StoreReader { path, connection: Mutex::new(None) })
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `questions` on a blocking thread, in one transaction so that they see one state of the store.
    ///
    /// # Errors
    /// [`ApiError::Waiting`] while there is no store, else what `questions` returns.
    pub async fn read<T, F>(self: &Arc<Self>, questions: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&Store<'_>) -> Result<T, ApiError> + Send + 'static,
    {
        let reader = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || reader.read_blocking(questions));
        task.await.map_err(|_| ApiError::Interrupted)?
    }

    fn read_blocking<T>(
        &self,
        questions: impl FnOnce(&Store<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = Some(open(&self.path)?);
        }
        let Some(connection) = slot.as_mut() else {
            return Err(ApiError::Interrupted);
        };
        let transaction = connection.transaction()?;
        let answer = questions(&Store { connection: &transaction })?;
        transaction.finish()?;
        Ok(answer)
    }
}

fn open(path: &Path) -> Result<Connection, ApiError> {
    if !path.exists() {
        return Err(ApiError::Waiting("the store does not exist yet".to_string()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    let ready: i64 = connection.query_row(include_str!("../sql/store_is_ready.sql"), [], |row| row.get(0))?;
    if ready == 0 {
        return Err(ApiError::Waiting("the store has no tables yet".to_string()));
    }
    Ok(connection)
}

/// The store within one transaction.
pub struct Store<'a> {
    connection: &'a Connection,
}

impl Store<'_> {
    /// All rows of a query.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ApiError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params, row)?.collect::<rusqlite::Result<Vec<T>>>()?;
        Ok(rows)
    }

    /// The first row of a query, if it has any.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, ApiError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params, row).optional()?)
    }

    /// The one row of a query that always has one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ApiError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params, row)?)
    }

    /// The latest event time in the store, `None` before any data.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn clock(&self) -> Result<Option<f64>, ApiError> {
        self.one(include_str!("../sql/clock.sql"), [], |row| row.get(0))
    }
}
