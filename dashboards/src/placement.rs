//! `/api/v1/placement`: the current state for a job on given nodes.

use crate::answer::{Answer, ApiError, Checked};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use schemas::{Name, hostlist};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use store::read::Reader;
use store::read::placement::OF_NODES;

/// Maximum of nodes in a request: those of the largest planned machine.
const NODES_MAX: usize = 20_000;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacementQuery {
    nodes: String,
}

impl PlacementQuery {
    /// The nodes, each once.
    ///
    /// # Errors
    /// 400 for an invalid, empty or too long list of nodes.
    pub fn nodes(&self) -> Result<BTreeSet<Name>, ApiError> {
        let hosts = hostlist::expand(&self.nodes, NODES_MAX)
            .map_err(|why| ApiError::BadRequest(format!("nodes: {why}")))?;
        if hosts.is_empty() {
            return Err(ApiError::BadRequest("nodes is an empty list".to_string()));
        }
        Ok(hosts.into_iter().collect())
    }
}

/// A fact about the nodes.
#[derive(Debug, Serialize)]
pub struct Fact {
    /// `span`, `expected contention`, `open region`, `running job` or `advice`.
    pub topic: String,
    /// Name within the topic.
    pub name: String,
    /// `null` if unknown.
    pub figure: Option<f64>,
    /// Unit of the figure; `null` without a figure.
    pub unit: Option<String>,
    /// Explanation.
    pub detail: Option<String>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Placement {
    /// Number of requested nodes, each counted once.
    pub nodes: usize,
    /// Sorted by topic.
    pub rows: Vec<Fact>,
}

/// Answers `/api/v1/placement?nodes=nid[00000-00003]`.
///
/// # Errors
/// 400 for an invalid or too long list of nodes, 503 before there is a store.
pub async fn placement(
    State(state): State<PageState>,
    Checked(query): Checked<PlacementQuery>,
) -> Answer<Placement> {
    let nodes = query.nodes()?;
    let answer = state.reader.read(move |store| read_placement(store, &nodes));
    answer.await.map(Json)
}

fn read_placement(store: &Reader<'_>, nodes: &BTreeSet<Name>) -> Result<Placement, ApiError> {
    let list = serde_json::json!(nodes.iter().map(Name::as_str).collect::<Vec<_>>()).to_string();
    let rows = store.rows(OF_NODES, &[&list], |row| {
        let figure: Option<f64> = row.get(2)?;
        let unit: Option<String> = row.get(3)?;
        let (topic, name, detail) = (row.get(0)?, row.get(1)?, row.get(4)?);
        Ok::<_, ApiError>(Fact { topic, name, figure, unit: unit.filter(|_| figure.is_some()), detail })
    })?;
    Ok(Placement { nodes: nodes.len(), rows })
}
