//! Writing notices, as a part of a batch.

use crate::postgres::PgError;
use crate::text::{json_text, text};
use rusqlite::{Transaction as SqliteTransaction, params};
use schemas::{Notice, NoticeKind, RoutedNotice};
use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

/// A notice as JSON.
fn json(notice: &Notice) -> String {
    json_text(serde_json::to_string(notice).unwrap_or_default())
}

fn state(notice: &Notice) -> &'static str {
    if notice.kind == NoticeKind::Resolved { "resolved" } else { "firing" }
}

fn column<'a, T, U>(rows: &'a [T], of: impl Fn(&'a T) -> U) -> Vec<U> {
    rows.iter().map(of).collect()
}

/// Writes notices to the server.
pub(crate) async fn put_pg(to: &Transaction<'_>, notices: &[RoutedNotice]) -> Result<(), PgError> {
    if notices.is_empty() {
        return Ok(());
    }
    let rows: Vec<&Notice> = notices.iter().map(|routed| &routed.notice).collect();
    let columns: &[&(dyn ToSql + Sync)] = &[
        &column(&rows, |n| text(&n.incident)),
        &column(&rows, |n| text(&n.rule)),
        &column(&rows, |n| n.severity.name()),
        &column(&rows, |n| text(&n.subject)),
        &column(&rows, |n| state(n)),
        &column(&rows, |n| n.started_s),
        &column(&rows, |n| n.fired_s),
        &column(&rows, |n| n.resolved_s),
        &column(&rows, |n| n.advice.valid_until_s),
        &column(&rows, |n| n.sequence.cast_signed()),
        &column(&rows, |n| n.advice.action.name()),
        &column(&rows, |n| text(&n.summary)),
        &column(&rows, |n| json(n)),
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
        &column(&rows, |(n, _)| json(n)),
    ];
    to.execute(include_str!("../../sql/outbox/put_notices.pg.sql"), columns).await?;
    Ok(())
}

/// Writes notices to the embedded store.
pub(crate) fn put_sqlite(to: &SqliteTransaction<'_>, notices: &[RoutedNotice]) -> rusqlite::Result<()> {
    for RoutedNotice { notice: n, receivers } in notices {
        let (text, sequence) = (json(n), n.sequence.cast_signed());
        to.prepare_cached(include_str!("../../sql/outbox/put_incident.sqlite.sql"))?.execute(params![
            n.incident,
            n.rule,
            n.severity.name(),
            n.subject,
            state(n),
            n.started_s,
            n.fired_s,
            n.resolved_s,
            n.advice.valid_until_s,
            sequence,
            n.advice.action.name(),
            n.summary,
            text,
        ])?;
        let mut put = to.prepare_cached(include_str!("../../sql/outbox/put_notice.sqlite.sql"))?;
        for receiver in receivers {
            put.execute(params![n.key, receiver, n.incident, sequence, n.kind.name(), text])?;
        }
    }
    Ok(())
}
