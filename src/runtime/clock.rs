//! The only place of a running pipeline that reads the machine's clock. What rows mean never depends on it: it dates
//! progress, latency and housekeeping.

use schemas::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now.
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(since.as_micros() as i64)
}
