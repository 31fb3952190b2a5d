//! What is known of one episode. Nothing is read or printed here.

use schemas::{Cause, CauseKind, CauseShare, Direction, Evidence, Metric};
use serde::Serialize;

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

/// One kept signal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// End of its tick.
    pub time: f64,
    /// The reading, in the metric's unit.
    pub value: Option<f64>,
    /// Its windowed mean.
    pub mean: Option<f64>,
    /// What the mean is compared with.
    pub baseline: Option<f64>,
    /// What the mean has to pass.
    pub bound: Option<f64>,
    /// What was decided.
    pub state: String,
    /// Ticks that it stands for.
    pub ticks: i64,
}

/// A contended region, as far as an episode needs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedRegion {
    /// Its number.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Most links it ever had.
    pub links_most: i64,
    /// Its largest cause.
    pub cause: Cause,
    /// What could be done about it.
    pub kind: CauseKind,
    /// How sure the cause is, 0 to 1.
    pub confidence: f64,
    /// Sources of its load, the largest share first.
    pub gainers: Vec<Gainer>,
}

/// A source of the load of a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gainer {
    /// What sort of cause.
    pub cause: Cause,
    /// The job, or the series where no job is known.
    pub series_or_job: String,
    /// Share of the load, 0 to 1.
    pub share: f64,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// What it rests on, the strongest first.
    pub evidence: Vec<Evidence>,
}

/// A stretch without data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingData {
    /// The silent source.
    pub producer: String,
    /// LDMS schema.
    pub schema: String,
    /// Its last row before.
    pub from: f64,
    /// Its next row; null while it is silent.
    pub until: Option<f64>,
}

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
