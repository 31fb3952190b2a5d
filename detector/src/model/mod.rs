//! The models per series: dense banks, one per metric, updated tick by tick.
//!
//! | module | what it holds |
//! |---|---|
//! | [`bank`] | either model behind one set of methods |
//! | [`params`] | what can be set per metric |
//! | [`published`] | the Actionable Metric Model as printed |
//! | [`robust`] | the default: bounds for means, quarantine, dated episodes, intervals |
//! | [`baseline`] | the robust model's non-contended window, in blocks |
//! | [`recent`] | the robust model's latest readings |

pub mod bank;
pub mod baseline;
pub mod params;
pub mod published;
pub mod recent;
pub mod robust;

pub use bank::Bank;
pub use params::{ModelKind, Params};

use crate::equations::LossSums;
use schemas::{State, Time};
use serde::{Deserialize, Serialize};

/// One reading of one series, as a bank takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// End of the interval it covers.
    pub time: Time,
    /// In the metric's unit.
    pub value: f64,
    /// Ticks it covers, at least 1; more than 1 after a short gap.
    pub span_ticks: u8,
    /// Whether the component did enough for the value to mean something.
    pub active: bool,
}

/// What a model knows of a series now; NaN where it knows nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// Windowed geometric mean, in the metric's unit.
    pub mean: f64,
    /// Non-contended geometric mean, in the metric's unit.
    pub baseline: f64,
    /// Threshold of the mean, in the metric's unit: a mean beyond it is flagged, or suspected where others decide.
    pub bound: f64,
    /// The state of the series.
    pub state: State,
    /// Accumulated seconds lost.
    pub slowdown_s: f64,
}

/// What happened in an update that the caller has to act on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelEvent {
    /// Nothing.
    Nothing,
    /// There are enough readings for a first baseline since this time. The caller, which sees the other
    /// series, decides whether they are of a quiet spell; until then the series continues to warm up.
    Warmed(Time),
    /// The mean of a falling metric passed its bound at this tick and has stayed beyond it since: a fall
    /// alone is a phase change, so the caller, which sees the other series, has to judge it ([`Suspicion`]).
    Suspected(Suspicion),
    /// Contention began: an episode is open.
    Began,
    /// Contention continues, or its estimate changed.
    Ongoing,
    /// The episode ended.
    Ended(Closing),
    /// The readings after an episode that ended made its estimate better.
    Settled(Closing),
}

/// A fall that waits for a judgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspicion {
    /// End of the last tick before the fall.
    pub start: Time,
    /// When the mean first passed its bound.
    pub since: Time,
    /// Baseline in the metric's unit.
    pub baseline: f64,
    /// Level after the fall, in the metric's unit.
    pub level: f64,
}

/// State of an open episode, or final state of a closed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    /// End of the last tick before contention.
    pub start: Time,
    /// End of the last contended tick.
    pub end: Time,
    /// Worst windowed mean, in the metric's unit.
    pub peak: f64,
    /// Baseline it was compared with, in the metric's unit.
    pub baseline: f64,
    /// What was lost.
    pub loss: LossSums,
    /// Half of the 95% interval of the loss, in seconds.
    pub half_width_s: f64,
    /// Readings seen.
    pub ticks_seen: u32,
    /// Ticks that these readings cover.
    pub ticks_expected: u32,
    /// Whether the readings came back to the baseline; else the series became idle, restarted or does something else now.
    pub recovered: bool,
}

/// Judgement of a fall, from the other series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judgement {
    /// Others took up what this series lost, or the server serves all clients worse.
    Contention,
    /// Others took up what this series lost, and got no more each than what is left to it.
    EqualShare,
    /// No other series gained: the series does something else now.
    OwnPhase,
    /// There is no other series to look at.
    Alone,
}
