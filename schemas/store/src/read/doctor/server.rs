//! What the server is and may.

use tokio_postgres::{Client, Error};

/// The server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// Version as a number, such as 150004.
    pub version: i32,
    /// The user of the session.
    pub user: String,
    /// Whether it only follows another server.
    pub standby: bool,
    /// Its clock, in seconds since the epoch.
    pub clock_s: f64,
    /// Bytes of the database.
    pub bytes: i64,
    /// Connections in use.
    pub connections: i32,
    /// Connections allowed.
    pub connections_max: i32,
    /// Whether a crash leaves it whole (`fsync`, `full_page_writes`).
    pub crash_safe: bool,
    /// Bytes of `shared_buffers`.
    pub shared_buffers: i64,
    /// Bytes of `max_wal_size`.
    pub max_wal_size: i64,
    /// Tailback's roles that exist.
    pub roles: Vec<String>,
    /// Whether the user may write results.
    pub may_write: bool,
    /// Whether the user may read snapshots.
    pub may_read_snapshots: bool,
    /// Whether Tailback's tables exist.
    pub migrated: bool,
    /// Whether sessions of the account are read-only by a setting of the account, the database or the server.
    pub read_only: bool,
}

/// What the server is and may; a result without any migration too.
///
/// # Errors
/// When the server does not answer.
pub async fn server(client: &Client) -> Result<Server, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_server.sql");
    let row = client.query_one(sql, &[]).await?;
    Ok(Server {
        version: row.try_get(0)?,
        user: row.try_get(1)?,
        standby: row.try_get(2)?,
        clock_s: row.try_get(3)?,
        bytes: row.try_get(4)?,
        connections: row.try_get(5)?,
        connections_max: row.try_get(6)?,
        crash_safe: row.try_get(7)?,
        shared_buffers: row.try_get(8)?,
        max_wal_size: row.try_get(9)?,
        roles: row.try_get(10)?,
        may_write: row.try_get(11)?,
        may_read_snapshots: row.try_get(12)?,
        migrated: row.try_get(13)?,
        read_only: row.try_get(14)?,
    })
}

/// Background jobs of TimescaleDB whose latest run failed.
///
/// # Errors
/// When the server does not answer, or has no TimescaleDB.
pub async fn failed_jobs(client: &Client) -> Result<Vec<i32>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_last_runs.sql");
    client.query(sql, &[]).await?.iter().map(|row| row.try_get(0)).collect()
}
