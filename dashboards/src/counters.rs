//! Raw counters behind one series over time.

use crate::answer::ApiError;
use crate::points::POINTS_MAX;
use schemas::Metric;
use serde::Serialize;
use store::read::{self, Reader};

/// Means of the steps with stored counters, in columns, oldest first.
#[derive(Debug, Default, Serialize)]
pub struct Counters {
    /// Names of the counters: traffic passed, and waits. Null for a series without raw counters: a Lustre client, whose
    /// reading is the rate of its counter, and a whole router.
    counts: Option<[&'static str; 2]>,
    step_s: f64,
    /// Start of each step.
    time: Vec<f64>,
    passed_per_s: Vec<Option<f64>>,
    waited_per_s: Vec<Option<f64>>,
}

/// The counters behind series `name` of `metric` in a range, in at most [`POINTS_MAX`] steps of a second or more.
///
/// # Errors
/// When the store cannot be read.
pub fn read_counters(
    store: &Reader<'_>,
    name: &str,
    metric: Option<Metric>,
    (from, to): (f64, f64),
) -> Result<Counters, ApiError> {
    // A range that starts within a step has one step more.
    let step_s = ((to - from) / (POINTS_MAX - 1) as f64).ceil().max(1.0);
    let mut found = Counters { counts: metric.and_then(Metric::counts), step_s, ..Counters::default() };
    if found.counts.is_none() {
        return Ok(found);
    }
    store.rows(read::series::COUNTERS, &[&name, &from, &to, &step_s], |row| {
        found.time.push(row.get(0)?);
        found.passed_per_s.push(row.get(1)?);
        found.waited_per_s.push(row.get(2)?);
        Ok::<_, ApiError>(())
    })?;
    Ok(found)
}
