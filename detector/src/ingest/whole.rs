//! A router as a whole: the mean over its links in use.

use super::SeriesReading;
use crate::settings::StreamSettings;
use schemas::{SeriesIndex, Time};
use serde::{Deserialize, Serialize};

/// The mean over the links in use of a router (GUIDE section 1, 4.2.3), as it fills up during a tick.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) series: SeriesIndex,
    tick: i64,
    time: Time,
    ln_sum: f64,
    active: u32,
    parts: u32,
    span_ticks: u8,
    gap_since: Option<Time>,
    /// Parts of the tick before: when as many have come, the mean is complete.
    parts_before: u32,
    told: bool,
}

/// Least ratio in the geometric mean over links.
const LINK_FLOOR: f64 = 1e-3;

impl Whole {
    /// A mean that has no reading yet.
    pub(super) fn new(series: SeriesIndex) -> Whole {
        Whole {
            series,
            tick: i64::MIN,
            time: Time::MIN,
            ln_sum: 0.0,
            active: 0,
            parts: 0,
            span_ticks: 0,
            gap_since: None,
            parts_before: u32::MAX,
            told: true,
        }
    }

    /// Takes the reading of a link.
    pub(super) fn add(
        &mut self,
        reading: &SeriesReading,
        settings: &StreamSettings,
        out: &mut Vec<SeriesReading>,
    ) {
        let tick = (reading.time.seconds() / settings.tick_s).round() as i64;
        if tick < self.tick {
            return;
        }
        if tick > self.tick {
            self.tell(out);
            let parts_before = if self.tick == i64::MIN { u32::MAX } else { self.parts };
            *self = Whole { tick, parts_before, told: false, ..Whole::new(self.series) };
        }
        self.time = self.time.max(reading.time);
        self.span_ticks = self.span_ticks.max(reading.span_ticks);
        self.gap_since = self.gap_since.or(reading.gap_since);
        self.parts += 1;
        if reading.active {
            self.active += 1;
            self.ln_sum += reading.value.max(LINK_FLOOR).ln();
        }
        if self.parts >= self.parts_before {
            self.tell(out);
        }
    }

    /// The mean over the links in use, once per tick.
    pub(super) fn tell(&mut self, out: &mut Vec<SeriesReading>) {
        if self.told {
            return;
        }
        self.told = true;
        let active = self.active > 0;
        let value = if active { (self.ln_sum / f64::from(self.active)).exp() } else { 0.0 };
        let (series, time, span_ticks, gap_since) = (self.series, self.time, self.span_ticks, self.gap_since);
        out.push(SeriesReading { series, time, value, active, span_ticks, gap_since });
    }
}
