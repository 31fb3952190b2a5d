//! Who reports, and who should.

use schemas::{Metric, Name, SeriesInfo};
use tokio_postgres::{Client, Error, Row};

/// A sampler: what a producer reports of one schema, and when its last row came.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// The node.
    pub producer: String,
    /// The schema.
    pub schema: String,
    /// Timestamp of its newest row, in seconds since the epoch.
    pub last_s: f64,
}

/// Samplers that report or reported.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn samplers(client: &Client) -> Result<Vec<Sampler>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_samplers.sql");
    client.query(sql, &[]).await?.iter().map(sampler).collect()
}

fn sampler(row: &Row) -> Result<Sampler, Error> {
    Ok(Sampler { producer: row.try_get(0)?, schema: row.try_get(1)?, last_s: row.try_get(2)? })
}

/// Nodes of the latest jobs of which no row ever came, with how many jobs ran there.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn unknown_nodes(client: &Client) -> Result<Vec<(String, i64)>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_unknown_nodes.sql");
    client.query(sql, &[]).await?.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Expected sources of which no row ever came: producer and schema.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn never_seen(client: &Client) -> Result<Vec<(String, String)>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_never_seen.sql");
    client.query(sql, &[]).await?.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Series of ports; those of metrics and names that this program does not know are left out.
///
/// # Errors
/// When the server does not answer, or has no tables of Tailback.
pub async fn ports(client: &Client) -> Result<Vec<SeriesInfo>, Error> {
    let sql = include_str!("../../../sql/read/postgres/doctor_ports.sql");
    let rows = client.query(sql, &[]).await?;
    Ok(rows.iter().filter_map(port).collect())
}

fn port(row: &Row) -> Option<SeriesInfo> {
    Some(SeriesInfo {
        metric: Metric::from_name(row.try_get(0).ok()?)?,
        component: Name::parse(row.try_get(1).ok()?).ok()?,
        part: Some(Name::parse(row.try_get(2).ok()?).ok()?),
    })
}
