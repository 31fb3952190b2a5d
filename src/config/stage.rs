//! The stages by name.

use serde::Deserialize;

/// What a process does of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// LDMS rows to counters keyed by component.
    Aggregator,
    /// Counters to rates, signals and episodes.
    Detector,
    /// Signals to jobs, regions and verdicts.
    Rollup,
}

impl Stage {
    /// The word in the configuration, in metrics and in consumer groups.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Aggregator => "aggregator",
            Stage::Detector => "detector",
            Stage::Rollup => "rollup",
        }
    }
}
