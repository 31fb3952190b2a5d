//! The table `rejected_messages`: what a stage passed over, in the stage's own transaction.

use super::PgError;
use super::rows::{Columns, column, run};
use crate::text::text;
use schemas::RejectedMessage;
use schemas::rejected::head_of;
use tokio_postgres::Transaction;

/// Rows that the table keeps.
pub(super) const ROWS_MAX: i64 = 10_000;

/// Writes rejected messages, and deletes the oldest rows beyond [`ROWS_MAX`].
pub(super) async fn put(to: &Transaction<'_>, rows: &[RejectedMessage]) -> Result<(), PgError> {
    if rows.is_empty() {
        return Ok(());
    }
    let columns: &Columns<'_> = &[
        &column(rows, |r| text(&r.stage)),
        &column(rows, |r| text(&r.topic)),
        &column(rows, |r| r.partition),
        &column(rows, |r| r.offset),
        &column(rows, |r| r.written),
        &column(rows, |r| r.reason.name()),
        &column(rows, |r| text(&r.detail)),
        &column(rows, |r| text(&r.key)),
        &column(rows, |r| i64::try_from(r.size).unwrap_or(i64::MAX)),
        &column(rows, |r| head_of(&r.head)),
    ];
    run(to, include_str!("../../sql/postgres/put_rejected.sql"), columns).await?;
    run(to, include_str!("../../sql/postgres/bound_rejected.sql"), &[&ROWS_MAX]).await
}
