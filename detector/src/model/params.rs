//! What can be set per metric, with the defaults that the accuracy table was made with.

use crate::equations::SlowdownForm;
use schemas::{Direction, Metric};
use serde::{Deserialize, Serialize};

/// Which model decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// SAND2016-9525 as printed, errata of GUIDE section 1 applied.
    Published,
    /// The default.
    Robust,
}

/// Parameters of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Which way the metric goes under contention.
    pub direction: Direction,
    /// Window `omega`, in readings: 2 to [`WINDOW_MAX`], for `robust` 4 to [`ROBUST_WINDOW_MAX`].
    pub window: usize,
    /// `eta`: standard deviations between mean and bound; of single readings for `published`
    /// (report: 1), of the windowed mean for `robust` (5: under one false window in 10^6).
    pub eta: f64,
    /// How contention becomes seconds.
    pub slowdown: SlowdownForm,
    /// Least value that enters a logarithm, in the metric's unit.
    pub floor: f64,
    /// `robust`: least relative change of the mean worth flagging.
    pub least_effect: f64,
    /// `robust`: least absolute change of the mean worth flagging, in the metric's unit.
    pub least_change: f64,
    /// `robust`: whether a passing mean must be judged by the other series of its resource first.
    pub needs_judgement: bool,
    /// Length of a tick in seconds.
    pub tick_s: f64,
}

/// Largest floor: no reading lies above it.
const FLOOR_MAX: f64 = 1e15;
/// Longest window of the published model.
pub const WINDOW_MAX: usize = 64;
/// Longest window of the robust model; its long window is four times as long.
pub const ROBUST_WINDOW_MAX: usize = 16;

/// A parameter out of its range; the sentence names it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ParamsError {
    /// The window is out of range.
    #[error("window must lie between {least} and {most} for the {model:?} model, not {given}")]
    Window {
        /// Which model.
        model: ModelKind,
        /// What was given.
        given: usize,
        /// Least.
        least: usize,
        /// Most.
        most: usize,
    },
    /// A number is out of range.
    #[error("{name} must be a number {range}, not {given}")]
    Number {
        /// Which parameter.
        name: &'static str,
        /// What it may be.
        range: &'static str,
        /// What was given.
        given: f64,
    },
}

impl Params {
    /// Defaults of `model` for `metric`. Windows of `published` are the report's (4.2.2, 4.2.3).
    pub fn of(metric: Metric, model: ModelKind) -> Params {
        let direction = metric.direction();
        let falling = direction == Direction::Falling;
        Params {
            direction,
            window: if falling || model == ModelKind::Robust { 8 } else { 10 },
            eta: if model == ModelKind::Robust { 5.0 } else { 1.0 },
            slowdown: match model {
                _ if !metric.costs() => SlowdownForm::None,
                ModelKind::Robust => SlowdownForm::ServiceTime,
                ModelKind::Published => SlowdownForm::Corrected,
            },
            floor: metric.floor(),
            least_effect: if falling { 0.05 } else { 0.25 },
            least_change: metric.least_change(),
            needs_judgement: falling,
            tick_s: 1.0,
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ParamsError`] names the parameter, its range and what was given.
    pub fn checked(self, model: ModelKind) -> Result<Params, ParamsError> {
        let (least, most) = match model {
            ModelKind::Published => (2, WINDOW_MAX),
            ModelKind::Robust => (4, ROBUST_WINDOW_MAX),
        };
        if !(least..=most).contains(&self.window) {
            return Err(ParamsError::Window { model, given: self.window, least, most });
        }
        let number = |name, given: f64, range, holds: bool| match holds {
            true => Ok(()),
            false => Err(ParamsError::Number { name, range, given }),
        };
        number("eta", self.eta, "above 0 and at most 100", self.eta > 0.0 && self.eta <= 100.0)?;
        let floor = self.floor > 0.0 && self.floor <= FLOOR_MAX;
        number("floor", self.floor, "above 0 and at most 1e15", floor)?;
        let effect = self.least_effect > 0.0 && self.least_effect < 1.0;
        number("least_effect", self.least_effect, "between 0 and 1", effect)?;
        let change = self.least_change.is_finite() && self.least_change >= 0.0;
        number("least_change", self.least_change, "of at least 0", change)?;
        Ok(self)
    }
}
