//! `/api/v1/placement`: what a job on some nodes would meet now.

use crate::answer::{Answer, ApiError, Checked};
use crate::router::PageState;
use crate::store::{Question, Store};
use axum::Json;
use axum::extract::State;
use schemas::{Name, hostlist};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Nodes of one question, those of the largest machine that is planned for.
const NODES_MAX: usize = 20_000;

/// What the nodes of a JSON list would meet.
const PLACEMENT: Question = Question {
    sqlite: schemas::sql::SQLITE_PLACEMENT_ADVICE,
    postgres: include_str!("../sql/postgres/placement.sql"),
};

/// Which nodes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacementQuery {
    nodes: String,
}

impl PlacementQuery {
    /// The nodes, each once.
    ///
    /// # Errors
    /// 400 for what is no list of nodes, for none, and for a list that is too long.
    pub fn nodes(&self) -> Result<BTreeSet<Name>, ApiError> {
        let hosts = hostlist::expand(&self.nodes, NODES_MAX)
            .map_err(|why| ApiError::BadRequest(format!("nodes: {why}")))?;
        if hosts.is_empty() {
            return Err(ApiError::BadRequest("nodes names no node".to_string()));
        }
        Ok(hosts.into_iter().collect())
    }
}

/// A fact about the nodes.
#[derive(Debug, Serialize)]
pub struct Fact {
    /// `span`, `expected contention`, `open region`, `running job` or `advice`.
    pub topic: String,
    /// What of it.
    pub name: String,
    /// `null` where nothing is known.
    pub figure: Option<f64>,
    /// What the figure counts; `null` without one.
    pub unit: Option<String>,
    /// Words about it.
    pub detail: Option<String>,
}

/// The answer.
#[derive(Debug, Serialize)]
pub struct Placement {
    /// How many nodes were asked for, each counted once.
    pub nodes: usize,
    /// In the order of their topics.
    pub rows: Vec<Fact>,
}

/// Answers `/api/v1/placement?nodes=nid[00000-00003]`.
///
/// # Errors
/// 400 for what is no list of nodes or a list that is too long, 503 before there is a store.
pub async fn placement(
    State(state): State<PageState>,
    Checked(query): Checked<PlacementQuery>,
) -> Answer<Placement> {
    let nodes = query.nodes()?;
    let answer = state.reader.read(move |store| read_placement(store, &nodes));
    answer.await.map(Json)
}

fn read_placement(store: &Store<'_>, nodes: &BTreeSet<Name>) -> Result<Placement, ApiError> {
    let list = serde_json::json!(nodes.iter().map(Name::as_str).collect::<Vec<_>>()).to_string();
    let rows = store.rows(PLACEMENT, &[&list], |row| {
        let figure: Option<f64> = row.get(2)?;
        let unit: Option<String> = row.get(3)?;
        let (topic, name, detail) = (row.get(0)?, row.get(1)?, row.get(4)?);
        Ok(Fact { topic, name, figure, unit: unit.filter(|_| figure.is_some()), detail })
    })?;
    Ok(Placement { nodes: nodes.len(), rows })
}
