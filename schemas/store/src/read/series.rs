//! Series: their latest signals, and signals and counters of one over time.

use super::{Question, question};

/// The catalogue of metrics, and which have series.
pub const METRICS: Question = question!("metrics");
/// Raw counters behind one series.
pub const COUNTERS: Question = question!("counters");
/// Number of series.
pub const COUNT: Question = question!("series_count");
/// Latest signal of every series.
pub const LATEST: Question = question!("now_series");
/// The same by component.
pub const LATEST_OF_COMPONENTS: Question = question!("now_components");
/// Series with the worst latest signal.
pub const WORST: Question = question!("now_top");
/// Number of signals of a series over time.
pub const POINT_COUNT: Question = question!("point_count");
/// Signals of a series over time.
pub const POINTS: Question = question!("points");
/// Latest signal of one series.
pub const BY_NAME: Question = question!("series_by_name");
/// Jobs that used a series.
pub const JOBS: Question = question!("series_jobs");
/// Series by state.
pub const TOTALS: Question = question!("totals");
/// Signal of every series at a time.
pub const AT: Question = question!("now_series_at");
/// The same by component.
pub const AT_OF_COMPONENTS: Question = question!("now_components_at");
