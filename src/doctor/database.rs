//! Facts of the database. Nothing is changed in it: the session is read-only.

use super::producers::Sampler;
use crate::config::RunConfig;
use crate::run::pg_settings;
use schemas::{Metric, Name, SeriesInfo};
use std::time::Duration;
use store::postgres::{PgError, PgSettings, ServerFacts, connect, server_facts};
use store::read::doctor;
use tokio_postgres::Client;

/// The server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// Version as a number, such as 150004.
    pub version: i32,
    /// The user of the session.
    pub user: String,
    /// Whether it only follows another server.
    pub standby: bool,
    /// Its clock less ours, in seconds.
    pub ahead_s: f64,
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
    /// Whether we may write results.
    pub may_write: bool,
    /// Whether we may read snapshots.
    pub may_read_snapshots: bool,
}

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

/// Everything that the database returns, or the reason why not.
#[derive(Clone, Debug)]
pub struct DatabaseFacts {
    /// The server.
    pub server: Server,
    /// Versions, migrations, policies, tables.
    pub tiers: Result<ServerFacts, String>,
    /// Background jobs whose latest run failed.
    pub failing: Vec<i32>,
    /// Positions of the stages.
    pub positions: Result<Vec<Position>, String>,
    /// Samplers that report.
    pub samplers: Result<Vec<Sampler>, String>,
    /// Nodes of jobs of which no row ever came, with how many jobs ran there.
    pub unknown_nodes: Result<Vec<(String, i64)>, String>,
    /// Expected sources without any row: producer and schema.
    pub never_seen: Result<Vec<(String, String)>, String>,
    /// Series of ports.
    pub ports: Result<Vec<SeriesInfo>, String>,
    /// Rows that were not used, by reason.
    pub dropped: Result<Vec<(String, i64)>, String>,
    /// Messages and rows that stages passed over.
    pub rejected: Result<Vec<Rejected>, String>,
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

/// Queries the database; `timeout` bounds each query.
///
/// # Errors
/// Why it does not answer, in one sentence.
pub async fn look(config: &RunConfig, timeout: Duration) -> Result<DatabaseFacts, String> {
    let mut settings = pg_settings(config);
    settings.connect_timeout_s = settings.connect_timeout_s.min(timeout.as_secs_f64());
    // Through the stage's own way of connecting, TLS included: its error for a server that refuses is the useful one.
    let tiers = bounded(timeout, server_facts(&settings)).await;
    if let Err(Trouble::Server(error)) = &tiers
        && error.is_retryable()
    {
        return Err(error.to_string().replace("; trying again helps", ""));
    }
    let client = bounded(timeout, read_only(&settings, timeout)).await.map_err(|trouble| match &tiers {
        Err(first) => first.to_string(),
        Ok(_) => trouble.to_string(),
    })?;
    let server = bounded(timeout, server(&client)).await.map_err(|trouble| trouble.to_string())?;
    let failing = match tiers.as_ref().is_ok_and(|tiers| tiers.timescale_version.is_some()) {
        true => bounded(timeout, failing(&client)).await.unwrap_or_default(),
        false => Vec::new(),
    };
    Ok(DatabaseFacts {
        failing,
        positions: bounded(timeout, positions(&client, server.may_read_snapshots))
            .await
            .map_err(|t| t.to_string()),
        samplers: bounded(timeout, samplers(&client)).await.map_err(|t| t.to_string()),
        unknown_nodes: bounded(timeout, unknown_nodes(&client)).await.map_err(|t| t.to_string()),
        never_seen: bounded(timeout, never_seen(&client)).await.map_err(|t| t.to_string()),
        ports: bounded(timeout, ports(&client)).await.map_err(|t| t.to_string()),
        dropped: bounded(timeout, dropped(&client)).await.map_err(|t| t.to_string()),
        rejected: bounded(timeout, rejected(&client)).await.map_err(|t| t.to_string()),
        tiers: tiers.map_err(|trouble| trouble.to_string()),
        server,
    })
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0}")]
    Server(PgError),
    #[error("no answer within {0} s")]
    Late(f64),
}

async fn bounded<T>(
    timeout: Duration,
    question: impl Future<Output = Result<T, PgError>>,
) -> Result<T, Trouble> {
    let answer = tokio::time::timeout(timeout, question).await;
    answer.map_err(|_| Trouble::Late(timeout.as_secs_f64()))?.map_err(Trouble::Server)
}

/// A session of doctor's own that can change nothing.
async fn read_only(settings: &PgSettings, timeout: Duration) -> Result<Client, PgError> {
    let client = connect(settings).await?;
    let timeout_ms = timeout.as_millis();
    let session = format!(
        "SET default_transaction_read_only = on; SET TimeZone = 'UTC'; SET statement_timeout = {timeout_ms}; \
         SET application_name = 'tailback doctor'"
    );
    client.batch_execute(&session).await?;
    Ok(client)
}

async fn server(client: &Client) -> Result<Server, PgError> {
    let row = client.query_one(doctor::SERVER, &[]).await?;
    Ok(Server {
        version: row.get(0),
        user: row.get(1),
        standby: row.get(2),
        ahead_s: row.get::<_, f64>(3) - super::now_s(),
        bytes: row.get(4),
        connections: row.get(5),
        connections_max: row.get(6),
        crash_safe: row.get(7),
        shared_buffers: row.get(8),
        max_wal_size: row.get(9),
        roles: row.get(10),
        may_write: row.get(11),
        may_read_snapshots: row.get(12),
    })
}

async fn failing(client: &Client) -> Result<Vec<i32>, PgError> {
    let rows = client.query(doctor::FAILED_JOBS, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

async fn positions(client: &Client, snapshots: bool) -> Result<Vec<Position>, PgError> {
    let rows = client.query(doctor::POSITIONS, &[]).await?;
    let mut positions: Vec<Position> = rows
        .iter()
        .map(|row| Position {
            stage: row.get(0),
            partition: row.get(1),
            owner: row.get(2),
            next: row.get(3),
            event_s: row.get(4),
            committed_ago_s: row.get(5),
            snapshot: None,
        })
        .collect();
    if snapshots {
        for row in client.query(doctor::SNAPSHOTS, &[]).await? {
            let (stage, partition): (String, i32) = (row.get(0), row.get(1));
            if let Some(found) = positions.iter_mut().find(|p| p.stage == stage && p.partition == partition) {
                found.snapshot = row.get(2);
            }
        }
    }
    Ok(positions)
}

async fn samplers(client: &Client) -> Result<Vec<Sampler>, PgError> {
    let rows = client.query(doctor::SAMPLERS, &[]).await?;
    let sampler =
        |row: &tokio_postgres::Row| Sampler { producer: row.get(0), schema: row.get(1), last_s: row.get(2) };
    Ok(rows.iter().map(sampler).collect())
}

async fn unknown_nodes(client: &Client) -> Result<Vec<(String, i64)>, PgError> {
    let rows = client.query(doctor::UNKNOWN_NODES, &[]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

async fn never_seen(client: &Client) -> Result<Vec<(String, String)>, PgError> {
    let rows = client.query(doctor::NEVER_SEEN, &[]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

async fn ports(client: &Client) -> Result<Vec<SeriesInfo>, PgError> {
    let rows = client.query(doctor::PORTS, &[]).await?;
    let port = |row: &tokio_postgres::Row| {
        Some(SeriesInfo {
            metric: Metric::from_name(row.get(0))?,
            component: Name::parse(row.get(1)).ok()?,
            part: Some(Name::parse(row.get(2)).ok()?),
        })
    };
    Ok(rows.iter().filter_map(port).collect())
}

async fn dropped(client: &Client) -> Result<Vec<(String, i64)>, PgError> {
    let rows = client.query(doctor::DROPPED, &[]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

async fn rejected(client: &Client) -> Result<Vec<Rejected>, PgError> {
    let rows = client.query(doctor::REJECTED, &[]).await?;
    let rejected = |row: &tokio_postgres::Row| Rejected {
        stage: row.get(0),
        topic: row.get(1),
        reason: row.get(2),
        count: row.get(3),
        newest_s: row.get(4),
        newest: row.get(5),
    };
    Ok(rows.iter().map(rejected).collect())
}
