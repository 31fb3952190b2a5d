//! Leases: which process may deliver a notice now, and the outcome.

use super::outbox_store::{Cell, OutboxError, OutboxStore};
use schemas::{AlertSilence, Notice, NoticeKind};

/// A notice that this process may try to deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    /// For whom.
    pub receiver: String,
    /// The process that holds the lease.
    pub by: String,
    /// The notice.
    pub notice: Notice,
    /// Tries so far, this one counted.
    pub attempts: u32,
    /// When it was tried first, in seconds since the epoch.
    pub first_try_s: f64,
    /// When it was delivered first; repeated notices have one.
    pub delivered_s: Option<f64>,
    /// Whether a silence held it back when it was looked at before.
    pub held: bool,
}

/// What else there is of an incident for a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// Whether something newer waits.
    pub later: bool,
    /// Whether its end is among that.
    pub over: bool,
    /// Whether something older was delivered.
    pub delivered: bool,
    /// Whether something older was silenced to its end.
    pub silenced: bool,
}

/// Where a notice goes that was not delivered.
#[derive(Clone, Debug, PartialEq)]
pub enum PutBack {
    /// It waits for the next try, which failed for a reason.
    Retry(f64, String),
    /// It waits; nothing was tried.
    Held(f64, String),
    /// No process tries again until a person requests it.
    Dead(String),
    /// A newer notice replaces it.
    Superseded,
    /// It was silenced to its end.
    Silenced,
}

impl OutboxStore {
    /// Takes at most `limit` notices for `receiver` that are due at `now_s`, until `until_s`.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn lease(
        &mut self,
        receiver: &str,
        by: &str,
        now_s: f64,
        until_s: f64,
        limit: usize,
    ) -> Result<Vec<Leased>, OutboxError> {
        let with = [
            Cell::text(receiver),
            Cell::real(now_s),
            Cell::Whole(limit as i64),
            Cell::real(until_s),
            Cell::text(by),
        ];
        let rows = self.rows(include_str!("../../sql/outbox/lease.sql"), &with).await?;
        let mut leased = Vec::with_capacity(rows.len());
        for mut row in rows {
            let (key, _, _, _, text) = (row.text(), row.text(), row.whole(), row.text(), row.text());
            let notice: Notice = serde_json::from_str(&text).map_err(|error| {
                OutboxError::Stop(format!("notice {key} in the outbox cannot be read: {error}"))
            })?;
            let (_, attempts, first, delivered_s) = (row.text(), row.whole(), row.real(), row.real());
            leased.push(Leased {
                receiver: receiver.to_string(),
                by: by.to_string(),
                notice,
                attempts: attempts as u32,
                first_try_s: first.unwrap_or(now_s),
                delivered_s,
                held: row.whole() == 1,
            });
        }
        leased.sort_by(|a, b| {
            a.notice.fired_s.total_cmp(&b.notice.fired_s).then(a.notice.key.cmp(&b.notice.key))
        });
        Ok(leased)
    }

    /// What else there is of its incident.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn around(&mut self, leased: &Leased) -> Result<Around, OutboxError> {
        let n = &leased.notice;
        let with =
            [Cell::text(&leased.receiver), Cell::text(&n.incident), Cell::Whole(n.sequence.cast_signed())];
        let mut rows = self.rows(include_str!("../../sql/outbox/around.sql"), &with).await?;
        let mut counts = rows.pop().map_or([0; 4], |mut row| [0; 4].map(|_| row.whole())).into_iter();
        let mut any = || counts.next().unwrap_or(0) > 0;
        Ok(Around { later: any(), over: any(), delivered: any(), silenced: any() })
    }

    /// It was delivered at `now_s`; with `again_s` it is delivered again then, unless something newer is there. False if
    /// the lease was lost.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn delivered(
        &mut self,
        leased: &Leased,
        now_s: f64,
        again_s: Option<f64>,
    ) -> Result<bool, OutboxError> {
        let state = if again_s.is_some() { "repeating" } else { "delivered" };
        let with = [
            Cell::text(&leased.notice.key),
            Cell::text(&leased.receiver),
            Cell::text(&leased.by),
            Cell::text(state),
            Cell::real(now_s),
            Cell::real(again_s.unwrap_or(0.0)),
        ];
        let held = self.run(include_str!("../../sql/outbox/delivered.sql"), &with).await? > 0;
        let n = &leased.notice;
        let with =
            [Cell::text(&leased.receiver), Cell::text(&n.incident), Cell::Whole(n.sequence.cast_signed())];
        if held && n.kind != NoticeKind::Firing {
            self.run(include_str!("../../sql/outbox/end_repeats.sql"), &with).await?;
        }
        Ok(held)
    }

    /// It was not delivered. False if the lease was lost.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn put_back(&mut self, leased: &Leased, to: &PutBack) -> Result<bool, OutboxError> {
        let waits = if leased.delivered_s.is_some() { "repeating" } else { "waiting" };
        let (state, next_s, why, untried) = match to {
            PutBack::Retry(next_s, why) => (waits, *next_s, why.as_str(), 0),
            PutBack::Held(next_s, why) => (waits, *next_s, why.as_str(), 1),
            PutBack::Dead(why) => ("dead", 0.0, why.as_str(), 0),
            PutBack::Superseded => ("superseded", 0.0, "", 0),
            PutBack::Silenced => ("silenced", 0.0, "", 0),
        };
        let with = [
            Cell::text(&leased.notice.key),
            Cell::text(&leased.receiver),
            Cell::text(&leased.by),
            Cell::text(state),
            Cell::real(next_s),
            Cell::text(why),
            Cell::Whole(untried),
        ];
        Ok(self.run(include_str!("../../sql/outbox/put_back.sql"), &with).await? > 0)
    }

    /// Silences that are not over at `now_s`.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn silences(&mut self, now_s: f64) -> Result<Vec<AlertSilence>, OutboxError> {
        let rows = self.rows(include_str!("../../sql/outbox/silences.sql"), &[Cell::real(now_s)]).await?;
        let silence = |mut row: super::outbox_store::Cells| AlertSilence {
            id: row.text(),
            matchers: serde_json::from_str(&row.text()).unwrap_or_default(),
            from_s: row.real().unwrap_or(f64::INFINITY),
            until_s: row.real().unwrap_or(0.0),
            author: row.text(),
            comment: row.text(),
        };
        Ok(rows.into_iter().map(silence).collect())
    }

    /// Adds a silence.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn put_silence(&mut self, silence: &AlertSilence) -> Result<(), OutboxError> {
        let matchers = serde_json::to_string(&silence.matchers).unwrap_or_default();
        let with = [
            Cell::text(&silence.id),
            Cell::text(&matchers),
            Cell::real(silence.from_s),
            Cell::real(silence.until_s),
            Cell::text(&silence.author),
            Cell::text(&silence.comment),
        ];
        self.run(include_str!("../../sql/outbox/put_silence.sql"), &with).await.map(drop)
    }

    /// Ends a silence at `now_s`; false if no such silence is active.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn end_silence(&mut self, id: &str, now_s: f64) -> Result<bool, OutboxError> {
        let with = [Cell::text(id), Cell::real(now_s)];
        Ok(self.run(include_str!("../../sql/outbox/end_silence.sql"), &with).await? > 0)
    }
}
