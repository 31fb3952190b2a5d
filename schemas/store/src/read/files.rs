//! File systems: write rates, and jobs that write.

use super::{Question, question};

/// File systems.
pub const MOUNTS: Question = question!("files_mounts");
/// Write rates of one over time.
pub const RATES: Question = question!("files_rates");
/// Jobs that write to it.
pub const JOBS: Question = question!("files_jobs");
