//! `/api/v1/blame` and `/api/v1/jobs/{id}/caused`: who lost how much to whom.

use crate::answer::{Answer, ApiError, Checked, checked_job_id, checked_limit, checked_span, checked_time};
use crate::beside::runs_of;
use crate::router::PageState;
use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use store::read::{self, Reader, Row};

const PAIRS_STANDARD: u32 = 100;
const PAIRS_MAX: u32 = 1_000;
/// Longest span of time, in seconds: some more than a year.
const SPAN_MAX_S: f64 = 400.0 * 86_400.0;
/// Span where none is requested, in seconds.
const SPAN_STANDARD_S: f64 = 86_400.0;
/// Maximum of victims of one job.
const VICTIMS_MAX: i64 = 1_000;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlameQuery {
    /// In seconds since the epoch; without them the latest day.
    from: Option<f64>,
    to: Option<f64>,
    limit: Option<u32>,
}

/// A job in the ledger.
#[derive(Debug, Serialize)]
pub struct Party {
    job_id: String,
    user: String,
    name: String,
}

/// Node-hours with the ends of their 95% interval.
#[derive(Debug, Serialize)]
pub struct NodeHours {
    node_hours: f64,
    node_hours_lo: f64,
    node_hours_hi: f64,
}

/// What one job lost to another within the span.
#[derive(Debug, Serialize)]
pub struct Pair {
    victim: Party,
    aggressor: Party,
    /// Seconds of the victim.
    lost_s: f64,
    #[serde(flatten)]
    lost: NodeHours,
}

/// The response of the ledger.
#[derive(Debug, Serialize)]
pub struct Blame {
    clock: Option<f64>,
    from: Option<f64>,
    to: Option<f64>,
    /// Number of pairs, listed or not, and their sum.
    total: i64,
    #[serde(flatten)]
    lost: NodeHours,
    /// Largest lower end first.
    pairs: Vec<Pair>,
}

/// A victim of a job.
#[derive(Debug, Serialize)]
pub struct Victim {
    job_id: String,
    user: String,
    name: String,
    cause: String,
    kind: String,
    /// Share of the victim's loss.
    share: f64,
    lost_s: f64,
    lost_lo_s: f64,
    lost_hi_s: f64,
    #[serde(flatten)]
    lost: NodeHours,
}

/// The response of `/caused`.
#[derive(Debug, Serialize)]
pub struct Caused {
    /// Largest lower end first.
    victims: Vec<Victim>,
}

/// Answers `/api/v1/blame`.
///
/// # Errors
/// 400 for bad parameters.
pub async fn blame(State(state): State<PageState>, Checked(query): Checked<BlameQuery>) -> Answer<Blame> {
    let limit = i64::from(checked_limit(query.limit, PAIRS_STANDARD, PAIRS_MAX)?);
    state.reader.read(move |store| read_blame(store, &query, limit)).await.map(Json)
}

/// Answers `/api/v1/jobs/{id}/caused`.
///
/// # Errors
/// 400 for an invalid job id, 404 for an unknown job.
pub async fn caused(State(state): State<PageState>, Path(id): Path<String>) -> Answer<Caused> {
    let id = checked_job_id(&id)?;
    let answer = state.reader.read(move |store| {
        runs_of(store, id.as_str())?;
        Ok(Caused { victims: store.rows(read::jobs::CAUSED, &[&id.as_str(), &VICTIMS_MAX], victim)? })
    });
    answer.await.map(Json)
}

fn read_blame(store: &Reader<'_>, query: &BlameQuery, limit: i64) -> Result<Blame, ApiError> {
    let clock = store.clock()?;
    let to = query.to.or(clock).map(|to| checked_time("to", to)).transpose()?;
    let from = query.from.or(to.map(|to| (to - SPAN_STANDARD_S).max(0.0)));
    let from = from.map(|from| checked_time("from", from)).transpose()?;
    let (mut total, mut lost, mut pairs) = (0, NodeHours::none(), Vec::new());
    if let (Some(from), Some(to)) = (from, to) {
        checked_span(from, to, SPAN_MAX_S)?;
        pairs = store.rows(read::jobs::BLAME, &[&from, &to, &limit], |row| {
            (total, lost) = (row.get(10)?, NodeHours::at(row, 11)?);
            pair(row)
        })?;
    }
    Ok(Blame { clock, from, to, total, lost, pairs })
}

impl NodeHours {
    fn none() -> NodeHours {
        NodeHours { node_hours: 0.0, node_hours_lo: 0.0, node_hours_hi: 0.0 }
    }

    /// Three columns from `first` on.
    fn at(row: &Row<'_>, first: usize) -> Result<NodeHours, ApiError> {
        // The stores add in an order of their own, which changes the last digits.
        let rounded = |hours: f64| (hours * 1e9).round() / 1e9;
        Ok(NodeHours {
            node_hours: rounded(row.get(first)?),
            node_hours_lo: rounded(row.get(first + 1)?),
            node_hours_hi: rounded(row.get(first + 2)?),
        })
    }
}

fn pair(row: &Row<'_>) -> Result<Pair, ApiError> {
    let party = |first: usize| -> Result<Party, ApiError> {
        Ok(Party { job_id: row.get(first)?, user: row.get(first + 1)?, name: row.get(first + 2)? })
    };
    Ok(Pair { victim: party(0)?, aggressor: party(3)?, lost_s: row.get(6)?, lost: NodeHours::at(row, 7)? })
}

fn victim(row: &Row<'_>) -> Result<Victim, ApiError> {
    Ok(Victim {
        job_id: row.get(0)?,
        user: row.get(1)?,
        name: row.get(2)?,
        cause: row.get(3)?,
        kind: row.get(4)?,
        share: row.get(5)?,
        lost_s: row.get(6)?,
        lost_lo_s: row.get(7)?,
        lost_hi_s: row.get(8)?,
        lost: NodeHours::at(row, 9)?,
    })
}
