//! One interface to both stores: SQL files, columns and parameters have the same names in both.

use crate::answer::ApiError;
use crate::postgres::Session;
use crate::sqlite::store_bytes;
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

/// The query in `sql/sqlite/NAME.sql` and `sql/postgres/NAME.sql`.
#[macro_export]
macro_rules! question {
    ($name:literal) => {
        $crate::store::Question {
            sqlite: include_str!(concat!("../sql/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../sql/postgres/", $name, ".sql")),
        }
    };
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
    pub fn get<T: Column>(&self, at: usize) -> Result<T, ApiError> {
        match self {
            Row::Sqlite(row) => Ok(row.get(at)?),
            Row::Postgres(row) => Ok(row.try_get(at)?),
        }
    }
}

/// The store within one transaction.
#[derive(Clone, Copy)]
pub enum Store<'a> {
    /// The embedded store.
    Sqlite(&'a Connection),
    /// The server.
    Postgres(&'a Session),
}

impl Store<'_> {
    /// All rows of a result.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn rows<T>(
        &self,
        question: Question,
        parameters: Parameters<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, ApiError>,
    ) -> Result<Vec<T>, ApiError> {
        match self {
            Store::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(question.sqlite)?;
                let mut rows = statement.query(params_from_iter(parameters.iter().map(embedded)))?;
                let mut list = Vec::new();
                while let Some(row) = rows.next()? {
                    list.push(read(&Row::Sqlite(row))?);
                }
                Ok(list)
            }
            Store::Postgres(session) => {
                let parameters: Vec<_> = parameters.iter().map(served).collect();
                let rows = session.ask(question.postgres, &parameters)?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// The first row of a result, if there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn first<T>(
        &self,
        question: Question,
        parameters: Parameters<'_>,
        read: impl FnMut(&Row<'_>) -> Result<T, ApiError>,
    ) -> Result<Option<T>, ApiError> {
        Ok(self.rows(question, parameters, read)?.into_iter().next())
    }

    /// The only row of a result that always has one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn one<T>(
        &self,
        question: Question,
        parameters: Parameters<'_>,
        read: impl FnMut(&Row<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        self.first(question, parameters, read)?
            .ok_or_else(|| ApiError::Store("the result has no row".to_string().into()))
    }

    /// The latest event time in the store, `None` before any data.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn clock(&self) -> Result<Option<f64>, ApiError> {
        self.one(question!("clock"), &[], |row| row.get(0))
    }

    /// The tier for a range with this number of points: `ticks`, `10s`, `1min` or `1h`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tier(&self, from: f64, to: f64, points: usize) -> Result<String, ApiError> {
        match self {
            Store::Sqlite(_) => Ok("ticks".to_string()),
            Store::Postgres(session) => {
                let rows = session.ask(include_str!("../sql/tier.sql"), &[&from, &to, &(points as f64)])?;
                rows.first().map_or(Ok("1h".to_string()), |row| Row::Postgres(row).get(0))
            }
        }
    }

    /// Size of the store on disk, in bytes.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn bytes(&self) -> Result<u64, ApiError> {
        match self {
            Store::Sqlite(connection) => Ok(store_bytes(connection)),
            Store::Postgres(session) => {
                let rows = session.ask(include_str!("../sql/database_bytes.sql"), &[])?;
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
