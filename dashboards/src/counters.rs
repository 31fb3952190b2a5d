//! What the raw counters behind one series did over time.

use crate::answer::ApiError;
use crate::points::POINTS_MAX;
use crate::question;
use crate::store::Store;
use schemas::Metric;
use serde::Serialize;

/// Means of steps in which something is kept, in columns, oldest first.
#[derive(Debug, Default, Serialize)]
pub struct Counters {
    /// What is counted: what passed, and what held it up. Null for a series without raw counters of its own: a Lustre client,
    /// whose reading is its counter's rate, and a router as a whole.
    counts: Option<[&'static str; 2]>,
    step_s: f64,
    /// Begin of each step.
    time: Vec<f64>,
    passed_per_s: Vec<Option<f64>>,
    waited_per_s: Vec<Option<f64>>,
}

/// The counters behind series `name` of `metric` between two times, in at most [`POINTS_MAX`] steps of a second or more.
///
/// # Errors
/// When the store cannot be read.
pub fn read_counters(
    store: &Store<'_>,
    name: &str,
    metric: Option<Metric>,
    (from, to): (f64, f64),
) -> Result<Counters, ApiError> {
    // A step that the range begins in the middle of is one more.
    let step_s = ((to - from) / (POINTS_MAX - 1) as f64).ceil().max(1.0);
    let mut found = Counters { counts: metric.and_then(Metric::counts), step_s, ..Counters::default() };
    if found.counts.is_none() {
        return Ok(found);
    }
    store.rows(question!("counters"), &[&name, &from, &to, &step_s], |row| {
        found.time.push(row.get(0)?);
        found.passed_per_s.push(row.get(1)?);
        found.waited_per_s.push(row.get(2)?);
        Ok(())
    })?;
    Ok(found)
}
