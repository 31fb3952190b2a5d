//! The monitoring itself: sources, rows that were not used, incidents.

use super::{Question, question};
use tokio_postgres::{Error, Row};

/// Notices of incidents that fire, as JSON.
pub const FIRING: Question = question!("firing");
/// Number of sources by state.
pub const PRODUCER_COUNTS: Question = question!("producer_counts");
/// Sources with their latest rows.
pub const PRODUCERS: Question = question!("producers");
/// Rows that were not used, by reason.
pub const DROPS: Question = question!("drops");
/// Figures of the monitoring over time; the server alone keeps them.
pub const HISTORY: &str = include_str!("../../sql/read/postgres/health_history.sql");
/// Tailback's own condition beside its limits; the server alone has it.
pub const CONDITIONS: &str = include_str!("../../sql/read/postgres/monitor_health.sql");

/// A value of Tailback's own condition beside its limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condition {
    /// Key of the limit.
    pub name: String,
    /// The stage or the receiver; empty where there is one value alone.
    pub label: String,
    /// The value.
    pub value: f64,
    /// Its limit.
    pub above: f64,
    /// Whether it is above the limit.
    pub is_exceeded: bool,
    /// What is measured.
    pub meaning: String,
}

/// A row of [`CONDITIONS`].
///
/// # Errors
/// A row of another shape.
pub fn condition(row: &Row) -> Result<Condition, Error> {
    Ok(Condition {
        name: row.try_get(0)?,
        label: row.try_get(1)?,
        value: row.try_get(2)?,
        above: row.try_get(3)?,
        is_exceeded: row.try_get(4)?,
        meaning: row.try_get(5)?,
    })
}
