//! Single links of a switch or a node, with their ports and states.

use crate::answer::ApiError;
use serde::Serialize;
use store::read::{self, Reader};

/// Maximum of links listed: a switch of 512 ports has 1,024.
const LINKS_MAX: i64 = 2_000;

/// The links of a vertex.
#[derive(Debug, Serialize)]
pub struct VertexLinks {
    clock: Option<f64>,
    at: Option<f64>,
    vertex: String,
    /// By series.
    links: Vec<OneLink>,
}

/// A directed link.
#[derive(Debug, Serialize)]
pub struct OneLink {
    /// The series that measures it; its last part is the port or tile.
    series: String,
    class: String,
    from: String,
    to: String,
    /// Its parallel links; empty for none.
    bundle: String,
    bytes_per_s: Option<f64>,
    /// `unknown` without a signal of that time, or without any.
    state: String,
    mean: Option<f64>,
    bound: Option<f64>,
}

/// Reads the links that leave or reach `vertex`, with their states at a time; without one, now.
pub(super) fn links_of(store: &Reader<'_>, vertex: String, at: Option<f64>) -> Result<VertexLinks, ApiError> {
    let clock = store.clock()?;
    let at = at.or(clock);
    let time = at.unwrap_or_default();
    let links = store.rows(read::map::LINKS_OF, &[&vertex, &time, &LINKS_MAX], |row| {
        Ok::<_, ApiError>(OneLink {
            series: row.get(0)?,
            class: row.get(1)?,
            from: row.get(2)?,
            to: row.get(3)?,
            bundle: row.get(4)?,
            bytes_per_s: row.get(5)?,
            state: row.get(6)?,
            mean: row.get(7)?,
            bound: row.get(8)?,
        })
    })?;
    match links.is_empty() {
        true => Err(ApiError::NotFound(format!("the topology has no link of {vertex}"))),
        false => Ok(VertexLinks { clock, at, vertex, links }),
    }
}
