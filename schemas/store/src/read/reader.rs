//! One interface to both databases, and the questions that concern all of it.

use super::{ReadError, Session, question};
use rusqlite::{Connection, params_from_iter};
use tokio_postgres::types::{FromSql, ToSql};

/// A query in the SQL of each store.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// For the embedded store; parameters are `?1`, `?2`, …
    pub sqlite: &'static str,
    /// For the server; parameters are `$1`, `$2`, … with their types.
    pub postgres: &'static str,
}

/// Types of parameters: text, `bool`, `i64`, `f64`, and options of them. The server refuses other integers.
pub trait Parameter: rusqlite::ToSql + ToSql + Sync {}
impl<T: rusqlite::ToSql + ToSql + Sync> Parameter for T {}

/// The parameters of one query.
pub type Parameters<'a> = &'a [&'a dyn Parameter];

/// Types of columns: text, `bool`, `i64`, `f64`, and options of them. The type in the server must match.
pub trait Column: rusqlite::types::FromSql + for<'a> FromSql<'a> {}
impl<T: rusqlite::types::FromSql + for<'a> FromSql<'a>> Column for T {}

/// A row of a result.
#[derive(Clone, Copy)]
pub enum Row<'a> {
    /// A row of the embedded store.
    Sqlite(&'a rusqlite::Row<'a>),
    /// A row of the server.
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// A column, by its index from 0.
    ///
    /// # Errors
    /// When the column does not exist or has another type.
    pub fn get<T: Column>(&self, at: usize) -> Result<T, ReadError> {
        match self {
            Row::Sqlite(row) => Ok(row.get(at)?),
            Row::Postgres(row) => Ok(row.try_get(at)?),
        }
    }
}

/// One transaction of either database.
#[derive(Clone, Copy)]
pub enum Reader<'a> {
    /// The embedded store.
    Sqlite(&'a Connection),
    /// The server.
    Postgres(&'a Session),
}

impl Reader<'_> {
    /// All rows of a result.
    ///
    /// # Errors
    /// When the store cannot be read, or what `read` returns.
    pub fn rows<T, E: From<ReadError>>(
        &self,
        question: Question,
        parameters: Parameters<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        match self {
            Reader::Sqlite(connection) => {
                let prepared = connection.prepare_cached(question.sqlite);
                let mut statement = prepared.map_err(ReadError::from)?;
                let parameters = params_from_iter(parameters.iter().map(embedded));
                let mut rows = statement.query(parameters).map_err(ReadError::from)?;
                let mut list = Vec::new();
                while let Some(row) = rows.next().map_err(ReadError::from)? {
                    list.push(read(&Row::Sqlite(row))?);
                }
                Ok(list)
            }
            Reader::Postgres(session) => {
                let parameters: Vec<_> = parameters.iter().map(served).collect();
                let rows = session.ask(question.postgres, &parameters)?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// The first row of a result, if there is one.
    ///
    /// # Errors
    /// When the store cannot be read, or what `read` returns.
    pub fn first<T, E: From<ReadError>>(
        &self,
        question: Question,
        parameters: Parameters<'_>,
        read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        Ok(self.rows(question, parameters, read)?.into_iter().next())
    }

    /// The only row of a result that always has one.
    ///
    /// # Errors
    /// When the store cannot be read, or what `read` returns.
    pub fn one<T, E: From<ReadError>>(
        &self,
        question: Question,
        parameters: Parameters<'_>,
        read: impl FnMut(&Row<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.first(question, parameters, read)?.ok_or_else(|| ReadError::NoRow.into())
    }

    /// The latest event time in the store, `None` before any data.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn clock(&self) -> Result<Option<f64>, ReadError> {
        self.one(question!("clock"), &[], |row| row.get(0))
    }

    /// The tier for a range with this number of points: `ticks`, `10s`, `1min` or `1h`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tier(&self, from: f64, to: f64, points: usize) -> Result<String, ReadError> {
        match self {
            Reader::Sqlite(_) => Ok("ticks".to_string()),
            Reader::Postgres(session) => {
                let rows = session
                    .ask(include_str!("../../sql/read/postgres/tier.sql"), &[&from, &to, &(points as f64)])?;
                rows.first().map_or(Ok("1h".to_string()), |row| Row::Postgres(row).get(0))
            }
        }
    }

    /// Size of the store on disk, in bytes.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn bytes(&self) -> Result<u64, ReadError> {
        match self {
            Reader::Sqlite(connection) => Ok(store_bytes(connection)),
            Reader::Postgres(session) => {
                let rows = session.ask(include_str!("../../sql/read/postgres/database_bytes.sql"), &[])?;
                let bytes: i64 = rows.first().map_or(Ok(0), |row| Row::Postgres(row).get(0))?;
                Ok(bytes.max(0).cast_unsigned())
            }
        }
    }
}

fn embedded<'a>(parameter: &&'a dyn Parameter) -> &'a dyn rusqlite::ToSql {
    *parameter
}

fn served<'a>(parameter: &&'a dyn Parameter) -> &'a (dyn ToSql + Sync) {
    *parameter
}

/// Size of the store's file and of its write-ahead log.
fn store_bytes(connection: &Connection) -> u64 {
    let Some(path) = connection.path() else {
        return 0;
    };
    let size = |path: &str| std::fs::metadata(path).map_or(0, |facts| facts.len());
    size(path) + size(&format!("{path}-wal"))
}
