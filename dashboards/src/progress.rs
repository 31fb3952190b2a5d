//! The progress of a run, sent to the page at each tick.

use schemas::Time;
use serde::{Serialize, Serializer};

/// The progress of a run. The run sends one at each commit; the page shows the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// The newest event time that was processed; seconds since the epoch in JSON, `null` before any data.
    #[serde(serialize_with = "as_seconds")]
    pub event_time: Option<Time>,
    /// Raw rows read since the start.
    pub rows: u64,
    /// Raw rows read per second of wall clock, recently.
    pub rows_per_s: f64,
    /// Lag of the results behind the newest input, in seconds.
    pub lag_s: f64,
    /// Seconds of event time processed per second of wall clock.
    pub speed: f64,
    /// Whether the input has ended.
    pub finished: bool,
}

fn as_seconds<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(Time::seconds).serialize(serializer)
}
