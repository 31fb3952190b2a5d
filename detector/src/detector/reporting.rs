//! What the detector reports of a reading: a signal, and an update of its link.

use super::Detector;
use crate::fabric::tick::tick_of;
use crate::fabric::{LinkReport, LinkTick};
use crate::ingest::SeriesReading;
use schemas::{Counts, SeriesIndex, Signal, State, Time};

/// Signals written for a gap at most; of a longer one the first and the last ticks are written.
const GAP_SIGNALS_MAX: i64 = 600;

impl Detector {
    /// Reports all that is kept again with the next results: their new receiver has none of the earlier ones.
    pub fn report_again(&mut self) {
        self.resend_series();
        self.jobs.report_again();
        self.episodes.report_again();
        self.ingest.report_again();
    }

    /// Link updates, rows up to `newest` being read: what other sources report arrives within the lateness. Rows that
    /// waited for others long enough are used.
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

    /// The latest tick whose link updates are complete.
    pub fn links_reported(&self) -> Option<i64> {
        self.links.passed()
    }

    /// Adds the reading to the link updates if its series is a link.
    pub(super) fn watch_link(&mut self, reading: &SeriesReading) {
        let Some(signal) = self.signals.last().filter(|_| self.watches_links) else { return };
        let info = &self.ingest.series()[reading.series.at()];
        if info.part.is_none() || !(info.metric.costs() || info.metric.paces()) {
            return;
        }
        let slot = self.series[reading.series.at()];
        // Of what costs no seconds the traffic alone counts.
        let costs = info.metric.costs();
        let contended = costs && signal.state == State::Contended;
        let since_ticks = if contended {
            let open = self.banks[slot.metric.at()].open_episode(slot.number as usize);
            let since_s = open.map_or(0.0, |open| reading.time.seconds_since(open.start));
            (since_s / self.settings.stream.tick_s).clamp(0.0, 3600.0) as u16
        } else {
            0
        };
        let report = LinkReport {
            series: reading.series,
            load_bytes_per_s: reading.load_bytes_per_s as f32,
            mean_bytes_per_s: 0.0,
            // The worst of many noisy readings is worse than the worst link: of contended links the mean is reported.
            value: match (reading.active, contended) {
                (true, true) => signal.mean as f32,
                (true, false) if costs => reading.value as f32,
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

    pub(super) fn push_signal(&mut self, reading: &SeriesReading) {
        let series = reading.series;
        let slot = self.series[series.at()];
        let known = self.banks[slot.metric.at()].knowledge(slot.number as usize);
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
    pub(super) fn push_unknown_signals(&mut self, series: SeriesIndex, since: Time, until: Time) {
        let slot = self.series[series.at()];
        let slowdown_s = self.banks[slot.metric.at()].knowledge(slot.number as usize).slowdown_s;
        let tick_s = self.settings.stream.tick_s;
        let missed = (until.seconds_since(since) / tick_s).round() as i64 - 1;
        let half = GAP_SIGNALS_MAX / 2;
        let ticks = (1..=missed.min(half)).chain((missed - half + 1).max(half + 1)..=missed);
        let nan = f64::NAN;
        self.signals.extend(ticks.map(|k| Signal {
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
