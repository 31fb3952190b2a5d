//! The time, and waiting for it.

use schemas::Time;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The time has come.
    Due,
    /// The clock was set back: the next instant must be computed again.
    SetBack,
    /// A stop was requested.
    Stopped,
}

/// A clock that can be waited on.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Time;
    /// Waits until `due`.
    fn wait_until(&mut self, due: Time) -> Wake;
}

/// The system's clock; a message to `stop`, or its closing, ends a wait.
#[derive(Debug)]
pub struct SystemClock {
    stop: Receiver<()>,
}

impl SystemClock {
    /// The system's clock.
    pub fn new(stop: Receiver<()>) -> SystemClock {
        SystemClock { stop }
    }
}

/// Longest single sleep: the kernel measures it by a clock that does not know of corrections of the time.
const SLEEP_US_MAX: i64 = 1_000_000;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Time(since.map_or(0, |since| since.as_micros() as i64))
    }

    fn wait_until(&mut self, due: Time) -> Wake {
        let mut left_before = i64::MAX;
        loop {
            let left = due - self.now();
            if left > left_before {
                return Wake::SetBack;
            }
            left_before = left;
            // A stop is also received when there is nothing to wait for.
            let sleep = Duration::from_micros(left.clamp(0, SLEEP_US_MAX) as u64);
            match self.stop.recv_timeout(sleep) {
                Err(RecvTimeoutError::Timeout) if left <= SLEEP_US_MAX && self.now() >= due => {
                    return Wake::Due;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Wake::Stopped,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_wait_ends_at_its_time_and_not_before() {
        let (_keep, stop) = channel();
        let mut clock = SystemClock::new(stop);
        let due = clock.now() + 20_000;
        assert_eq!(clock.wait_until(due), Wake::Due);
        assert!(clock.now() >= due);
        assert_eq!(clock.wait_until(Time(0)), Wake::Due);
    }

    #[test]
    fn a_stop_ends_every_wait() {
        let (stopper, stop) = channel();
        let mut clock = SystemClock::new(stop);
        stopper.send(()).unwrap();
        assert_eq!(clock.wait_until(clock.now() + 3_600_000_000), Wake::Stopped);
        drop(stopper);
        assert_eq!(clock.wait_until(Time(0)), Wake::Stopped);
    }
}
