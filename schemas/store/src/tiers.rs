//! The tiers of a minute and of an hour, each made from the rows of the tier below as those are written.
//!
//! A row that covers no tick with data shows only that the series was known: it begins a stretch and adds no value,
//! so that a silence that is reported late changes nothing.

use crate::storage_policy::{Bucket, StoredRows};
use schemas::{Counts, SeriesIndex, Time};
use serde::{Deserialize, Serialize};

/// Microseconds of event time in a row of a minute; minutes are aligned to the epoch.
pub const MINUTE_US: i64 = 60_000_000;

/// The same of an hour.
pub const HOUR_US: i64 = 3_600_000_000;

/// No stretch has this number: nothing is open.
const NONE: i32 = i32::MIN;

/// One minute or hour of a series that is not over. Sums of what is averaged over rows are in single precision: sixty of
/// them keep six digits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stretch {
    /// Readings, each times the ticks it covers.
    value: f64,
    mean: f32,
    baseline: f32,
    min: f32,
    max: f32,
    /// What the counters did, each row's times the ticks it covers.
    counts: Counts,
    /// Minutes or hours since the epoch.
    number: i32,
    /// The latest that was written.
    over: i32,
    ticks: u16,
    contended: u16,
    /// Ticks with a reading.
    value_ticks: u16,
    means: u8,
    baselines: u8,
}

impl Default for Stretch {
    fn default() -> Stretch {
        Stretch {
            value: 0.0,
            mean: 0.0,
            baseline: 0.0,
            min: f32::NAN,
            max: f32::NAN,
            counts: Counts::NONE,
            number: NONE,
            over: NONE,
            ticks: 0,
            contended: 0,
            value_ticks: 0,
            means: 0,
            baselines: 0,
        }
    }
}

impl Stretch {
    /// Whether a row of `number` begins another one than is open.
    fn is_before(&self, number: i32) -> bool {
        self.number != NONE && self.number != number
    }

    /// Adds a row of the tier below, unless its stretch was written already: then it has no value.
    fn add(&mut self, number: i32, row: &Bucket) {
        if number <= self.over {
            return;
        }
        self.number = number;
        if row.ticks == 0 {
            return;
        }
        let ticks = u16::try_from(row.ticks).unwrap_or(u16::MAX);
        if row.value.is_finite() {
            self.value += f64::from(row.value) * f64::from(ticks);
            self.value_ticks = self.value_ticks.saturating_add(ticks);
            self.counts.add(row.counts, ticks);
        }
        if row.mean.is_finite() {
            self.mean += row.mean;
            self.means = self.means.saturating_add(1);
        }
        if row.baseline.is_finite() {
            self.baseline += row.baseline;
            self.baselines = self.baselines.saturating_add(1);
        }
        // `min` and `max` pass over NaN.
        self.min = self.min.min(row.value_min);
        self.max = self.max.max(row.value_max);
        self.ticks = self.ticks.saturating_add(ticks);
        self.contended =
            self.contended.saturating_add(u16::try_from(row.contended_ticks).unwrap_or(u16::MAX));
    }

    /// Ends it and gives its row.
    fn end(&mut self, series: SeriesIndex, length_us: i64, slowdown_s: f64) -> Bucket {
        let average = |sum: f64, of: u16| if of == 0 { f64::NAN } else { sum / f64::from(of) } as f32;
        let row = Bucket {
            series,
            time: Time(i64::from(self.number).saturating_mul(length_us)),
            value: average(self.value, self.value_ticks),
            value_min: self.min,
            value_max: self.max,
            mean: average(f64::from(self.mean), u16::from(self.means)),
            baseline: average(f64::from(self.baseline), u16::from(self.baselines)),
            ticks: u32::from(self.ticks),
            contended_ticks: u32::from(self.contended),
            slowdown_s,
            counts: self.counts.mean(self.value_ticks),
        };
        *self = Stretch { over: self.number, ..Stretch::default() };
        row
    }
}

/// What is open of one series in the tiers above the ten seconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Coarse {
    minute: Stretch,
    hour: Stretch,
    /// Seconds lost, accumulated at the latest row with data.
    slowdown_s: f64,
}

/// Minutes or hours since the epoch.
fn number(time: Time, length_us: i64) -> i32 {
    let least = i64::from(NONE) + 1;
    time.0.div_euclid(length_us).clamp(least, i64::from(i32::MAX)) as i32
}

impl Coarse {
    /// Takes a row of ten seconds, in the order of time; writes the minute and the hour that it is no longer part of.
    pub(crate) fn take(&mut self, row: &Bucket, out: &mut StoredRows) {
        let minute = number(row.time, MINUTE_US);
        if self.minute.is_before(minute) {
            self.end_minute(row.series, out);
        }
        if self.hour.is_before(number(row.time, HOUR_US)) {
            self.end_hour(row.series, out);
        }
        self.minute.add(minute, row);
        if row.ticks > 0 {
            self.slowdown_s = row.slowdown_s;
        }
    }

    /// Writes what ends at or before `watermark`, the time before which nothing with data can come any more.
    pub(crate) fn close(&mut self, series: SeriesIndex, watermark: Time, out: &mut StoredRows) {
        if self.minute.number != NONE && self.minute.number < number(watermark, MINUTE_US) {
            self.end_minute(series, out);
        }
        if self.hour.number != NONE && self.hour.number < number(watermark, HOUR_US) {
            self.end_hour(series, out);
        }
    }

    fn end_minute(&mut self, series: SeriesIndex, out: &mut StoredRows) {
        let row = self.minute.end(series, MINUTE_US, self.slowdown_s);
        let hour = number(row.time, HOUR_US);
        if self.hour.is_before(hour) {
            self.end_hour(series, out);
        }
        self.hour.add(hour, &row);
        out.minutes.push(row);
    }

    fn end_hour(&mut self, series: SeriesIndex, out: &mut StoredRows) {
        let row = self.hour.end(series, HOUR_US, self.slowdown_s);
        out.hours.push(row);
    }
}
