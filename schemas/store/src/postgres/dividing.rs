//! A transaction of which the server may refuse single rows.
//!
//! A commit is first written without savepoints. If the server refuses a row with a data error, the commit is written again
//! with a savepoint for each table, and what is refused is halved until the refused rows are alone. They go to
//! `rejected_messages` in the same transaction.

use super::rows::Of;
use super::{PgError, rejected};
use futures::future::BoxFuture;
use schemas::rejected::head_of;
use schemas::{RejectReason, RejectedMessage};
use std::fmt::Debug;
use tokio_postgres::Transaction;

/// Rows of one table that a commit finds alone; after that a part that is refused is refused as a whole.
const ALONE_MAX: u64 = 200;

/// Writes rows of a table.
pub(super) type Put<T> =
    for<'x> fn(&'x Transaction<'x>, Of<'x>, &'x [T]) -> BoxFuture<'x, Result<(), PgError>>;

/// Rows of a table that the server refused in a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRows {
    /// The table.
    pub table: &'static str,
    /// How many.
    pub rows: u64,
    /// What the server reported of the first.
    pub error: String,
}

/// A transaction, and what the server refused in it.
pub(super) struct Dividing<'c> {
    pub(super) to: Transaction<'c>,
    divides: bool,
    refused: Vec<RefusedRows>,
    kept: Vec<RejectedMessage>,
}

impl<'c> Dividing<'c> {
    /// A transaction in which refused rows are found and left out if it `divides`; else they fail it.
    pub(super) fn new(to: Transaction<'c>, divides: bool) -> Dividing<'c> {
        Dividing { to, divides, refused: Vec::new(), kept: Vec::new() }
    }

    /// Whether it finds refused rows.
    pub(super) fn divides(&self) -> bool {
        self.divides
    }

    /// Writes rows of `table`.
    pub(super) async fn put<T: Debug>(
        &mut self,
        table: &'static str,
        of: Of<'_>,
        rows: &[T],
        put: Put<T>,
    ) -> Result<(), PgError> {
        if rows.is_empty() {
            return Ok(());
        }
        if !self.divides {
            return put(&self.to, of, rows).await;
        }
        let mut left = vec![rows];
        while let Some(rows) = left.pop() {
            let Some(error) = attempt(&mut self.to, of, rows, put).await? else { continue };
            match halves(rows, self.alone(table)) {
                Some((first, second)) => left.extend([second, first]),
                None => self.refuse(table, of, rows, error),
            }
        }
        Ok(())
    }

    /// Refused rows of `table` so far.
    fn alone(&self, table: &str) -> u64 {
        self.refused.iter().find(|refused| refused.table == table).map_or(0, |refused| refused.rows)
    }

    fn refuse<T: Debug>(&mut self, table: &'static str, of: Of<'_>, rows: &[T], error: String) {
        let content = rows.first().map(|row| format!("{row:?}")).unwrap_or_default();
        let detail = match rows.len() {
            1 => error.clone(),
            more => format!("{more} rows, of which the first is kept: {error}"),
        };
        self.kept.push(RejectedMessage {
            stage: of.stage.to_string(),
            topic: table.to_string(),
            partition: of.partition,
            offset: of.position,
            written: true,
            reason: RejectReason::RefusedRow,
            detail,
            key: String::new(),
            size: content.len() as u64,
            head: head_of(content.as_bytes()),
        });
        match self.refused.iter_mut().find(|refused| refused.table == table) {
            Some(refused) => refused.rows += rows.len() as u64,
            None => self.refused.push(RefusedRows { table, rows: rows.len() as u64, error }),
        }
    }

    /// Keeps what was refused, and commits; what was refused comes back.
    pub(super) async fn commit(mut self) -> Result<Vec<RefusedRows>, PgError> {
        let kept = std::mem::take(&mut self.kept);
        if let Some(first) = kept.first() {
            let of = Of { stage: &first.stage, partition: first.partition, position: first.offset, ids: &[] };
            self.put("rejected_messages", of, &kept, |to, _, rows| Box::pin(rejected::put(to, rows))).await?;
        }
        self.to.commit().await?;
        Ok(self.refused)
    }
}

/// Writes rows behind a savepoint; `Some` is why the server refused one of them.
async fn attempt<T>(
    to: &mut Transaction<'_>,
    of: Of<'_>,
    rows: &[T],
    put: Put<T>,
) -> Result<Option<String>, PgError> {
    let savepoint = to.transaction().await?;
    match put(&savepoint, of, rows).await {
        Ok(()) => {
            savepoint.commit().await?;
            Ok(None)
        }
        Err(PgError::Refused(error)) => {
            savepoint.rollback().await?;
            Ok(Some(error))
        }
        Err(other) => Err(other),
    }
}

/// What to write instead of `rows` that were refused, when `alone` rows were refused before; `None` gives them up.
fn halves<T>(rows: &[T], alone: u64) -> Option<(&[T], &[T])> {
    (rows.len() > 1 && alone < ALONE_MAX).then(|| rows.split_at(rows.len() / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_rows_are_halved_until_alone() {
        assert_eq!(halves(&[1, 2, 3], 0), Some((&[1][..], &[2, 3][..])));
        assert_eq!(halves(&[1], 0), None);
        assert_eq!(halves(&[1, 2, 3], ALONE_MAX), None, "the number of statements is bounded");
    }
}
