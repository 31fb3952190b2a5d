//! How far the stages are, and what they did not use.

use crate::read::health::{CONDITIONS, Condition, condition};
use tokio_postgres::{Client, Error, Row};

/// How far a stage has come in a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// The stage.
    pub stage: String,
    /// The partition of its input.
    pub partition: i32,
    /// The process that holds it.
    pub owner: Option<String>,
    /// Next offset.
    pub next: Option<i64>,
    /// Time of the newest signal, in seconds since the epoch.
    pub event_s: Option<f64>,
    /// Seconds since its last commit.
    pub committed_ago_s: Option<f64>,
    /// Offset at which its snapshot was taken.
    pub snapshot: Option<i64>,
}

/// Messages that a stage passed over for one reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rejected {
    /// The stage.
    pub stage: String,
    /// Kafka topic, or table.
    pub topic: String,
    /// Why.
    pub reason: String,
    /// How many are kept.
    pub count: i64,
    /// When the newest was passed over, in seconds since the epoch.
    pub newest_s: f64,
    /// Offset and error of the newest.
    pub newest: String,
}

/// How far each stage has read, and where a restart begins to read again if `snapshots` may be read.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn positions(client: &Client, snapshots: bool) -> Result<Vec<Position>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_positions.sql");
    let rows = client.query(sql, &[]).await?;
    let mut positions: Vec<Position> = rows.iter().map(position).collect::<Result<_, _>>()?;
    if snapshots {
        let sql = include_str!("../../../sql/read/postgres/doctor_snapshots.sql");
        for row in client.query(sql, &[]).await? {
            let (stage, partition): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
            if let Some(found) = positions.iter_mut().find(|p| p.stage == stage && p.partition == partition) {
                found.snapshot = row.try_get(2)?;
            }
        }
    }
    Ok(positions)
}

fn position(row: &Row) -> Result<Position, Error> {
    Ok(Position {
        stage: row.try_get(0)?,
        partition: row.try_get(1)?,
        owner: row.try_get(2)?,
        next: row.try_get(3)?,
        event_s: row.try_get(4)?,
        committed_ago_s: row.try_get(5)?,
        snapshot: None,
    })
}

/// Rows that were not used, by reason.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn dropped(client: &Client) -> Result<Vec<(String, i64)>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_dropped.sql");
    client.query(sql, &[]).await?.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Messages and rows that stages passed over, with the newest kind first.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn rejected(client: &Client) -> Result<Vec<Rejected>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_rejected.sql");
    client.query(sql, &[]).await?.iter().map(rejection).collect()
}

fn rejection(row: &Row) -> Result<Rejected, Error> {
    Ok(Rejected {
        stage: row.try_get(0)?,
        topic: row.try_get(1)?,
        reason: row.try_get(2)?,
        count: row.try_get(3)?,
        newest_s: row.try_get(4)?,
        newest: row.try_get(5)?,
    })
}

/// Tailback's own condition beside its limits.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn conditions(client: &Client) -> Result<Vec<Condition>, Error> {
    client.query(CONDITIONS, &[]).await?.iter().map(condition).collect()
}
