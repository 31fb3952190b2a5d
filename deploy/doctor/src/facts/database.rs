//! Facts of the database. Nothing is changed in it: the session is read-only.

use configuration::RunConfig;
use schemas::SeriesInfo;
use std::time::Duration;
use store::postgres::{Cause, PgError, PgSettings, ServerFacts, connect, server_facts};
use store::read::doctor::{self, Position, Rejected, Sampler, Server};
use store::read::health::Condition;
use tokio_postgres::Client;

/// Everything that the database returns, or the reason why not.
#[derive(Clone, Debug)]
pub struct DatabaseFacts {
    /// The server.
    pub server: Server,
    /// The server's clock less ours, in seconds.
    pub ahead_s: f64,
    /// Versions, migrations, policies, tables.
    pub tiers: Result<ServerFacts, Refusal>,
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
    /// Tailback's own condition beside its limits.
    pub conditions: Result<Vec<Condition>, String>,
}

/// Why the database is of no use, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence.
    pub why: String,
    /// What to do; empty where the sentence contains it.
    pub mend: &'static str,
}

impl From<Trouble> for Refusal {
    fn from(trouble: Trouble) -> Refusal {
        match trouble {
            Trouble::Server(error) => {
                let (why, mend) = error.parts();
                Refusal { why, mend }
            }
            Trouble::Late(_) => {
                let why = format!("the database does not answer: {trouble}");
                Refusal { why, mend: Cause::Unreachable.remedy() }
            }
        }
    }
}

/// Queries the database; `timeout` bounds each query.
///
/// # Errors
/// Why it does not answer.
pub async fn look(config: &RunConfig, timeout: Duration) -> Result<DatabaseFacts, Refusal> {
    let mut settings = config.database.pg_settings();
    settings.connect_timeout_s = settings.connect_timeout_s.min(timeout.as_secs_f64());
    // Through the stage's own way of connecting, TLS included: its error for a server that refuses is the useful one.
    let client = bounded(timeout, read_only(&settings, timeout)).await?;
    let tiers = bounded(timeout, server_facts(&settings)).await;
    let server = bounded(timeout, doctor::server(&client)).await?;
    let ahead_s = server.clock_s - super::now_s();
    let failing = match tiers.as_ref().is_ok_and(|tiers| tiers.timescale_version.is_some()) {
        true => fact(timeout, doctor::failed_jobs(&client)).await.unwrap_or_default(),
        false => Vec::new(),
    };
    Ok(DatabaseFacts {
        failing,
        positions: fact(timeout, doctor::positions(&client, server.may_read_snapshots)).await,
        samplers: fact(timeout, doctor::samplers(&client)).await,
        unknown_nodes: fact(timeout, doctor::unknown_nodes(&client)).await,
        never_seen: fact(timeout, doctor::never_seen(&client)).await,
        ports: fact(timeout, doctor::ports(&client)).await,
        dropped: fact(timeout, doctor::dropped(&client)).await,
        rejected: fact(timeout, doctor::rejected(&client)).await,
        conditions: fact(timeout, doctor::conditions(&client)).await,
        tiers: tiers.map_err(Refusal::from),
        server,
        ahead_s,
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

async fn bounded<T, E: Into<PgError>>(
    timeout: Duration,
    question: impl Future<Output = Result<T, E>>,
) -> Result<T, Trouble> {
    let answer = tokio::time::timeout(timeout, question).await;
    answer.map_err(|_| Trouble::Late(timeout.as_secs_f64()))?.map_err(|error| Trouble::Server(error.into()))
}

/// The answer to a question, or why there is none.
async fn fact<T>(
    timeout: Duration,
    question: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, String> {
    bounded(timeout, question).await.map_err(|trouble| trouble.to_string())
}

/// A session of doctor's own that can change nothing.
async fn read_only(settings: &PgSettings, timeout: Duration) -> Result<Client, PgError> {
    let client = connect(settings).await?;
    doctor::begin(&client, timeout).await?;
    Ok(client)
}

#[cfg(test)]
mod tests;
