//! `/api/v1/placement`: what a job would meet now, on given nodes and by the earlier runs of its application.

use crate::answer::{Answer, ApiError, Checked};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use schemas::{Name, hostlist};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use store::read::Reader;
use store::read::placement::{OF_APPLICATION, OF_NODES};

/// Maximum of nodes in a request: those of the largest planned machine.
const NODES_MAX: usize = 20_000;
/// Maximum of bytes in the name of an application or a user.
const NAME_BYTES_MAX: usize = 128;

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacementQuery {
    nodes: Option<String>,
    app: Option<String>,
    user: Option<String>,
}

/// The names in a request, checked.
#[derive(Debug)]
struct Asked {
    nodes: BTreeSet<Name>,
    app: Option<String>,
    user: Option<String>,
}

impl PlacementQuery {
    /// # Errors
    /// 400 without nodes and application, for an invalid, empty or too long list of nodes, and for an invalid name.
    fn checked(self) -> Result<Asked, ApiError> {
        let bad = |text: &str| ApiError::BadRequest(text.to_string());
        if self.nodes.is_none() && self.app.is_none() {
            return Err(bad("give nodes, app or both: nodes=nid[00000-00003], app=NAME"));
        }
        if self.user.is_some() && self.app.is_none() {
            return Err(bad("user needs app: it chooses among the runs of an application"));
        }
        let nodes = self.nodes.as_deref().map(nodes).transpose()?.unwrap_or_default();
        Ok(Asked { nodes, app: checked_name("app", self.app)?, user: checked_name("user", self.user)? })
    }
}

/// The nodes of a host list, each once.
fn nodes(list: &str) -> Result<BTreeSet<Name>, ApiError> {
    let hosts =
        hostlist::expand(list, NODES_MAX).map_err(|why| ApiError::BadRequest(format!("nodes: {why}")))?;
    if hosts.is_empty() {
        return Err(ApiError::BadRequest("nodes is an empty list".to_string()));
    }
    Ok(hosts.into_iter().collect())
}

/// A name that a job may have: text without control characters.
fn checked_name(parameter: &str, name: Option<String>) -> Result<Option<String>, ApiError> {
    let Some(name) = name else { return Ok(None) };
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        let text = format!("{parameter}: a name has 1 to {NAME_BYTES_MAX} bytes and no control characters");
        return Err(ApiError::BadRequest(text));
    }
    Ok(Some(name))
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

/// A fact about an application.
#[derive(Debug, Serialize)]
pub struct ApplicationFact {
    /// `lost`, `suffers on links`, `loses to`, …
    topic: String,
    /// Name within the topic.
    name: String,
    /// `null` if unknown.
    figure: Option<f64>,
    /// Ends of the interval of a loss; `null` for other figures.
    figure_lo: Option<f64>,
    figure_hi: Option<f64>,
    /// Unit of the figure; `null` without a figure.
    unit: Option<String>,
    /// Explanation.
    detail: Option<String>,
}

/// What is known of an application.
#[derive(Debug, Serialize)]
pub struct Application {
    app: String,
    /// Whose runs count; `null` for those of all users.
    user: Option<String>,
    /// Sorted by topic.
    rows: Vec<ApplicationFact>,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Placement {
    /// Number of requested nodes, each counted once.
    pub nodes: usize,
    /// About the nodes, sorted by topic.
    pub rows: Vec<Fact>,
    /// `null` without a requested application.
    pub application: Option<Application>,
}

/// Answers `/api/v1/placement?nodes=nid[00000-00003]&app=cfd&user=ann`.
///
/// # Errors
/// 400 for an invalid request, 503 before there is a store.
pub async fn placement(
    State(state): State<PageState>,
    Checked(query): Checked<PlacementQuery>,
) -> Answer<Placement> {
    let Asked { nodes, app, user } = query.checked()?;
    let asked = nodes.len();
    // Two connections: each of the answers takes a part of a second in a large store.
    let of_nodes = state.reader.read(move |store| match nodes.is_empty() {
        true => Ok(Vec::new()),
        false => read_nodes(store, &nodes),
    });
    let of_application = async {
        let Some(app) = app else { return Ok(None) };
        state.reader.read(move |store| read_application(store, app, user)).await.map(Some)
    };
    let (rows, application) = tokio::try_join!(of_nodes, of_application)?;
    Ok(Json(Placement { nodes: asked, rows, application }))
}

/// The same where the jobs of all users are not shown: without applications.
///
/// # Errors
/// 403 for a request with an application, and as [`placement`].
pub async fn placement_of_nodes(
    State(state): State<PageState>,
    Checked(query): Checked<PlacementQuery>,
) -> Answer<Placement> {
    if query.app.is_some() {
        let text = "app needs http.token_file and its token: the answer comes from the jobs of all users";
        return Err(ApiError::Forbidden(text.to_string()));
    }
    placement(State(state), Checked(query)).await
}

fn read_nodes(store: &Reader<'_>, nodes: &BTreeSet<Name>) -> Result<Vec<Fact>, ApiError> {
    let list = serde_json::json!(nodes.iter().map(Name::as_str).collect::<Vec<_>>()).to_string();
    store.rows(OF_NODES, &[&list], |row| {
        let figure: Option<f64> = row.get(2)?;
        let unit: Option<String> = row.get(3)?;
        let (topic, name, detail) = (row.get(0)?, row.get(1)?, row.get(4)?);
        Ok(Fact { topic, name, figure, unit: unit.filter(|_| figure.is_some()), detail })
    })
}

fn read_application(store: &Reader<'_>, app: String, user: Option<String>) -> Result<Application, ApiError> {
    let rows = store.rows(OF_APPLICATION, &[&app, &user], |row| {
        let figure: Option<f64> = row.get(2)?;
        let unit: Option<String> = row.get(5)?;
        Ok::<_, ApiError>(ApplicationFact {
            topic: row.get(0)?,
            name: row.get(1)?,
            figure,
            figure_lo: row.get(3)?,
            figure_hi: row.get(4)?,
            unit: unit.filter(|_| figure.is_some()),
            detail: row.get(6)?,
        })
    })?;
    Ok(Application { app, user, rows })
}
