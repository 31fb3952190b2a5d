//! The connection to the outbox, in either database. The statements are written once: both know `$1`-like parameters, the
//! embedded one as `?1`.

use crate::outage::{DATABASE, Outage};
use crate::postgres::{PgError, PgSettings, connect};
use crate::sqlite::{StoreError, open_reader, open_writer};
use crate::text::plain;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};

/// The outbox of an embedded store.
static FILE: Outage = Outage::new("outbox file").quiet_for(Duration::from_secs(2));

/// Why the outbox refuses, by what to do next.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The database is away or busy: the same call may succeed later.
    #[error("{0}")]
    Retry(String),
    /// The account or the file may only be read.
    #[error("{0}")]
    Denied(String),
    /// Retrying does not help; the message contains the remedy.
    #[error("{0}")]
    Stop(String),
}

impl OutboxError {
    /// Whether the same call may succeed later without intervention.
    pub fn is_retryable(&self) -> bool {
        matches!(self, OutboxError::Retry(_))
    }
}

impl From<PgError> for OutboxError {
    fn from(error: PgError) -> OutboxError {
        let text = error.to_string();
        match &error {
            PgError::Stop(failure) if failure.cause.is_of_rights() => OutboxError::Denied(text),
            error if error.is_retryable() => OutboxError::Retry(text),
            _ => OutboxError::Stop(text),
        }
    }
}

impl From<StoreError> for OutboxError {
    fn from(error: StoreError) -> OutboxError {
        let text = error.to_string();
        match error {
            StoreError::CannotOpen { .. } | StoreError::NotClosed { .. } => OutboxError::Denied(text),
            error if error.is_retryable() => OutboxError::Retry(text),
            _ => OutboxError::Stop(text),
        }
    }
}

/// A parameter or a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Text.
    Text(String),
    /// A number; `None` is null.
    Real(Option<f64>),
    /// A whole number.
    Whole(i64),
}

impl Cell {
    pub(super) fn text(text: &str) -> Cell {
        Cell::Text(plain(text).into_owned())
    }

    pub(super) fn real(number: f64) -> Cell {
        Cell::Real(Some(number))
    }
}

/// A row, read from its first cell to its last.
pub(super) struct Cells(std::vec::IntoIter<Cell>);

impl Cells {
    pub(super) fn text(&mut self) -> String {
        match self.0.next() {
            Some(Cell::Text(text)) => text,
            _ => String::new(),
        }
    }

    pub(super) fn real(&mut self) -> Option<f64> {
        match self.0.next() {
            Some(Cell::Real(number)) => number,
            Some(Cell::Whole(number)) => Some(number as f64),
            _ => None,
        }
    }

    pub(super) fn whole(&mut self) -> i64 {
        match self.0.next() {
            Some(Cell::Whole(number)) => number,
            _ => 0,
        }
    }
}

/// A connection of its own to the outbox; one to a server is made again when it breaks.
#[derive(Debug)]
pub struct OutboxStore(Backend);

#[derive(Debug)]
enum Backend {
    Server(Box<PgSettings>, Option<Client>),
    File(PathBuf, Connection),
}

impl OutboxStore {
    /// The outage that failures of this connection belong to.
    pub fn outage(&self) -> &'static Outage {
        match &self.0 {
            Backend::Server(..) => &DATABASE,
            Backend::File(..) => &FILE,
        }
    }

    /// The outbox of a server; the first call connects.
    pub fn server(settings: PgSettings) -> OutboxStore {
        OutboxStore(Backend::Server(Box::new(settings), None))
    }

    /// The outbox of an embedded store, which is brought up to date.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn file(path: &Path) -> Result<OutboxStore, OutboxError> {
        Ok(OutboxStore(Backend::File(path.to_path_buf(), open_writer(path)?)))
    }

    /// The same to look at only: a store that cannot be written is read.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn file_to_read(path: &Path) -> Result<OutboxStore, OutboxError> {
        let connection = match open_writer(path) {
            Err(StoreError::CannotOpen { .. }) => open_reader(path)?,
            opened => opened?,
        };
        Ok(OutboxStore(Backend::File(path.to_path_buf(), connection)))
    }

    /// Runs a query; returns each row's cells.
    pub(super) async fn rows(&mut self, sql: &str, with: &[Cell]) -> Result<Vec<Cells>, OutboxError> {
        match &mut self.0 {
            Backend::File(path, connection) => {
                file_rows(connection, sql, with).map_err(|error| StoreError::from_sqlite(path, error).into())
            }
            Backend::Server(settings, client) => {
                let live = live(settings, client).await?;
                let sql = sql.replace("/*skip locked*/", "FOR UPDATE OF o SKIP LOCKED");
                let found = live.query(&sql, &parameters(with)).await;
                Ok(reconnect_after(client, found)?.iter().map(server_cells).collect())
            }
        }
    }

    /// Runs a statement; returns how many rows it changed.
    pub(super) async fn run(&mut self, sql: &str, with: &[Cell]) -> Result<u64, OutboxError> {
        match &mut self.0 {
            Backend::File(path, connection) => {
                let changed = connection.prepare_cached(&sql.replace('$', "?"));
                let changed =
                    changed.and_then(|mut s| s.execute(rusqlite::params_from_iter(with.iter().map(value))));
                changed.map(|rows| rows as u64).map_err(|error| StoreError::from_sqlite(path, error).into())
            }
            Backend::Server(settings, client) => {
                let changed = live(settings, client).await?.execute(sql, &parameters(with)).await;
                Ok(reconnect_after(client, changed)?)
            }
        }
    }
}

async fn live<'a>(settings: &PgSettings, client: &'a mut Option<Client>) -> Result<&'a Client, PgError> {
    if client.as_ref().is_none_or(Client::is_closed) {
        *client = Some(connect(settings).await?);
    }
    client.as_ref().ok_or_else(|| PgError::retry("the connection is closed"))
}

/// After a retryable error the next call connects again.
fn reconnect_after<T>(
    client: &mut Option<Client>,
    result: Result<T, tokio_postgres::Error>,
) -> Result<T, PgError> {
    let result = result.map_err(PgError::from);
    if result.as_ref().is_err_and(PgError::is_retryable) {
        *client = None;
    }
    result
}

fn parameters(cells: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    fn of(cell: &Cell) -> &(dyn ToSql + Sync) {
        match cell {
            Cell::Text(text) => text,
            Cell::Real(number) => number,
            Cell::Whole(number) => number,
        }
    }
    cells.iter().map(of).collect()
}

fn server_cells(row: &tokio_postgres::Row) -> Cells {
    let cell = |(at, column): (usize, &tokio_postgres::Column)| match *column.type_() {
        Type::FLOAT8 => Cell::Real(row.get(at)),
        Type::INT8 => Cell::Whole(row.get::<_, Option<i64>>(at).unwrap_or_default()),
        _ => Cell::Text(row.get::<_, Option<String>>(at).unwrap_or_default()),
    };
    Cells(row.columns().iter().enumerate().map(cell).collect::<Vec<_>>().into_iter())
}

fn value(cell: &Cell) -> rusqlite::types::Value {
    match cell {
        Cell::Text(text) => text.clone().into(),
        Cell::Real(number) => (*number).into(),
        Cell::Whole(number) => (*number).into(),
    }
}

fn file_rows(connection: &Connection, sql: &str, with: &[Cell]) -> rusqlite::Result<Vec<Cells>> {
    use rusqlite::types::ValueRef;
    let mut statement = connection.prepare_cached(&sql.replace('$', "?"))?;
    let columns = statement.column_count();
    let found = statement.query_map(rusqlite::params_from_iter(with.iter().map(value)), |row| {
        let cell = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Cell::Real(None),
                ValueRef::Integer(number) => Cell::Whole(number),
                ValueRef::Real(number) => Cell::Real(Some(number)),
                other => Cell::Text(other.as_str()?.to_string()),
            })
        };
        Ok(Cells((0..columns).map(cell).collect::<rusqlite::Result<Vec<_>>>()?.into_iter()))
    })?;
    found.collect()
}
