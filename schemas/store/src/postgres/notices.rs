//! Notices of a batch, and to whom they go.

use super::PgError;
use super::rows::column;
use crate::text::{notice_json, notice_state, text};
use schemas::{Notice, RoutedNotice};
use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

pub(super) async fn put(to: &Transaction<'_>, notices: &[RoutedNotice]) -> Result<(), PgError> {
    if notices.is_empty() {
        return Ok(());
    }
    let rows: Vec<&Notice> = notices.iter().map(|routed| &routed.notice).collect();
    let columns: &[&(dyn ToSql + Sync)] = &[
        &column(&rows, |n| text(&n.incident)),
        &column(&rows, |n| text(&n.rule)),
        &column(&rows, |n| n.severity.name()),
        &column(&rows, |n| text(&n.subject)),
        &column(&rows, |n| notice_state(n)),
        &column(&rows, |n| n.started_s),
        &column(&rows, |n| n.fired_s),
        &column(&rows, |n| n.resolved_s),
        &column(&rows, |n| n.advice.valid_until_s),
        &column(&rows, |n| n.sequence.cast_signed()),
        &column(&rows, |n| n.advice.action.name()),
        &column(&rows, |n| text(&n.summary)),
        &column(&rows, |n| notice_json(n)),
    ];
    to.execute(include_str!("../../sql/outbox/put_incidents.pg.sql"), columns).await?;
    let pair = |routed: &'_ RoutedNotice| -> Vec<(Notice, String)> {
        routed.receivers.iter().map(|receiver| (routed.notice.clone(), receiver.clone())).collect()
    };
    let rows: Vec<(Notice, String)> = notices.iter().flat_map(pair).collect();
    let columns: &[&(dyn ToSql + Sync)] = &[
        &column(&rows, |(n, _)| text(&n.key)),
        &column(&rows, |(_, receiver)| text(receiver)),
        &column(&rows, |(n, _)| text(&n.incident)),
        &column(&rows, |(n, _)| n.sequence.cast_signed()),
        &column(&rows, |(n, _)| n.kind.name()),
        &column(&rows, |(n, _)| notice_json(n)),
    ];
    to.execute(include_str!("../../sql/outbox/put_notices.pg.sql"), columns).await?;
    Ok(())
}
