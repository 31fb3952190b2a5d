//! Series that start again: their nodes begin a job, fell silent, or the stream ends.

use super::Detector;
use schemas::{SeriesIndex, Time};

/// Seconds of silence after which a component is no longer waited for: beyond gap and lateness by far, so that a
/// source that is merely behind the others continues where it was.
const GIVEN_UP_S: f64 = 60.0;

impl Detector {
    /// The stream ended: rows that wait are used, and what is open closes at its last reading.
    pub fn finish(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        self.ingest.finish(&mut found);
        self.use_found(&mut found);
        self.finished = true;
        let Some(newest) = self.ingest.newest() else {
            return;
        };
        self.note_all_traffic(newest);
        for at in 0..self.series.len() {
            let series = SeriesIndex(at as u32);
            let last = self.coverage.last(series).unwrap_or(newest);
            self.restart(series, last);
            if newest.seconds_since(last) > self.settings.stream.gap_s {
                self.push_unknown_signals(series, last, newest);
            }
        }
        self.look_at_all_blocks(newest);
        self.look_back_at_all(newest);
    }

    /// Restarts series of components that are silent: their episodes end at what was seen.
    pub fn give_up_silent(&mut self) {
        for series in self.ingest.give_up_silent(GIVEN_UP_S) {
            if series.at() < self.series.len() {
                let last = self.coverage.last(series).unwrap_or(Time::MIN);
                self.restart(series, last.plus_seconds(GIVEN_UP_S));
            }
        }
    }

    pub(super) fn restart(&mut self, series: SeriesIndex, time: Time) {
        let slot = self.series[series.at()];
        let event = self.banks[slot.metric.at()].restart(slot.number as usize);
        self.act(series, time, event);
        if let Some(last) = self.coverage.last(series) {
            self.coverage.revoke(series, last);
        }
    }

    /// Restarts a series at `time` with its readings since `since`.
    pub(super) fn restart_since(&mut self, series: SeriesIndex, since: Time, time: Time) {
        let slot = self.series[series.at()];
        let event = self.banks[slot.metric.at()].restart_since(slot.number as usize, since);
        self.act(series, time, event);
        self.coverage.revoke(series, since);
    }
}
