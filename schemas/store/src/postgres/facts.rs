//! Queries of `tailback doctor`.

use super::connect::connect;
use super::{PgError, PgSettings, pending};
use tokio_postgres::Client;

/// What the server is and how its tiers fare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerFacts {
    /// PostgreSQL's version, as the server reports it.
    pub server_version: String,
    /// TimescaleDB's version in this database; `None` on plain PostgreSQL.
    pub timescale_version: Option<String>,
    /// Name of the latest migration applied; `None` before the first.
    pub schema_version: Option<String>,
    /// Migrations that `tailback migrate` would apply.
    pub pending: Vec<&'static str>,
    /// TimescaleDB's background jobs of Tailback's tables.
    pub policies: Vec<PolicyFacts>,
    /// The large tables.
    pub tables: Vec<TableFacts>,
}

/// One background job.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFacts {
    /// Its number, as `CALL run_job(…)` takes it.
    pub job_id: i32,
    /// What it does: `policy_retention`, `policy_compression`, `policy_refresh_continuous_aggregate`.
    pub policy: String,
    /// The table it works on.
    pub table: String,
    /// Runs that failed since it was made.
    pub failures: i64,
    /// Message of the last failure; `None` if there was none within the time that the server keeps.
    pub last_failure: Option<String>,
    /// Whether it is switched on.
    pub scheduled: bool,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFacts {
    /// Its name.
    pub table: String,
    /// Bytes with indexes and chunks.
    pub bytes: i64,
    /// Bytes of its compressed chunks before over after compression; `None` where nothing was compressed later than
    /// on arrival.
    pub compression_ratio: Option<f64>,
}

/// Asks the server; a database without Tailback's tables gives empty lists.
///
/// # Errors
/// [`PgError::Retry`] when it does not answer; [`PgError::Stop`] as for [`super::migrate()`].
pub async fn server_facts(settings: &PgSettings) -> Result<ServerFacts, PgError> {
    let pending = pending(settings).await?;
    let client = connect(settings).await?;
    let row = client.query_one(include_str!("../../sql/postgres/facts.sql"), &[]).await?;
    let mut facts = ServerFacts {
        server_version: row.get(0),
        timescale_version: row.get(1),
        pending,
        ..ServerFacts::default()
    };
    let migrated: bool = row.get(2);
    if migrated {
        facts.schema_version =
            client.query_one(include_str!("../../sql/postgres/schema_version.sql"), &[]).await?.get(0);
    }
    let hypertables = migrated && facts.timescale_version.is_some();
    if hypertables {
        facts.policies = policies(&client).await?;
    }
    if migrated {
        facts.tables = tables(&client, hypertables).await?;
    }
    Ok(facts)
}

async fn policies(client: &Client) -> Result<Vec<PolicyFacts>, PgError> {
    let rows = client.query(include_str!("../../sql/postgres/facts_policies.sql"), &[]).await?;
    let policy = |row: &tokio_postgres::Row| PolicyFacts {
        job_id: row.get(0),
        policy: row.get(1),
        table: row.get(2),
        failures: row.get(3),
        last_failure: row.get(4),
        scheduled: row.get(5),
    };
    Ok(rows.iter().map(policy).collect())
}

async fn tables(client: &Client, hypertables: bool) -> Result<Vec<TableFacts>, PgError> {
    let sql = if hypertables {
        include_str!("../../sql/postgres/facts_hypertables.sql")
    } else {
        include_str!("../../sql/postgres/facts_tables.sql")
    };
    let table = |row: &tokio_postgres::Row| TableFacts {
        table: row.get(0),
        bytes: row.get(1),
        compression_ratio: row.get(2),
    };
    Ok(client.query(sql, &[]).await?.iter().map(table).collect())
}
