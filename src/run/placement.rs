//! `GET /api/v1/placement` from PostgreSQL: what a job on some nodes would meet now. The built-in page answers the same
//! from the embedded store.

use super::access::{Access, authorised};
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router, middleware};
use dashboards::answer::{Answer, ApiError, Checked};
use dashboards::guard::set_headers;
use dashboards::placement::{Fact, Placement, PlacementQuery};
use schemas::Name;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::postgres::{PgSettings, connect};
use store::read::placement::OF_ARRAY;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::{Client, Row};

/// Time for which the database may take, in all.
const QUERY_TIMEOUT: Duration = Duration::from_secs(15);
/// The session may only read, and its statements end before the request times out.
const SESSION: &str = "SET default_transaction_read_only = on; SET statement_timeout = '10s'";

/// Queries the database, one query after the other, over one connection.
#[derive(Clone)]
pub struct Advice {
    settings: Arc<PgSettings>,
    client: Arc<Mutex<Option<Client>>>,
}

impl Advice {
    /// Advice from the database of `settings`, to which the first query connects.
    pub fn new(settings: PgSettings) -> Advice {
        Advice { settings: Arc::new(settings), client: Arc::default() }
    }

    /// The route, for those who have `access`.
    pub fn router(self, access: Access) -> Router {
        Router::new()
            .route("/api/v1/placement", get(placement))
            .layer(middleware::from_fn_with_state(access, authorised))
            .layer(middleware::from_fn(set_headers))
            .with_state(self)
    }

    async fn facts(&self, nodes: &BTreeSet<Name>) -> Result<Vec<Fact>, ApiError> {
        let mut kept = self.client.lock().await;
        // A failed query drops the connection: the next query opens a new one.
        let client = match kept.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => self.connected().await?,
        };
        let nodes: Vec<&str> = nodes.iter().map(Name::as_str).collect();
        let rows = client.query(OF_ARRAY, &[&nodes]).await.map_err(|why| unavailable(&why))?;
        *kept = Some(client);
        Ok(rows.iter().map(fact).collect())
    }

    async fn connected(&self) -> Result<Client, ApiError> {
        let client = connect(&self.settings).await.map_err(|why| unavailable(&why))?;
        client.batch_execute(SESSION).await.map_err(|why| unavailable(&why))?;
        Ok(client)
    }
}

async fn placement(
    State(advice): State<Advice>,
    Checked(query): Checked<PlacementQuery>,
) -> Answer<Placement> {
    let nodes = query.nodes()?;
    let rows = timeout(QUERY_TIMEOUT, advice.facts(&nodes)).await;
    let rows =
        rows.map_err(|_| ApiError::Away(format!("no answer within {} s", QUERY_TIMEOUT.as_secs())))??;
    Ok(Json(Placement { nodes: nodes.len(), rows }))
}

/// All causes in one sentence, for the log; the client gets no details.
fn unavailable(why: &dyn std::error::Error) -> ApiError {
    let mut causes = why.to_string();
    let mut source = why.source();
    while let Some(cause) = source {
        causes = format!("{causes}: {cause}");
        source = cause.source();
    }
    tracing::warn!(error = causes, "placement query failed");
    ApiError::Away("see the log of `tailback run`".to_string())
}

fn fact(row: &Row) -> Fact {
    Fact { topic: row.get(0), name: row.get(1), figure: row.get(2), unit: row.get(3), detail: row.get(4) }
}
