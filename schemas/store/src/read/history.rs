//! The latest hours: contended links and clients, and incidents.

use super::{Question, question};

/// Contended stretches of an embedded store, contended minutes of a database: from, until, metric, whether it measures links,
/// number of series.
pub const CONTENDED: Question = question!("history_episodes", "history_minutes");
/// Incidents: from, until.
pub const INCIDENTS: Question = question!("history_incidents");
/// Since when signals are stored.
pub const FROM: Question = question!("history_from");
