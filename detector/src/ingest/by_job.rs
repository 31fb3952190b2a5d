//! Rows about one job each: what servers count for jobs, and what jobs count. They move no clock.

use super::Ingest;
use super::reported::Gain;
use super::served::ServedRate;
use crate::settings::StreamSettings;
use schemas::{DropReason, Name, Source, SourceIndex, Sources, Time};

/// Seconds by which a row of a server, or of a job, may differ from the time of the stream.
const SERVED_OFF_S: f64 = 60.0;

impl Ingest {
    /// Uses rows of servers up to a tick; returns what jobs moved by them.
    pub fn settle_served(&mut self, until: i64) -> Vec<ServedRate> {
        let mut rates = Vec::new();
        self.served.settle(until, self.settings.tick_s, &mut self.drops, &mut rates);
        rates
    }

    /// Uses reports of jobs up to a time; returns what they got done.
    pub fn settle_reported(&mut self, until: Time) -> Vec<Gain> {
        self.reported.settle(until, &mut self.drops)
    }

    /// Whether there were rows of servers of a file system.
    pub fn is_served(&self, mount: &Name) -> bool {
        self.served.has(mount)
    }

    /// A row of a server. It moves no clock, and one that is far from the stream's is of no use.
    pub(super) fn served_row(
        &mut self,
        sources: &Sources,
        source: SourceIndex,
        time: Time,
        counters: &[u64],
    ) {
        let StreamSettings { tick_s, lateness_s, .. } = self.settings;
        let [tick, late] = [time.seconds(), lateness_s].map(|seconds| (seconds / tick_s).round() as i64);
        let described = self.near(time).and_then(|()| sources.get(source).ok_or(DropReason::BufferFull));
        let outcome = described.and_then(|source| self.served.row(source, (tick, late), counters));
        outcome.unwrap_or_else(|reason| self.drops.count(reason));
    }

    /// A row of a job about itself, treated alike.
    pub(super) fn reported_row(
        &mut self,
        sources: &Sources,
        source: SourceIndex,
        time: Time,
        counters: &[u64],
    ) {
        let part = sources.get(source).and_then(Source::only_part).ok_or(DropReason::BufferFull);
        let outcome = self.near(time).and_then(|()| self.reported.row(part?, time, counters));
        outcome.unwrap_or_else(|reason| self.drops.count(reason));
    }

    /// Whether a row that moves no clock is near the time of the stream.
    fn near(&self, time: Time) -> Result<(), DropReason> {
        let ahead_s = self.clock.now().map_or(0.0, |now| time.seconds_since(now));
        match ahead_s {
            _ if ahead_s > SERVED_OFF_S => Err(DropReason::ClockAhead),
            _ if ahead_s < -SERVED_OFF_S => Err(DropReason::Late),
            _ => Ok(()),
        }
    }
}
