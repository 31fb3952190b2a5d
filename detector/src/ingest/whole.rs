//! A router as a whole: the mean over its links in use.

use super::SeriesReading;
use crate::settings::StreamSettings;
use schemas::{Counts, SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Least ratio in the geometric mean over links.
const LINK_FLOOR: f64 = 1e-3;
/// Parts of one in the fixed point of logarithms.
const FIXED_POINT: f64 = (1_u64 << 40) as f64;
/// Ticks after which another number of links is the usual one: until then a router of which a part is
/// silent is not compared with what all of it did.
const TICKS_TO_ADOPT: u32 = 30;
/// Ticks that may wait; the watermark releases them long before.
const WAITING_MAX: usize = 64;

/// The geometric mean over the links in use of a router (SAND2016-9525, 4.2.3), tick by tick.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) series: SeriesIndex,
    /// First reading of all: ticks are counted from its offset within the second.
    origin: Option<Time>,
    waiting: BTreeMap<i64, Tick>,
    settled: i64,
    last: Option<Time>,
    /// Links that report usually, and ticks in a row with another number.
    usual: u32,
    odd: u32,
}

/// Sums of one tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Tick {
    time: Time,
    /// Sum of logarithms in fixed point, so that it does not depend on the order of the links.
    ln_sum: i64,
    active: u32,
    links: u32,
    span_ticks: u8,
}

impl Whole {
    /// A mean that has no reading yet.
    pub(super) fn new(series: SeriesIndex) -> Whole {
        Whole {
            series,
            origin: None,
            waiting: BTreeMap::new(),
            settled: i64::MIN,
            last: None,
            usual: 0,
            odd: 0,
        }
    }

    /// Begins again at an earlier time; how many links there are usually is known.
    pub(super) fn restart(&mut self) {
        *self = Whole { usual: self.usual, ..Whole::new(self.series) };
    }

    /// Takes the reading of a link.
    pub(super) fn add(&mut self, reading: &SeriesReading, settings: &StreamSettings) {
        let origin = *self.origin.get_or_insert(reading.time);
        let tick = (reading.time.seconds_since(origin) / settings.tick_s).round() as i64;
        if tick <= self.settled {
            return;
        }
        let empty = Tick { time: reading.time, ln_sum: 0, active: 0, links: 0, span_ticks: 0 };
        let found = self.waiting.entry(tick).or_insert(empty);
        found.time = found.time.max(reading.time);
        found.span_ticks = found.span_ticks.max(reading.span_ticks);
        found.links += 1;
        if reading.active {
            found.active += 1;
            found.ln_sum += (reading.value.max(LINK_FLOOR).ln() * FIXED_POINT).round() as i64;
        }
    }

    /// Returns the ticks that are complete, or to which nothing can be added any more.
    pub(super) fn settle(
        &mut self,
        watermark: Time,
        settings: &StreamSettings,
        out: &mut Vec<SeriesReading>,
    ) {
        while let Some(first) = self.waiting.first_entry() {
            let complete = self.usual > 0 && first.get().links == self.usual;
            let over = watermark >= first.get().time.plus_seconds(settings.tick_s / 2.0);
            if !(complete || over || self.waiting.len() > WAITING_MAX) {
                return;
            }
            let Some((number, tick)) = self.waiting.pop_first() else { return };
            self.settled = number;
            out.extend(self.reading_of(&tick, settings));
        }
    }

    /// The reading of a tick; none where too few links reported to be compared with the ticks before.
    fn reading_of(&mut self, tick: &Tick, settings: &StreamSettings) -> Option<SeriesReading> {
        let fewer = tick.links < self.usual;
        self.odd = if fewer { self.odd + 1 } else { 0 };
        if fewer && self.odd < TICKS_TO_ADOPT {
            return None;
        }
        let before = self.last.replace(tick.time);
        let longest_s = settings.longest_interval_s();
        let gap = before.filter(|before| tick.time.seconds_since(*before) > longest_s);
        let other_links = std::mem::replace(&mut self.usual, tick.links) != tick.links;
        self.odd = 0;
        let active = tick.active > 0;
        Some(SeriesReading {
            series: self.series,
            time: tick.time,
            value: if active {
                (tick.ln_sum as f64 / FIXED_POINT / f64::from(tick.active)).exp()
            } else {
                0.0
            },
            active,
            span_ticks: tick.span_ticks,
            gap_since: gap,
            restarts: other_links,
            load_bytes_per_s: 0.0,
            counts: Counts::NONE,
        })
    }
}
