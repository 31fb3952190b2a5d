//! One question to either store: the same names of SQL files, of columns and of parameters in both.

use crate::answer::ApiError;
use crate::postgres::Session;
use crate::sqlite::store_bytes;
use rusqlite::{Connection, params_from_iter};
use tokio_postgres::types::{FromSql, ToSql};

/// A question in the words of each store.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// For the embedded store; parameters are `?1`, `?2`, …
    pub sqlite: &'static str,
    /// For the server; parameters are `$1`, `$2`, … and say their types.
    pub postgres: &'static str,
}

/// The question that stands in `sql/sqlite/NAME.sql` and `sql/postgres/NAME.sql`.
#[macro_export]
macro_rules! question {
    ($name:literal) => {
        $crate::store::Question {
            sqlite: include_str!(concat!("../sql/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../sql/postgres/", $name, ".sql")),
        }
    };
}

/// What may be put into a question: text, `bool`, `i64`, `f64`, and options of them. The server refuses other integers.
pub trait Parameter: rusqlite::ToSql + ToSql + Sync {}
impl<T: rusqlite::ToSql + ToSql + Sync> Parameter for T {}

/// The parameters of one question.
pub type Parameters<'a> = &'a [&'a dyn Parameter];

/// What a column may be read as: text, `bool`, `i64`, `f64`, and options of them. The server's type has to be that one.
pub trait Column: rusqlite::types::FromSql + for<'a> FromSql<'a> {}
impl<T: rusqlite::types::FromSql + for<'a> FromSql<'a>> Column for T {}

/// A row of an answer.
#[derive(Clone, Copy)]
pub enum Row<'a> {
    /// Of the embedded store.
    Sqlite(&'a rusqlite::Row<'a>),
    /// Of the server.
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// A column, by its place from 0.
    ///
    /// # Errors
    /// When there is no such column, or it is of another type.
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
    /// The embedded one.
    Sqlite(&'a Connection),
    /// The server's.
    Postgres(&'a Session),
}

impl Store<'_> {
    /// All rows of an answer.
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
                let mut told = Vec::new();
                while let Some(row) = rows.next()? {
                    told.push(read(&Row::Sqlite(row))?);
                }
                Ok(told)
            }
            Store::Postgres(session) => {
                let parameters: Vec<_> = parameters.iter().map(served).collect();
                let rows = session.ask(question.postgres, &parameters)?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// The first row of an answer, if it has any.
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

    /// The one row of an answer that always has one.
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
            .ok_or_else(|| ApiError::Store("an answer has no row".to_string().into()))
    }

    /// The latest event time in the store, `None` before any data.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn clock(&self) -> Result<Option<f64>, ApiError> {
        self.one(question!("clock"), &[], |row| row.get(0))
    }

    /// The tier in which a range of so many points is read: `ticks`, `10s`, `1min` or `1h`.
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

    /// What the store takes on disk.
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
