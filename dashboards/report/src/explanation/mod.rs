//! Why a stretch was called contended: what was measured, which rule decided, the causes, and what data was missing.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod.rs` | [`Explanation`], the facts, and which sample decided |
//! | `number.rs` | the number of an episode |
//! | `read.rs` | reading the facts |
//! | `text.rs` | the facts as text |

mod number;
mod read;
mod text;

use crate::ReportError;
use schemas::{CauseShare, Direction, Metric};
use serde::Serialize;
use store::read::episodes::{MissingData, Sample};
use store::read::regions::ExplainedRegion;

/// Everything known of one episode. Times are seconds since the epoch, UTC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Number of the episode; of a database `partition:number`.
    episode: String,
    /// Name of the series.
    series: String,
    /// What it measures; null for a metric that this program does not know.
    metric: Option<Metric>,
    /// Start, dated back to the change point.
    start: f64,
    /// End; for an open episode its latest tick.
    end: f64,
    /// Whether it is ongoing.
    open: bool,
    /// The worst windowed mean, in the metric's unit; null if none is known.
    peak: Option<f64>,
    /// What it is compared with, in the metric's unit; null if none is known.
    baseline: Option<f64>,
    /// Seconds lost.
    slowdown_s: f64,
    /// Lower end of its 95% interval.
    slowdown_lo_s: f64,
    /// Upper end of its 95% interval.
    slowdown_hi_s: f64,
    /// Ticks seen over ticks expected, 0 to 1.
    completeness: f64,
    /// Causes of the series' loss.
    causes: Vec<CauseShare>,
    /// Samples from `AROUND_S` before the onset until as long after it.
    samples: Vec<Sample>,
    /// The region that it belongs to.
    region: Option<ExplainedRegion>,
    /// Stretches in which its component, or a copy of it, was silent.
    silences: Vec<MissingData>,
}

/// Seconds of samples shown on each side of the onset.
const AROUND_S: f64 = 15.0;

impl Explanation {
    /// One JSON object and a line break.
    ///
    /// # Errors
    /// Never with the values that a store has.
    pub fn json(&self) -> Result<String, ReportError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The first sample from the onset on that was called contended.
    fn decided(&self) -> Option<&Sample> {
        self.samples.iter().find(|s| s.time >= self.start && s.state == "contended")
    }

    /// Whether the metric falls under contention.
    fn falls(&self) -> bool {
        self.metric.is_some_and(|m| m.direction() == Direction::Falling)
    }
}
