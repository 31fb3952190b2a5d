//! What people and schedulers ask of incidents and their notices.

use super::outbox_store::{Cell, Cells, OutboxError, OutboxStore};
use schemas::Notice;
use serde::Serialize;

/// A notice of an incident for one receiver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delivery {
    /// Idempotency key.
    pub key: String,
    /// For whom.
    pub receiver: String,
    /// Place among the notices of the incident.
    pub sequence: i64,
    /// firing, renewed, resolved.
    pub kind: String,
    /// waiting, repeating, delivered, dead, superseded, silenced.
    pub state: String,
    /// Tries so far.
    pub attempts: i64,
    /// When it is tried next, in seconds since the epoch.
    pub next_try_s: f64,
    /// When it was delivered first.
    pub delivered_s: Option<f64>,
    /// Why it was not delivered at the latest try.
    pub last_error: String,
}

/// What of an incident a receiver does not have yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undelivered {
    /// The incident.
    pub incident: String,
    /// The receiver.
    pub receiver: String,
    /// Notices that wait.
    pub waiting: i64,
    /// Dead letters.
    pub dead: i64,
    /// Why the latest try of one failed; "" if none was tried.
    pub last_error: String,
}

/// The latest commit of a stage's partition.
#[derive(Clone, Debug, PartialEq)]
pub struct StageCommit {
    /// The stage.
    pub stage: String,
    /// Partition of its input.
    pub partition: i64,
    /// Seconds since then; `None` before the first.
    pub age_s: Option<f64>,
}

/// Notices of one receiver in one state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Count {
    /// The receiver.
    pub receiver: String,
    /// The state.
    pub state: String,
    /// How many.
    pub notices: i64,
    /// When the first of them was tried first, in seconds since the epoch.
    pub oldest_try_s: Option<f64>,
}

fn notice(mut row: Cells) -> Result<Notice, OutboxError> {
    let text = row.text();
    serde_json::from_str(&text)
        .map_err(|error| OutboxError::Stop(format!("an incident cannot be read: {error}")))
}

impl OutboxStore {
    /// Incidents that fire, the latest first; with `since_s` also ones resolved since then. At most `limit`.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn incidents(
        &mut self,
        since_s: Option<f64>,
        limit: usize,
    ) -> Result<Vec<Notice>, OutboxError> {
        let with = [
            Cell::Whole(i64::from(since_s.is_some())),
            Cell::real(since_s.unwrap_or(0.0)),
            Cell::Whole(limit as i64),
        ];
        self.rows(include_str!("../../sql/outbox/incidents.sql"), &with)
            .await?
            .into_iter()
            .map(notice)
            .collect()
    }

    /// An incident by its number.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn incident(&mut self, incident: &str) -> Result<Option<Notice>, OutboxError> {
        let rows = self.rows(include_str!("../../sql/outbox/incident.sql"), &[Cell::text(incident)]).await?;
        rows.into_iter().next().map(notice).transpose()
    }

    /// The deliveries of an incident.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn deliveries(&mut self, incident: &str) -> Result<Vec<Delivery>, OutboxError> {
        let rows =
            self.rows(include_str!("../../sql/outbox/deliveries.sql"), &[Cell::text(incident)]).await?;
        let delivery = |mut row: Cells| Delivery {
            key: row.text(),
            receiver: row.text(),
            sequence: row.whole(),
            kind: row.text(),
            state: row.text(),
            attempts: row.whole(),
            next_try_s: row.real().unwrap_or(0.0),
            delivered_s: row.real(),
            last_error: row.text(),
        };
        Ok(rows.into_iter().map(delivery).collect())
    }

    /// What was not delivered, by incident and receiver.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn undelivered(&mut self) -> Result<Vec<Undelivered>, OutboxError> {
        let rows = self.rows(include_str!("../../sql/outbox/undelivered.sql"), &[]).await?;
        let of = |mut row: Cells| Undelivered {
            incident: row.text(),
            receiver: row.text(),
            waiting: row.whole(),
            dead: row.whole(),
            last_error: row.text(),
        };
        Ok(rows.into_iter().map(of).collect())
    }

    /// The latest commits of all stages; of a server alone.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn stage_commits(&mut self) -> Result<Vec<StageCommit>, OutboxError> {
        let rows = self.rows(include_str!("../../sql/outbox/stage_commits.sql"), &[]).await?;
        let commit =
            |mut row: Cells| StageCommit { stage: row.text(), partition: row.whole(), age_s: row.real() };
        Ok(rows.into_iter().map(commit).collect())
    }

    /// How many notices are in which state.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn counts(&mut self) -> Result<Vec<Count>, OutboxError> {
        let rows = self.rows(include_str!("../../sql/outbox/counts.sql"), &[]).await?;
        let count = |mut row: Cells| Count {
            receiver: row.text(),
            state: row.text(),
            notices: row.whole(),
            oldest_try_s: row.real(),
        };
        Ok(rows.into_iter().map(count).collect())
    }

    /// Dead letters go again, and what waits goes at once: those of a key or incident, or all for ""; of one receiver, or of
    /// all for "". A dead letter stays dead whose receiver knows something newer. How many.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn retry(&mut self, key_or_incident: &str, receiver: &str) -> Result<u64, OutboxError> {
        self.run(
            include_str!("../../sql/outbox/retry.sql"),
            &[Cell::text(key_or_incident), Cell::text(receiver)],
        )
        .await
    }

    /// Forgets incidents that were over before `before_s`, with their notices, and silences that ended before it.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn expire(&mut self, before_s: f64) -> Result<u64, OutboxError> {
        self.run(include_str!("../../sql/outbox/expire.sql"), &[Cell::real(before_s)]).await?;
        self.run(include_str!("../../sql/outbox/expire_silences.sql"), &[Cell::real(before_s)]).await?;
        self.run(include_str!("../../sql/outbox/expire_incidents.sql"), &[Cell::real(before_s)]).await
    }
}
