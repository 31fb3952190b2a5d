//! A connection to the server, with its prepared statements.

use super::ReadError;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

/// All queries of a transaction see one commit, although the writers continue.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A connection within a transaction, and its prepared statements.
pub struct Session {
    client: Client,
    prepared: RefCell<HashMap<&'static str, Statement>>,
    /// Timeout for any response.
    timeout: Option<Duration>,
}

impl Session {
    /// A session over `client`; `timeout` bounds each query.
    pub fn new(client: Client, timeout: Option<Duration>) -> Session {
        Session { client, prepared: RefCell::default(), timeout }
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin(&self) -> Result<(), ReadError> {
        Ok(self.client.batch_execute(BEGIN).await?)
    }

    /// Ends the transaction.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn commit(&self) -> Result<(), ReadError> {
        Ok(self.client.batch_execute("COMMIT").await?)
    }

    /// Runs a query. Call it on a blocking thread of a runtime.
    ///
    /// # Errors
    /// When the database does not answer, or refuses the query.
    pub fn ask(&self, sql: &'static str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, ReadError> {
        let asked = self.asked(sql, parameters);
        Handle::current().block_on(async {
            match self.timeout {
                Some(most) => timeout(most, asked).await.map_err(|_| ReadError::Silent(most))?,
                None => asked.await,
            }
        })
    }

    async fn asked(
        &self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, ReadError> {
        let known = self.prepared.borrow().get(sql).cloned();
        let statement = match known {
            Some(statement) => statement,
            None => self.client.prepare(sql).await?,
        };
        let rows = self.client.query(&statement, parameters).await?;
        // PostgreSQL keeps the plan of a statement without parameters, in which the time is fixed.
        if !parameters.is_empty() {
            self.prepared.borrow_mut().insert(sql, statement);
        }
        Ok(rows)
    }
}
