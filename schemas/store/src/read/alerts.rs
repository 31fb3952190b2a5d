//! Incidents, the deliveries of their notices, and silences.

use super::{Question, question};

/// Incidents: those that fire; also ended ones that began since a time. At most 1,000.
pub const LIST: Question = question!("alert_list");
/// One incident.
pub const ONE: Question = question!("alert");
/// Deliveries of its notices.
pub const DELIVERIES: Question = question!("alert_deliveries");
/// Silences that end after a time, by the clock of the deliverer.
pub const SILENCES: Question = question!("alert_silences");
