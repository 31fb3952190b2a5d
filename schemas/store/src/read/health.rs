//! The monitoring itself: sources, rows that were not used, incidents.

use super::{Question, question};

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
