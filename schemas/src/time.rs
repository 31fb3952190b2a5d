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
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds from `earlier` to `self`; negative when `earlier` lies after it.
    pub fn seconds_since(self, earlier: Time) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e6
    }

    /// `self` moved by `seconds`, which may be negative.
    pub fn plus_seconds(self, seconds: f64) -> Time {
        Time(self.0.saturating_add((seconds * 1e6).round() as i64))
    }
}

impl Add<i64> for Time {
    type Output = Time;
    /// Adds microseconds.
    fn add(self, microseconds: i64) -> Time {
        Time(self.0.saturating_add(microseconds))
    }
}

impl Sub for Time {
    type Output = i64;
    /// Microseconds between two times.
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
}
