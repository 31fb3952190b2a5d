//! What rows of components make known: readings of series, and counters of links.

use super::spare_rows::SpareRows;
use schemas::{Counts, LINK_COLUMNS, SeriesIndex, Time};

/// A reading of a series, or a notice that its readings have a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesReading {
    /// Which series.
    pub series: SeriesIndex,
    /// End of the interval.
    pub time: Time,
    /// In the metric's unit.
    pub value: f64,
    /// Whether the component did enough for the value to mean something.
    pub active: bool,
    /// Ticks it covers; 0 where it only ends a gap and has no value.
    pub span_ticks: u8,
    /// End of the reading before a gap that is too long to bridge.
    pub gap_since: Option<Time>,
    /// Whether the baseline restarts: the reading cannot be compared with those before.
    pub restarts: bool,
    /// Bytes a second that passed, or were written; 0 for a router as a whole.
    pub load_bytes_per_s: f64,
    /// What the counters did.
    pub counts: Counts,
}

/// Counters of a link's life that changed between two rows of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortCounts {
    /// Which series.
    pub series: SeriesIndex,
    /// Time of the later row.
    pub time: Time,
    /// How often the link went down, and how often it recovered from errors, by the earlier row and by the later one.
    pub counts: [[Option<u64>; LINK_COLUMNS]; 2],
    /// Readings that were found before.
    pub after: usize,
}

/// What rows made known.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Readings, in event time per series.
    pub readings: Vec<SeriesReading>,
    /// Counters of links that changed; hardly ever any.
    pub ports: Vec<PortCounts>,
    pub(super) spare_rows: SpareRows,
}
