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
    let lost = |time: f64| lost_between(episodes, start, time);
    let whole = lost(end);
    if end <= start || whole <= 0.0 {
        return LossCurve::default();
    }
    let step = (end - start) / (CURVE_POINTS - 1) as f64;
    let time: Vec<f64> = (0..CURVE_POINTS).map(|i| start + step * i as f64).collect();
    let slowdown_s = time.iter().map(|t| lost(*t) / whole * total_s).collect();
    LossCurve { time, slowdown_s }
}

/// Seconds of the loss `total_s` until `time`, as the curve has them; `None` where there is no curve.
pub fn lost_until(episodes: &[EpisodeLoss], start: f64, end: f64, total_s: f64, time: f64) -> Option<f64> {
    let whole = lost_between(episodes, start, end);
    let is_known = end > start && whole > 0.0 && total_s > 0.0;
    is_known.then(|| lost_between(episodes, start, time.clamp(start, end)) / whole * total_s)
}

/// The sum over all episodes.
fn lost_between(episodes: &[EpisodeLoss], from: f64, until: f64) -> f64 {
    episodes.iter().map(|episode| (episode.until(until) - episode.until(from)).max(0.0)).sum()
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
    fn loss_until_a_time_is_that_of_the_curve() {
        let episodes = [episode(10.0, 20.0, 5.0), episode(12.0, 20.0, 5.0)];
        let curve = loss_curve(&episodes, 0.0, 119.0, 6.0);
        for at in [0, 10, 15, 20, 119] {
            let lost = lost_until(&episodes, 0.0, 119.0, 6.0, curve.time[at]).unwrap();
            assert!((lost - curve.slowdown_s[at]).abs() < 1e-9, "{at}");
        }
        assert_eq!(lost_until(&episodes, 0.0, 119.0, 6.0, 500.0), Some(6.0));
        assert_eq!(lost_until(&episodes, 0.0, 119.0, 0.0, 15.0), None);
        assert_eq!(lost_until(&[], 0.0, 119.0, 6.0, 15.0), None);
    }

    #[test]
    fn no_loss_has_no_curve() {
        assert_eq!(loss_curve(&[], 0.0, 10.0, 0.0), LossCurve::default());
        assert_eq!(loss_curve(&[episode(1.0, 2.0, 1.0)], 5.0, 5.0, 1.0), LossCurve::default());
    }
}
