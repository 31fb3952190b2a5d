//! When to sample: at whole multiples of the interval since the epoch, plus an offset, as LDMS's synchronous samplers
//! do, so that the rows of all nodes belong to the same instants.

use schemas::Time;
use std::time::Duration;

/// Instants of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    interval_us: i64,
    offset_us: i64,
}

/// An interval or offset that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Outside of what counters and detector are made for.
    #[error("the interval must lie between 100 ms and 60 s, not {0:?}")]
    Interval(Duration),
    /// As long as the interval or longer.
    #[error("the offset {0:?} must be shorter than the interval")]
    Offset(Duration),
}

impl Schedule {
    /// Instants `interval` apart, `offset` after the whole multiples.
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn new(interval: Duration, offset: Duration) -> Result<Schedule, ScheduleError> {
        if !(Duration::from_millis(100)..=Duration::from_secs(60)).contains(&interval) {
            return Err(ScheduleError::Interval(interval));
        }
        if offset >= interval {
            return Err(ScheduleError::Offset(offset));
        }
        Ok(Schedule { interval_us: interval.as_micros() as i64, offset_us: offset.as_micros() as i64 })
    }

    /// The first instant after `now`.
    pub fn next_after(&self, now: Time) -> Time {
        let since = now - Time(self.offset_us);
        let ticks = since.div_euclid(self.interval_us) + 1;
        Time(ticks.saturating_mul(self.interval_us)) + self.offset_us
    }

    /// Whether `now` is so late for `due` that another instant has passed since.
    pub fn is_missed(&self, due: Time, now: Time) -> bool {
        now - due >= self.interval_us
    }

    /// Instants between `last` and `due`, both left out.
    pub fn between(&self, last: Time, due: Time) -> u64 {
        ((due - last) / self.interval_us - 1).max(0) as u64
    }

    /// Microseconds between two instants.
    pub fn interval_us(&self) -> i64 {
        self.interval_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(interval_ms: u64, offset_ms: u64) -> Schedule {
        Schedule::new(Duration::from_millis(interval_ms), Duration::from_millis(offset_ms)).unwrap()
    }

    #[test]
    fn ticks_are_whole_multiples_plus_the_offset() {
        let second = schedule(1000, 0);
        assert_eq!(second.next_after(Time(5_000_000)), Time(6_000_000), "never the same tick twice");
        assert_eq!(second.next_after(Time(5_999_999)), Time(6_000_000));
        assert_eq!(schedule(1000, 200).next_after(Time(5_100_000)), Time(5_200_000));
        assert_eq!(schedule(1000, 200).next_after(Time(5_200_000)), Time(6_200_000));
        assert_eq!(schedule(10_000, 0).next_after(Time(5_000_000)), Time(10_000_000));
        assert_eq!(second.next_after(Time(-1)), Time(0));
    }

    #[test]
    fn after_a_suspension_the_next_tick_is_the_next_second() {
        let second = schedule(1000, 0);
        let (due, woken) = (Time(10_000_000), Time(73_400_000));
        assert!(second.is_missed(due, woken) && !second.is_missed(due, Time(10_999_999)));
        let next = second.next_after(woken);
        assert_eq!(next, Time(74_000_000));
        assert_eq!(second.between(Time(9_000_000), next), 64);
        assert_eq!(second.between(Time(9_000_000), due), 0);
    }

    #[test]
    fn senseless_schedules_are_refused() {
        let new =
            |interval, offset| Schedule::new(Duration::from_millis(interval), Duration::from_millis(offset));
        assert_eq!(new(50, 0), Err(ScheduleError::Interval(Duration::from_millis(50))));
        assert!(matches!(new(60_001, 0), Err(ScheduleError::Interval(_))));
        assert_eq!(new(1000, 1000), Err(ScheduleError::Offset(Duration::from_secs(1))));
    }
}
