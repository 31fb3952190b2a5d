//! `/api/v1/incidents`: contended regions and contention of file systems in one list.

use crate::answer::{Answer, ApiError, Checked, checked_between, checked_limit};
use crate::list_query::{Filters, Order, checked_state};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use store::read::{self, Row};

const INCIDENTS_STANDARD: u32 = 100;
const INCIDENTS_MAX: u32 = 1_000;
const COLUMNS: [&str; 8] = ["name", "start", "length", "size", "kind", "cause", "source", "lost"];

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncidentQuery {
    /// Only incidents that end at this time or later, in seconds since the epoch.
    from: Option<f64>,
    /// Only incidents that start at this time or before.
    to: Option<f64>,
    /// `open` or `ended`.
    state: Option<String>,
    /// User of an affected job, of one that caused it, or of one with clients of the file system.
    user: Option<String>,
    /// A switch of its links, a node of such a switch, or a contended client.
    node: Option<String>,
    cause: Option<String>,
    mount: Option<String>,
    /// One of `COLUMNS`.
    sort: Option<String>,
    dir: Option<String>,
    limit: Option<u32>,
    offset: Option<u32>,
}

/// An incident.
#[derive(Debug, Serialize)]
pub struct Incident {
    /// `region` or `storage`.
    about: String,
    /// The number of the region, or 16 hexadecimal digits of the incident of the rules.
    id: String,
    /// Number of the region; `null` of a file system.
    region: Option<i64>,
    /// The file system; `null` of a region.
    mount: Option<String>,
    metric: Option<String>,
    name: String,
    start: f64,
    /// End; of an open one the latest time.
    end: f64,
    open: bool,
    /// Maximum of links of a region; clients of a file system, of an ended one their maximum.
    members: i64,
    /// What could be done about a region.
    kind: String,
    cause: String,
    /// The series or job that is the main cause.
    who: Option<String>,
    confidence: f64,
    completeness: f64,
    /// `null` without an affected job, like the ends of the interval.
    lost_s: Option<f64>,
    lost_lo_s: Option<f64>,
    lost_hi_s: Option<f64>,
    /// Whose loss: the sum of all affected `jobs`, or that of the `worst_client` of a file system that no job used.
    lost_by: String,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Incidents {
    clock: Option<f64>,
    /// Number of matching incidents; 0 also where `offset` is beyond the last.
    total: i64,
    /// Open ones first, then the largest lower end of the loss, unless another order is requested.
    incidents: Vec<Incident>,
}

/// Answers `/api/v1/incidents`.
///
/// # Errors
/// 400 for bad parameters.
pub async fn incidents(
    State(state): State<PageState>,
    Checked(query): Checked<IncidentQuery>,
) -> Answer<Incidents> {
    let limit = i64::from(checked_limit(query.limit, INCIDENTS_STANDARD, INCIDENTS_MAX)?);
    let offset = i64::from(query.offset.unwrap_or(0));
    let [from, to] = checked_between(query.from, query.to)?;
    let open = checked_state(query.state.as_deref(), ["open", "ended"])?;
    let filters = Filters::checked(
        query.user.as_deref(),
        query.node.as_deref(),
        query.cause.as_deref(),
        query.mount.as_deref(),
    )?;
    let Order { by, sign } = Order::checked(query.sort.as_deref(), query.dir.as_deref(), &COLUMNS)?;
    let answer = state.reader.read(move |store| {
        let mut total = 0;
        let [user, node, cause, mount] = filters.parameters();
        let parameters: read::Parameters<'_> =
            &[&from, &to, &open, &user, &node, &cause, &mount, &by, &sign, &limit, &offset];
        let incidents = store.rows(read::regions::INCIDENTS, parameters, |row| {
            total = row.get(19)?;
            incident(row)
        })?;
        Ok(Incidents { clock: store.clock()?, total, incidents })
    });
    answer.await.map(Json)
}

fn incident(row: &Row<'_>) -> Result<Incident, ApiError> {
    Ok(Incident {
        about: row.get(0)?,
        id: row.get(1)?,
        region: row.get(2)?,
        mount: row.get(3)?,
        metric: row.get(4)?,
        name: row.get(5)?,
        start: row.get(6)?,
        end: row.get(7)?,
        open: row.get(8)?,
        members: row.get(9)?,
        kind: row.get(10)?,
        cause: row.get(11)?,
        who: row.get(12)?,
        confidence: row.get(13)?,
        completeness: row.get(14)?,
        lost_s: row.get(15)?,
        lost_lo_s: row.get(16)?,
        lost_hi_s: row.get(17)?,
        lost_by: row.get(18)?,
    })
}
