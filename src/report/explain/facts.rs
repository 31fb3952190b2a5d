//! What is known of one episode. Nothing is read or printed here.

use schemas::{CauseShare, Direction, Metric};
use serde::Serialize;
use store::read::episodes::{MissingData, Sample};
use store::read::regions::ExplainedRegion;

/// Everything known of one episode. Times are seconds since the epoch, UTC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Number of the episode; of a database `partition:number`.
    pub episode: String,
    /// Name of the series.
    pub series: String,
    /// What it measures; null for a metric that this program does not know.
    pub metric: Option<Metric>,
    /// Start, dated back to the change point.
    pub start: f64,
    /// End; for an open episode its latest tick.
    pub end: f64,
    /// Whether it is ongoing.
    pub open: bool,
    /// The worst windowed mean, in the metric's unit; null if none is known.
    pub peak: Option<f64>,
    /// What it is compared with, in the metric's unit; null if none is known.
    pub baseline: Option<f64>,
    /// Seconds lost.
    pub slowdown_s: f64,
    /// Lower end of its 95% interval.
    pub slowdown_lo_s: f64,
    /// Upper end of its 95% interval.
    pub slowdown_hi_s: f64,
    /// Ticks seen over ticks expected, 0 to 1.
    pub completeness: f64,
    /// Causes of the series' loss.
    pub causes: Vec<CauseShare>,
    /// Samples from `AROUND_S` before the onset until as long after it.
    pub samples: Vec<Sample>,
    /// The region that it belongs to.
    pub region: Option<ExplainedRegion>,
    /// Stretches in which its component, or a copy of it, was silent.
    pub silences: Vec<MissingData>,
}

/// Seconds of samples shown on each side of the onset.
pub const AROUND_S: f64 = 15.0;

impl Explained {
    /// The first sample from the onset on that was called contended.
    pub fn decided(&self) -> Option<&Sample> {
        self.samples.iter().find(|s| s.time >= self.start && s.state == "contended")
    }

    /// Whether the metric falls under contention.
    pub fn falls(&self) -> bool {
        self.metric.is_some_and(|m| m.direction() == Direction::Falling)
    }
}
