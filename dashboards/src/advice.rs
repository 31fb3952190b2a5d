//! `/api/v1/advice`: current advice for a scheduler that polls.

use crate::answer::{Answer, ApiError, Checked};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use schemas::alert::advice_answer;
use schemas::{Notice, hostlist};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use store::read::{self, Reader};

/// Maximum of nodes in a request: those of the largest planned machine.
const NODES_MAX: usize = 20_000;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdviceQuery {
    /// Node names or a hostlist; without it all incidents are returned.
    #[serde(default)]
    nodes: String,
}

/// Answers `/api/v1/advice?nodes=nid[00000-00003]`.
///
/// # Errors
/// 400 for an invalid or too long list of nodes, 503 before there is a store.
pub async fn advice(State(state): State<PageState>, Checked(query): Checked<AdviceQuery>) -> Answer<Value> {
    let nodes = hostlist::expand(&query.nodes, NODES_MAX);
    let nodes = nodes.map_err(|why| ApiError::BadRequest(format!("nodes: {why}")))?;
    let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    let now_s = state.clock.as_ref().map(|clock| clock());
    state.reader.read(move |store| read_advice(store, &nodes, now_s)).await.map(Json)
}

fn read_advice(store: &Reader<'_>, nodes: &[String], now_s: Option<f64>) -> Result<Value, ApiError> {
    let texts: Vec<String> = store.rows(read::health::FIRING, &[], |row| row.get(0))?;
    let mut firing: Vec<Notice> = texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    if !nodes.is_empty() {
        let mut jobs = BTreeSet::new();
        let list = serde_json::to_string(nodes)?;
        jobs.extend(store.rows(read::jobs::ON_NODES, &[&list], |row| row.get::<String>(0))?);
        firing.retain(|notice| notice.concerns(nodes, &jobs));
    }
    let now_s = match now_s {
        Some(now_s) => now_s,
        None => store.clock()?.unwrap_or(0.0),
    };
    Ok(advice_answer(&firing, now_s))
}
