//! The loss of a job over its run, from the profiles of its episodes.

use serde::Serialize;

/// Maximum of points in a curve.
const CURVE_POINTS: usize = 120;

/// The loss of one episode.
pub struct EpisodeLoss {
    /// Start of the episode.
    pub start: f64,
    /// Total loss, in seconds.
    pub slowdown_s: f64,
    /// `(time, seconds lost until then)`, oldest first.
    pub profile: Vec<(f64, f64)>,
}

impl EpisodeLoss {
    /// Seconds lost until `time`, by linear interpolation.
    pub fn until(&self, time: f64) -> f64 {
        let mut before = (self.start, 0.0);
        for &(at, lost) in &self.profile {
            if at >= time {
                let span = at - before.0;
                let part = if span > 0.0 { (time - before.0) / span } else { 1.0 };
                return before.1 + (lost - before.1) * part.clamp(0.0, 1.0);
            }
            before = (at, lost);
        }
        if time < self.start { 0.0 } else { self.slowdown_s }
    }
}

/// A curve in columns.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct LossCurve {
    /// Seconds since the epoch.
    pub time: Vec<f64>,
    /// Seconds lost until then.
    pub slowdown_s: Vec<f64>,
}

/// The curve from `start` to `end` that ends at `total_s`. Episodes of several series overlap, and a job
/// waits once for all of them. The shape comes from the episodes, the height from the result of the job.
pub fn loss_curve(episodes: &[EpisodeLoss], start: f64, end: f64, total_s: f64) -> LossCurve {
    let lost = |time: f64| -> f64 {
        let since_start = |e: &EpisodeLoss| (e.until(time) - e.until(start)).max(0.0);
        episodes.iter().map(since_start).sum()
    };
    let whole = lost(end);
    if end <= start || whole <= 0.0 {
        return LossCurve::default();
    }
    let step = (end - start) / (CURVE_POINTS - 1) as f64;
    let time: Vec<f64> = (0..CURVE_POINTS).map(|i| start + step * i as f64).collect();
    let slowdown_s = time.iter().map(|t| lost(*t) / whole * total_s).collect();
    LossCurve { time, slowdown_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(start: f64, end: f64, slowdown_s: f64) -> EpisodeLoss {
        EpisodeLoss { start, slowdown_s, profile: vec![(start, 0.0), (end, slowdown_s)] }
    }

    #[test]
    fn the_curve_rises_during_episodes_and_ends_at_the_total() {
        let curve = loss_curve(&[episode(10.0, 20.0, 5.0), episode(12.0, 20.0, 5.0)], 0.0, 119.0, 6.0);
        assert_eq!(curve.slowdown_s[10], 0.0);
        assert!(curve.slowdown_s[15] > 0.0);
        assert!((curve.slowdown_s[20] - 6.0).abs() < 1e-9);
        assert!((curve.slowdown_s[119] - 6.0).abs() < 1e-9);
    }

    #[test]
    fn no_loss_has_no_curve() {
        assert_eq!(loss_curve(&[], 0.0, 10.0, 0.0), LossCurve::default());
        assert_eq!(loss_curve(&[episode(1.0, 2.0, 1.0)], 5.0, 5.0, 1.0), LossCurve::default());
    }
}
