//! File systems: rates of their clients and of jobs, by metric.

use super::{Question, question};

/// Metrics of clients.
pub const METRICS: Question = question!("files_metrics");
/// File systems.
pub const MOUNTS: Question = question!("files_mounts");
/// Rates of one over time.
pub const RATES: Question = question!("files_rates");
/// Jobs that use it.
pub const JOBS: Question = question!("files_jobs");
/// File systems at a time.
pub const MOUNTS_AT: Question = question!("files_mounts_at");
/// Jobs that used it at a time.
pub const JOBS_AT: Question = question!("files_jobs_at");
