//! `/api/v1/jobs/{id}/footprint`: where a job is on the map, and its rivals.

use crate::answer::{Answer, ApiError, checked_job_id};
use crate::beside::runs_of;
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use serde::Serialize;
use std::collections::BTreeSet;
use store::read::{self, Reader};

/// Maximum of pairs of a node and a switch of one job.
const NODES_MAX: i64 = 50_000;
/// Maximum of links of one job.
const LINKS_MAX: i64 = 50_000;
/// Maximum of rivals; the largest shares come first.
const RIVALS_MAX: i64 = 12;

/// Nodes and switches of a job.
#[derive(Debug, Serialize)]
pub struct Nodes {
    nodes: Vec<String>,
    /// The switches that its nodes are on.
    switches: Vec<String>,
}

/// A job that took what this one lost, or lost what this one took.
#[derive(Debug, Serialize)]
pub struct Rival {
    job_id: String,
    user: String,
    name: String,
    /// `source`: the job lost time to it; `affected`: it lost time to the job.
    role: String,
    /// Of the loss of the one that lost.
    share: f64,
    #[serde(flatten)]
    nodes: Nodes,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Footprint {
    job_id: String,
    #[serde(flatten)]
    nodes: Nodes,
    /// Its links, each direction: those that its nodes or switches measure, and those of regions that it waits in.
    links: Ends,
    rivals: Vec<Rival>,
}

/// Links by their ends.
#[derive(Debug, Default, Serialize)]
struct Ends {
    from: Vec<String>,
    to: Vec<String>,
}

/// Answers `/api/v1/jobs/{id}/footprint`.
///
/// # Errors
/// 400 for an invalid job id, 404 for an unknown job.
pub async fn footprint(State(state): State<PageState>, Path(id): Path<String>) -> Answer<Footprint> {
    let id = checked_job_id(&id)?;
    let answer = state.reader.read(move |store| {
        let id = id.as_str();
        runs_of(store, id)?;
        let mut links = Ends::default();
        store.rows(read::map::JOB_LINKS, &[&id, &LINKS_MAX], |row| {
            links.from.push(row.get(0)?);
            links.to.push(row.get(1)?);
            Ok::<_, ApiError>(())
        })?;
        Ok(Footprint {
            job_id: id.to_string(),
            nodes: nodes_of(store, id)?,
            links,
            rivals: rivals(store, id)?,
        })
    });
    answer.await.map(Json)
}

fn nodes_of(store: &Reader<'_>, id: &str) -> Result<Nodes, ApiError> {
    let (mut nodes, mut switches) = (BTreeSet::new(), BTreeSet::new());
    store.rows(read::map::JOB_NODES, &[&id, &NODES_MAX], |row| {
        nodes.insert(row.get::<String>(0)?);
        switches.extend(row.get::<Option<String>>(1)?);
        Ok::<_, ApiError>(())
    })?;
    Ok(Nodes { nodes: nodes.into_iter().collect(), switches: switches.into_iter().collect() })
}

fn rivals(store: &Reader<'_>, id: &str) -> Result<Vec<Rival>, ApiError> {
    let named = store.rows(read::map::JOB_RIVALS, &[&id, &RIVALS_MAX], |row| {
        let (job_id, user, name): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok::<_, ApiError>((job_id, user, name, row.get::<String>(3)?, row.get::<f64>(4)?))
    })?;
    let rival = |(job_id, user, name, role, share): (String, String, String, String, f64)| {
        let nodes = nodes_of(store, &job_id)?;
        Ok(Rival { job_id, user, name, role, share, nodes })
    };
    named.into_iter().map(rival).collect()
}
