//! What the detector tells of a reading: a signal, and news of its link.

use super::Detector;
use crate::fabric::tick::tick_of;
use crate::fabric::{LinkReport, LinkTick};
use crate::ingest::SeriesReading;
use schemas::{Counts, SeriesIndex, Signal, State, Time};

/// Signals written for a gap at most; a longer one is told by its first and its last ticks.
const GAP_SIGNALS_MAX: i64 = 600;

impl Detector {
    /// What is told of links, rows up to `newest` being read: all that the others say is there within the lateness. Rows
    /// that waited for others long enough are used.
    pub fn take_links(&mut self, newest: Time) -> Vec<LinkTick> {
        if self.finished {
            return self.links.take_all();
        }
        let tick_s = self.settings.stream.tick_s;
        let tick = tick_of(newest, tick_s);
        if self.settled.replace(tick) >= Some(tick) {
            return Vec::new();
        }
        let mut found = std::mem::take(&mut self.found);
        let until = self.ingest.settle(newest, &mut found);
        self.use_found(&mut found);
        self.found = found;
        self.links.take(until, tick_s)
    }

    /// The latest tick of which all was told of links.
    pub fn links_told(&self) -> Option<i64> {
        self.links.passed()
    }

    /// Lets whoever looks at all links know of this one, if it is one.
    pub(super) fn watch_link(&mut self, reading: &SeriesReading) {
        let Some(signal) = self.signals.last().filter(|_| self.watches_links) else { return };
        let info = &self.ingest.series()[reading.series.at()];
        if info.part.is_none() {
            return;
        }
        let place = self.series[reading.series.at()];
        let contended = signal.state == State::Contended;
        let since_ticks = if contended {
            let open = self.banks[place.metric as usize].open_episode(place.number as usize);
            let since_s = open.map_or(0.0, |open| reading.time.seconds_since(open.start));
            (since_s / self.settings.stream.tick_s).clamp(0.0, 3600.0) as u16
        } else {
            0
        };
        let report = LinkReport {
            series: reading.series,
            load_bytes_per_s: reading.load_bytes_per_s as f32,
            // The worst of many noisy readings is worse than the worst link: of those that matter the mean is told.
            value: match (reading.active, contended) {
                (true, true) => signal.mean as f32,
                (true, false) => reading.value as f32,
                _ => 0.0,
            },
            baseline: signal.baseline as f32,
            contended,
            active: reading.active,
            since_ticks,
            off_ms: 0,
        };
        self.links.see(&report, reading.time, self.settings.stream.tick_s);
    }

    pub(super) fn tell(&mut self, reading: &SeriesReading) {
        let series = reading.series;
        let place = self.series[series.at()];
        let known = self.banks[place.metric as usize].knowledge(place.number as usize);
        self.signals.push(Signal {
            time: reading.time,
            series,
            value: reading.value,
            mean: known.mean,
            baseline: known.baseline,
            bound: known.bound,
            state: known.state,
            slowdown_s: known.slowdown_s,
            counts: reading.counts,
        });
    }

    /// One unknown signal per tick that was missed after `since` and before `until`.
    pub(super) fn tell_unknown(&mut self, series: SeriesIndex, since: Time, until: Time) {
        let place = self.series[series.at()];
        let slowdown_s = self.banks[place.metric as usize].knowledge(place.number as usize).slowdown_s;
        let tick_s = self.settings.stream.tick_s;
        let missed = (until.seconds_since(since) / tick_s).round() as i64 - 1;
        let half = GAP_SIGNALS_MAX / 2;
        let told = (1..=missed.min(half)).chain((missed - half + 1).max(half + 1)..=missed);
        let nan = f64::NAN;
        self.signals.extend(told.map(|k| Signal {
            time: since.plus_seconds(k as f64 * tick_s),
            series,
            value: nan,
            mean: nan,
            baseline: nan,
            bound: nan,
            state: State::Unknown,
            slowdown_s,
            counts: Counts::NONE,
        }));
    }
}
