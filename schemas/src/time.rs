//! Event time: the sampler's timestamp, never the arrival.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// Microseconds since the Unix epoch, the resolution of an LDMS timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

impl Time {
    /// The earliest time there is; every real timestamp lies after it.
    pub const MIN: Time = Time(i64::MIN);

    /// From seconds since the epoch, to the nearest microsecond.
    pub fn from_seconds(seconds: f64) -> Time {
        Time((seconds * 1e6).round() as i64)
    }

    /// Seconds since the epoch; exact to the microsecond until the year 2255.
    #[inline]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds from `earlier` to `self`; negative when `earlier` lies after it.
    #[inline]
    pub fn seconds_since(self, earlier: Time) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e6
    }

    /// `self` moved by `seconds`, which may be negative.
    #[inline]
    pub fn plus_seconds(self, seconds: f64) -> Time {
        let microseconds = seconds * 1e6;
        // As `round`, which is a call of a library where the processor's instruction may not be assumed.
        Time(self.0.saturating_add((microseconds + 0.5_f64.copysign(microseconds)) as i64))
    }
}

impl Add<i64> for Time {
    type Output = Time;
    /// Adds microseconds.
    #[inline]
    fn add(self, microseconds: i64) -> Time {
        Time(self.0.saturating_add(microseconds))
    }
}

impl Sub for Time {
    type Output = i64;
    /// Microseconds between two times.
    #[inline]
    fn sub(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_keeps_its_microseconds() {
        let t = Time::from_seconds(1795217419.001813);
        assert_eq!(t, Time(1_795_217_419_001_813));
        assert_eq!(t.seconds(), 1795217419.001813);
    }

    #[test]
    fn a_move_is_rounded_to_the_nearest_microsecond() {
        let moved =
            [0.0, 1.2e-6, 1.5e-6, -1.2e-6, -1.5e-6, 3.0].map(|seconds| Time(0).plus_seconds(seconds).0);
        assert_eq!(moved, [0, 1, 2, -1, -2, 3_000_000]);
        assert_eq!(Time(5).plus_seconds(f64::INFINITY), Time(i64::MAX));
        assert_eq!(Time(5).plus_seconds(f64::NEG_INFINITY), Time(5 + i64::MIN));
    }
}
