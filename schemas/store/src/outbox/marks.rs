//! What a receiver set elsewhere, so that it can be taken back when the advice is over.

use super::outbox_store::{Cell, Cells, OutboxError, OutboxStore};

/// A comment of a job or node.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// `job` or `node`.
    pub target: String,
    /// Which one.
    pub name: String,
    /// Because of which incident.
    pub incident: String,
    /// What was written.
    pub value: String,
    /// When it is taken back, in seconds since the epoch.
    pub until_s: f64,
}

fn mark(mut row: Cells) -> Mark {
    Mark {
        target: row.text(),
        name: row.text(),
        incident: row.text(),
        value: row.text(),
        until_s: row.real().unwrap_or(0.0),
    }
}

impl OutboxStore {
    /// Remembers a mark before it is set.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn put_mark(&mut self, receiver: &str, mark: &Mark) -> Result<(), OutboxError> {
        let with = [
            Cell::text(receiver),
            Cell::text(&mark.target),
            Cell::text(&mark.name),
            Cell::text(&mark.incident),
            Cell::text(&mark.value),
            Cell::real(mark.until_s),
        ];
        self.run(include_str!("../../sql/outbox/put_mark.sql"), &with).await.map(drop)
    }

    /// Marks that are to be taken back at `now_s`, or belong to an incident.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn marks(
        &mut self,
        receiver: &str,
        now_s: f64,
        incident: &str,
    ) -> Result<Vec<Mark>, OutboxError> {
        let with = [Cell::text(receiver), Cell::real(now_s), Cell::text(incident)];
        Ok(self
            .rows(include_str!("../../sql/outbox/marks.sql"), &with)
            .await?
            .into_iter()
            .map(mark)
            .collect())
    }

    /// Forgets a mark that was taken back.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn drop_mark(&mut self, receiver: &str, mark: &Mark) -> Result<(), OutboxError> {
        let with = [Cell::text(receiver), Cell::text(&mark.target), Cell::text(&mark.name)];
        self.run(include_str!("../../sql/outbox/drop_mark.sql"), &with).await.map(drop)
    }
}
