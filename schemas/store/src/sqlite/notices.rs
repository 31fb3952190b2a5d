//! Notices of a batch, and to whom they go.

use crate::text::{notice_json, notice_state};
use rusqlite::{Transaction, params};
use schemas::RoutedNotice;

pub(super) fn put(to: &Transaction<'_>, notices: &[RoutedNotice]) -> rusqlite::Result<()> {
    for RoutedNotice { notice: n, receivers } in notices {
        let (text, sequence) = (notice_json(n), n.sequence.cast_signed());
        to.prepare_cached(include_str!("../../sql/outbox/put_incident.sqlite.sql"))?.execute(params![
            n.incident,
            n.rule,
            n.severity.name(),
            n.subject,
            notice_state(n),
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
