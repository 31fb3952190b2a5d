//! What the detector reports of links and writing nodes, second by second, where it changed.
//!
//! A machine has hundreds of thousands of links, most of which do the same as a second ago. So a series is reported
//! first when it is seen, since an idle link is a measured one; then when its load or its stalls moved by more than noise,
//! when its state changed, and every half a minute.

use super::lifecycle::LinkEvent;
use super::ports::Ports;
use crate::ingest::PortCounts;
use schemas::{Metric, SeriesIndex, Time, growth};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Relative change of a load that is reported.
const LOAD_CHANGE: f32 = 0.2;
/// Change of a load, in bytes a second, that is too small to report.
const LOAD_LEAST: f32 = 1e5;
/// Relative change of the service time of a flit that is reported while the link is contended.
const STALL_CHANGE: f32 = 0.03;
/// Ticks after which a series is reported again although nothing changed.
pub(super) const AGAIN_TICKS: i64 = 30;
/// Service time of a flit, in its own time, from which a link may be contended whatever its baseline.
const HIGH_SERVICE: f32 = 2.0;
/// The same for one that is contended: without a report its state is unknown.
pub(super) const AGAIN_CONTENDED_TICKS: i64 = 5;
/// Stalls a second that background traffic makes at most: 10,000 flits a second with 10 stalls each (SAND2016-9525, 3.3),
/// and a margin of two. A link with fewer is no part of a region, however few flits share them.
const BACKGROUND_STALLS_PER_S: f64 = 2e5;

/// A link, or a node that writes, as it is from one tick on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkReport {
    /// Which series.
    pub series: SeriesIndex,
    /// Bytes a second.
    pub load_bytes_per_s: f32,
    /// Mean of the readings since the last report, in bytes a second.
    pub mean_bytes_per_s: f32,
    /// The reading, in the metric's unit.
    pub value: f32,
    /// The baseline, in the metric's unit; NaN where there is none.
    pub baseline: f32,
    /// Whether it is contended.
    pub contended: bool,
    /// Whether it did enough for the reading to mean something.
    pub active: bool,
    /// Ticks since contention began, at the tick in which it was found; else 0.
    pub since_ticks: u16,
    /// Milliseconds by which the reading ends after its tick does, from minus half a tick to half a tick.
    pub off_ms: i16,
}

impl LinkReport {
    /// Whether its stalls are more than background traffic alone can make.
    pub fn exceeds_background(&self, metric: Metric) -> bool {
        f64::from(self.value) * f64::from(self.load_bytes_per_s)
            >= BACKGROUND_STALLS_PER_S * metric.unit_bytes()
    }
}

/// Everything that changed in one second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkTick {
    /// Number of the tick since the epoch.
    pub tick: i64,
    /// Series that changed, in the order in which they were seen.
    pub reports: Vec<LinkReport>,
    /// Links that failed or recovered, in the same order.
    pub events: Vec<LinkEvent>,
}

impl LinkTick {
    /// One in which nothing changed.
    pub fn empty(tick: i64) -> LinkTick {
        LinkTick { tick, ..LinkTick::default() }
    }

    /// Whether nothing changed in it.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.events.is_empty()
    }
}

/// The last report of each series, and ticks that wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkWatch {
    last_reports: Vec<LastReport>,
    ports: Ports,
    waiting: BTreeMap<i64, LinkTick>,
    /// Ticks up to this one were released.
    passed: Option<i64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LastReport {
    tick: i64,
    load: f32,
    service: f32,
    contended: bool,
    active: bool,
    /// Sum of the loads since then, and their number.
    loads: (f32, u16),
}

const NO_REPORT: LastReport = LastReport {
    tick: i64::MIN / 2,
    load: 0.0,
    service: 1.0,
    contended: false,
    active: false,
    loads: (0.0, 0),
};

impl LinkWatch {
    /// Takes a reading that ends at `time`; ticks are `tick_s` long.
    #[inline]
    pub fn see(&mut self, report: &LinkReport, time: Time, tick_s: f64) {
        let at = report.series.at();
        if self.last_reports.len() <= at {
            growth::extend_to(&mut self.last_reports, at + 1, NO_REPORT);
        }
        let tick = tick_of(time, tick_s);
        let last = &mut self.last_reports[at];
        let service = 1.0 + report.value;
        last.loads = (last.loads.0 + report.load_bytes_per_s, last.loads.1.saturating_add(1));
        let moved = (report.load_bytes_per_s - last.load).abs();
        let changed = last.tick == NO_REPORT.tick
            || moved > LOAD_LEAST.max(LOAD_CHANGE * last.load)
            || report.contended != last.contended
            || report.active != last.active
            || (report.contended && (service - last.service).abs() > STALL_CHANGE * last.service)
            || tick - last.tick >= AGAIN_TICKS && (report.active || last.active)
            || tick - last.tick >= AGAIN_CONTENDED_TICKS && (report.contended || is_high(report.value));
        if changed {
            let mean_bytes_per_s = last.loads.0 / f32::from(last.loads.1);
            *last = LastReport {
                loads: (0.0, 0),
                tick,
                load: report.load_bytes_per_s,
                service,
                contended: report.contended,
                active: report.active,
            };
            let off_ms = 1e3 * (time.seconds() - tick as f64 * tick_s);
            self.at(tick).reports.push(LinkReport {
                off_ms: off_ms.round() as i16,
                mean_bytes_per_s,
                ..*report
            });
        }
        let event = self.ports.was_read(report.series, report.load_bytes_per_s > 0.0, time, tick_s);
        self.push_event(event);
    }

    /// Takes counters of a link's life that changed.
    pub fn count(&mut self, port: &PortCounts, tick_s: f64) {
        let event = self.ports.counted(port, tick_s);
        self.push_event(event);
    }

    /// Forgets a series that was not seen for long.
    pub fn forget(&mut self, series: SeriesIndex) {
        if let Some(last) = self.last_reports.get_mut(series.at()) {
            *last = NO_REPORT;
        }
        self.ports.forget(series);
        for tick in self.waiting.values_mut() {
            tick.reports.retain(|report| report.series != series);
            tick.events.retain(|event| event.series != series);
        }
    }

    fn push_event(&mut self, event: Option<LinkEvent>) {
        if let Some(event) = event {
            self.at(event.tick).events.push(event);
        }
    }

    fn at(&mut self, tick: i64) -> &mut LinkTick {
        self.waiting.entry(tick).or_insert_with(|| LinkTick::empty(tick))
    }

    /// Ticks to which nothing can be added any more, readings up to `until` being there. What comes later still
    /// counts for the next one. An empty tick at the end marks how far the stream was read.
    pub fn take(&mut self, until: Time, tick_s: f64) -> Vec<LinkTick> {
        // A tick lasts from half a tick before its number to half a tick after it.
        let until = (until.seconds() / tick_s - 0.5).floor() as i64;
        self.take_until(until)
    }

    /// The latest tick that was released.
    pub fn passed(&self) -> Option<i64> {
        self.passed
    }

    /// All that waits: the stream ended.
    pub fn take_all(&mut self) -> Vec<LinkTick> {
        let last = self.waiting.last_key_value().map(|(tick, _)| *tick);
        last.map_or(Vec::new(), |last| self.take_until(last))
    }

    fn take_until(&mut self, until: i64) -> Vec<LinkTick> {
        if self.passed >= Some(until) {
            return Vec::new();
        }
        let passed = self.passed.replace(until);
        let later = self.waiting.split_off(&(until + 1));
        let due = std::mem::replace(&mut self.waiting, later);
        let mut ticks: Vec<LinkTick> = Vec::with_capacity(due.len() + 1);
        for (tick, found) in due {
            let tick = passed.map_or(tick, |passed| tick.max(passed + 1));
            match ticks.last_mut().filter(|last| last.tick == tick) {
                Some(last) => {
                    last.reports.extend(found.reports);
                    last.events.extend(found.events);
                }
                None => ticks.push(LinkTick { tick, ..found }),
            }
        }
        if ticks.last().is_none_or(|last| last.tick < until) {
            ticks.push(LinkTick::empty(until));
        }
        ticks
    }
}

/// Whether so many stalls a flit may be contention whatever the baseline.
pub(super) fn is_high(ratio: f32) -> bool {
    1.0 + ratio >= HIGH_SERVICE
}

/// Number of the tick that ends at `time`.
pub fn tick_of(time: Time, tick_s: f64) -> i64 {
    (time.seconds() / tick_s).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(load: f32, contended: bool) -> LinkReport {
        LinkReport {
            series: SeriesIndex(0),
            load_bytes_per_s: load,
            mean_bytes_per_s: load,
            value: 0.1,
            baseline: 0.1,
            contended,
            active: load > 0.0,
            since_ticks: 0,
            off_ms: 0,
        }
    }

    fn reported(loads: &[f32]) -> Vec<i64> {
        let mut watch = LinkWatch::default();
        for (second, load) in loads.iter().enumerate() {
            watch.see(&report(*load, false), Time::from_seconds(second as f64), 1.0);
        }
        let ticks = watch.take(Time::from_seconds(loads.len() as f64), 1.0);
        ticks.iter().filter(|tick| !tick.is_empty()).map(|tick| tick.tick).collect()
    }

    #[test]
    fn noise_is_not_reported_and_a_step_is() {
        assert_eq!(reported(&[1e9, 1.05e9, 0.97e9, 1.5e9, 1.45e9]), [0, 3]);
    }

    #[test]
    fn an_unchanged_series_is_reported_twice_a_minute() {
        assert_eq!(reported(&[1e9; 61]), [0, 30, 60]);
    }

    #[test]
    fn an_idle_link_is_reported_once() {
        assert_eq!(reported(&[0.0; 61]), [0]);
    }

    #[test]
    fn a_tick_is_released_when_it_is_complete() {
        let mut watch = LinkWatch::default();
        watch.see(&report(1e9, false), Time::from_seconds(100.0), 1.0);
        assert!(watch.take(Time::from_seconds(100.4), 1.0).iter().all(|tick| tick.tick < 100));
        let ticks = watch.take(Time::from_seconds(101.5), 1.0);
        assert_eq!(ticks.iter().map(|t| (t.tick, t.reports.len())).collect::<Vec<_>>(), [(100, 1), (101, 0)]);
    }
}
