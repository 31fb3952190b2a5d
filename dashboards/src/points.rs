//! Signals of one series over time, in columns, thinned for charts.

use crate::answer::ApiError;
use serde::Serialize;
use store::read::{self, Parameters, Reader};

/// Maximum of points in a response.
pub const POINTS_MAX: usize = 1_000;

/// Signals in columns, oldest first.
#[derive(Debug, Default, Serialize)]
pub struct Points {
    /// End of each tick.
    pub time: Vec<f64>,
    /// Readings.
    pub value: Vec<Option<f64>>,
    /// Windowed means.
    pub mean: Vec<Option<f64>>,
    /// Baselines.
    pub baseline: Vec<Option<f64>>,
    /// Thresholds for the mean.
    pub bound: Vec<Option<f64>>,
    /// Names of states.
    pub state: Vec<String>,
    /// Seconds lost since the series was first seen.
    pub slowdown_s: Vec<f64>,
    /// Number of rows of the tier for each point; 1 without thinning.
    pub ticks_per_point: usize,
    /// Tier of the rows: `ticks`, or means over `10s`, `1min` or `1h`, which have no bound.
    pub tier: String,
}

struct Point {
    time: f64,
    value: Option<f64>,
    mean: Option<f64>,
    baseline: Option<f64>,
    bound: Option<f64>,
    state: String,
    slowdown_s: f64,
}

impl Point {
    /// Distance of the mean from the baseline. The farthest point represents its group, so that thinning never hides a
    /// peak.
    fn distance(&self) -> f64 {
        match (self.mean, self.baseline) {
            (Some(mean), Some(baseline)) => (mean - baseline).abs(),
            _ => -1.0,
        }
    }
}

impl Points {
    fn push(&mut self, point: Point) {
        self.time.push(point.time);
        self.value.push(point.value);
        self.mean.push(point.mean);
        self.baseline.push(point.baseline);
        self.bound.push(point.bound);
        self.state.push(point.state);
        self.slowdown_s.push(point.slowdown_s);
    }
}

/// The signals of `series` between two times, ends included, at most [`POINTS_MAX`] of them.
///
/// # Errors
/// When the store cannot be read.
pub fn read_points(store: &Reader<'_>, series: &str, from: f64, to: f64) -> Result<Points, ApiError> {
    let tier = store.tier(from, to, POINTS_MAX)?;
    let range: Parameters<'_> = &[&series, &from, &to, &tier];
    let count: i64 = store.one(read::series::POINT_COUNT, range, |row| row.get(0))?;
    let mut thinner = Thinner::new(count.max(0) as usize);
    store.rows(read::series::POINTS, range, |row| {
        thinner.add(Point {
            time: row.get(0)?,
            value: row.get(1)?,
            mean: row.get(2)?,
            baseline: row.get(3)?,
            bound: row.get(4)?,
            state: row.get(5)?,
            slowdown_s: row.get(6)?,
        });
        Ok::<_, ApiError>(())
    })?;
    Ok(Points { tier, ..thinner.finish() })
}

/// Keeps of every group of neighbours the one farthest from its baseline.
struct Thinner {
    points: Points,
    group: usize,
    in_group: usize,
    farthest: Option<Point>,
}

impl Thinner {
    fn new(count: usize) -> Thinner {
        let group = count.div_ceil(POINTS_MAX).max(1);
        Thinner {
            points: Points { ticks_per_point: group, ..Points::default() },
            group,
            in_group: 0,
            farthest: None,
        }
    }

    fn add(&mut self, point: Point) {
        if self.farthest.as_ref().is_none_or(|kept| point.distance() > kept.distance()) {
            self.farthest = Some(point);
        }
        self.in_group += 1;
        if self.in_group == self.group {
            self.close_group();
        }
    }

    fn close_group(&mut self) {
        if let Some(point) = self.farthest.take() {
            self.points.push(point);
        }
        self.in_group = 0;
    }

    fn finish(mut self) -> Points {
        self.close_group();
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thinned(count: usize, peak_at: usize) -> Points {
        let mut thinner = Thinner::new(count);
        for tick in 0..count {
            thinner.add(Point {
                time: tick as f64,
                value: None,
                mean: Some(if tick == peak_at { 9.0 } else { 1.0 }),
                baseline: Some(1.0),
                bound: None,
                state: "clear".to_string(),
                slowdown_s: 0.0,
            });
        }
        thinner.finish()
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = thinned(1_000, 3);
        assert_eq!((points.time.len(), points.ticks_per_point), (1_000, 1));
    }

    #[test]
    fn many_points_are_thinned_without_losing_the_peak() {
        let points = thinned(86_400, 12_345);
        assert!(points.time.len() <= POINTS_MAX);
        assert_eq!(points.ticks_per_point, 87);
        assert!(points.mean.contains(&Some(9.0)));
        assert!(points.time.is_sorted());
    }
}
