//! Contended stretches of a series.

use crate::{Cause, CauseShare, Direction, Metric, SeriesIndex, Time};
use serde::{Deserialize, Serialize};

/// Number of an episode within one store or replay, from 1, in order of detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EpisodeId(pub u64);

/// Loss accumulated up to a time within an episode; the points of its profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossPoint {
    /// End of the tick.
    pub time: Time,
    /// Seconds lost from the episode's start to `time`.
    pub slowdown_s: f64,
}

/// What supports an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeEvidence {
    /// Others were seen to take what was lost, or the shared resource to saturate.
    Confirmed,
    /// A fall that nothing else explains: it may be a phase of the job itself, so its interval reaches 0.
    Suspected,
}

/// A contended stretch: from the end of the last clear tick to the end of the last contended one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Its number; an open episode is written again under the same number until it ends.
    pub id: EpisodeId,
    /// Which series.
    pub series: SeriesIndex,
    /// When contention began, dated back to the change point.
    pub start: Time,
    /// When it ended, dated back likewise; for an open episode the latest tick.
    pub end: Time,
    /// Whether contention is ongoing.
    pub open: bool,
    /// The worst windowed mean, in the metric's unit.
    pub peak: f64,
    /// The baseline it is compared with, in the metric's unit.
    pub baseline: f64,
    /// Seconds lost, estimated.
    pub slowdown_s: f64,
    /// Lower end of its 95% interval, in seconds.
    pub slowdown_lo_s: f64,
    /// Upper end of its 95% interval, in seconds.
    pub slowdown_hi_s: f64,
    /// Ticks seen over ticks expected, 0 to 1.
    pub completeness: f64,
    /// How the loss grew: from the first tick to the last, at most [`PROFILE_POINTS_MAX`] points.
    pub profile: Vec<LossPoint>,
    /// Causes of this series' loss, as far as known; shares sum to at most 1.
    pub causes: Vec<CauseShare>,
}

/// Points an episode's profile may have; beyond it every second one is left out.
pub const PROFILE_POINTS_MAX: usize = 256;

impl Episode {
    /// What supports it; `metric` is that of its series. Stalls and waits are the saturation itself. Where counts differ in cost, what
    /// others gained supports little, and nothing does where no seconds follow.
    pub fn evidence(&self, metric: Metric) -> EpisodeEvidence {
        let explains = |cause: Cause| !matches!(cause, Cause::Unknown | Cause::Node);
        let is_explained = self.causes.iter().any(|cause| explains(cause.cause));
        let is_saturated = metric.direction() == Direction::Rising;
        match metric.costs() && (is_saturated || (is_explained && metric.is_alike())) {
            true => EpisodeEvidence::Confirmed,
            false => EpisodeEvidence::Suspected,
        }
    }

    /// Length in seconds.
    pub fn duration_s(&self) -> f64 {
        self.end.seconds_since(self.start)
    }

    /// Seconds lost between two times, by linear interpolation of the profile.
    pub fn slowdown_between_s(&self, from: Time, to: Time) -> f64 {
        (self.slowdown_until_s(to) - self.slowdown_until_s(from)).max(0.0)
    }

    /// The stretches of its profile in which at least the part `least` of the time was lost.
    pub fn stretches_with_loss(&self, least: f64) -> impl Iterator<Item = (Time, Time)> {
        let first = LossPoint { time: self.start, slowdown_s: 0.0 };
        let last = LossPoint { time: self.end, slowdown_s: self.slowdown_s };
        let ends = self.profile.iter().copied().chain([last]);
        let begins = [first].into_iter().chain(self.profile.iter().copied());
        let is_lossy = move |(begin, end): &(LossPoint, LossPoint)| {
            let span_s = end.time.seconds_since(begin.time);
            span_s > 0.0 && end.slowdown_s - begin.slowdown_s >= least * span_s
        };
        begins.zip(ends).filter(is_lossy).map(|(begin, end)| (begin.time, end.time))
    }

    fn slowdown_until_s(&self, time: Time) -> f64 {
        let mut before = LossPoint { time: self.start, slowdown_s: 0.0 };
        for point in &self.profile {
            if point.time >= time {
                let span = point.time.seconds_since(before.time);
                let part = if span > 0.0 { time.seconds_since(before.time) / span } else { 1.0 };
                return before.slowdown_s + (point.slowdown_s - before.slowdown_s) * part.clamp(0.0, 1.0);
            }
            before = *point;
        }
        self.slowdown_s
    }
}
