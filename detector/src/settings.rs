//! What can be set for the detector as a whole.

use crate::model::params::ParamsError;
use crate::model::{ModelKind, Params};
use schemas::Metric;
use serde::{Deserialize, Serialize};

/// Series and jobs that one detector keeps, by default.
const SERIES_MAX: usize = 2_000_000;
const JOBS_MAX: usize = 1_000_000;

/// Seconds after which what was not seen is forgotten, by default.
const FORGET_AFTER_S: f64 = 30.0 * 86_400.0;

/// Seconds after its end when a job is forgotten; the store keeps it.
pub const JOBS_KEPT_S: f64 = 86_400.0;

/// Rules of the stream (DESIGN section 5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamSettings {
    /// Seconds between samples.
    pub tick_s: f64,
    /// Seconds by which a row may be older than the newest of its component.
    pub lateness_s: f64,
    /// Seconds of silence after which a standby source takes over.
    pub silence_s: f64,
    /// Longest gap, seconds without a sample, that one reading bridges.
    pub gap_s: f64,
}

impl StreamSettings {
    /// Seconds after its start or end when the baselines of a job's nodes restart: rows of the job may come as late as any
    /// other, and whatever their order is, the same readings count.
    pub fn boundary_delay_s(&self) -> f64 {
        self.lateness_s + 0.5 * self.tick_s
    }

    /// Longest wait, in seconds, for rows that were lost, whatever became of their component: a row comes late by
    /// the lateness, and another one that shows it comes late by the same.
    pub fn max_wait_s(&self) -> f64 {
        2.0 * self.lateness_s + self.tick_s
    }

    /// Longest interval of one reading: a gap, the tick that ends it, and half a tick for jitter.
    pub fn longest_interval_s(&self) -> f64 {
        self.gap_s + 1.5 * self.tick_s
    }
}

impl Default for StreamSettings {
    fn default() -> Self {
        StreamSettings { tick_s: 1.0, lateness_s: 3.0, silence_s: 2.0, gap_s: 5.0 }
    }
}

/// Rules for jobs without an end event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSettings {
    /// Seconds after its start when a job counts as over though no end event was received.
    pub open_max_s: f64,
    /// Whether nodes may have several jobs at once; if not, a job ends at the latest when another starts on a node of it.
    pub shared_nodes: bool,
}

impl Default for JobSettings {
    fn default() -> Self {
        JobSettings { open_max_s: 7.0 * 86_400.0, shared_nodes: true }
    }
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Rules of the stream.
    pub stream: StreamSettings,
    /// Which model decides.
    pub model: ModelKind,
    /// Parameters per metric, in the order of their numbers.
    pub params: Vec<Params>,
    /// Rules for jobs.
    pub jobs: JobSettings,
    /// Seconds of event time after which what was not seen is forgotten: sources, components, series. `None`: never.
    pub forget_after_s: Option<f64>,
    /// Series that one detector keeps.
    pub series_max: usize,
    /// Numbers of jobs that one detector keeps.
    pub jobs_max: usize,
}

impl Settings {
    /// Defaults of a model.
    pub fn of(model: ModelKind) -> Settings {
        let params = Metric::all().map(|metric| Params::of(metric, model)).collect();
        Settings {
            stream: StreamSettings::default(),
            model,
            params,
            jobs: JobSettings::default(),
            forget_after_s: Some(FORGET_AFTER_S),
            series_max: SERIES_MAX,
            jobs_max: JOBS_MAX,
        }
    }

    /// Seconds after its end for which a job is kept: late rows and ends of its nodes still change it.
    pub fn jobs_kept_s(&self) -> f64 {
        self.forget_after_s.map_or(JOBS_KEPT_S, |after_s| after_s.min(JOBS_KEPT_S))
    }

    /// Sets window or eta of all metrics where given.
    ///
    /// # Errors
    /// [`ParamsError`] if a value is out of its range.
    pub fn with(mut self, window: Option<usize>, eta: Option<f64>) -> Result<Settings, ParamsError> {
        for params in &mut self.params {
            params.window = window.unwrap_or(params.window);
            params.eta = eta.unwrap_or(params.eta);
            *params = params.checked(self.model)?;
        }
        Ok(self)
    }
}
