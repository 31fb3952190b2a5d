//! Simulated time against the wall clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Simulated time against the wall clock.
pub(super) struct Pace {
    began: Instant,
    from: u64,
    speed: f64,
}

impl Pace {
    /// Plays `speed` seconds a second from second `from` on; 0 is as fast as possible.
    pub(super) fn new(speed: f64, from: u64) -> Pace {
        Pace { began: Instant::now(), from, speed }
    }

    /// Seconds of the wall clock, and simulated ones, since the beginning.
    pub(super) fn passed_s(&self, ticks: u64) -> (f64, f64) {
        (self.began.elapsed().as_secs_f64().max(1e-3), (ticks - self.from) as f64)
    }

    /// Waits until second `ticks` is due, or until `stop`.
    pub(super) fn wait(&self, ticks: u64, stop: &AtomicBool) {
        if self.speed == 0.0 {
            return;
        }
        let due = self.began + Duration::from_secs_f64((ticks - self.from) as f64 / self.speed);
        while let Some(left) = due.checked_duration_since(Instant::now()) {
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }
}
