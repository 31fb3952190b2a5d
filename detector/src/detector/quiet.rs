//! Which baselines are of a quiet spell.
//!
//! A client that starts in contention learns a contended level. Its loss by that level is the least that it may have lost,
//! so its time counts as not judged until a quiet spell of its file system shows what it writes alone.

use super::Detector;
use crate::evidence::Mount;
use crate::model::{Closing, ModelEvent};
use crate::spells::{Change, Found, QUIET_AWAITED_S, Spells, Standing};
use schemas::{SeriesIndex, Time};

/// Seconds for which a job must have run to have a level of its own.
const OWN_LEVEL_S: f64 = 60.0;
/// A client that moves at most so many times its baseline is back at its own level.
const OWN_LEVEL: f64 = 1.1;
/// Seconds without activity after which a client takes no part in contention.
const INACTIVE_S: f64 = 10.0;

impl Detector {
    /// A client that starts while others of its file system are contended starts inside contention: it warms
    /// up until a quiet spell comes, or for so long that there may be none.
    pub(super) fn accept_when_quiet(&mut self, series: SeriesIndex, time: Time, since: Time) {
        if !self.is_quiet(series, time) && time.seconds_since(since) < QUIET_AWAITED_S {
            return;
        }
        let slot = self.series[series.at()];
        let event = self.banks[slot.metric.at()].accept(slot.number as usize);
        if event != ModelEvent::Nothing {
            self.act(series, time, event);
        }
    }

    /// Notes whether a series has a baseline by now.
    pub(super) fn note_baseline(&mut self, series: SeriesIndex, time: Time) {
        let slot = self.series[series.at()];
        let bank = &self.banks[slot.metric.at()];
        if bank.awaits_baseline(slot.number as usize) {
            return;
        }
        let warm_s = bank.warm_up_readings() as f64 * self.settings.stream.tick_s;
        let is_quiet = self.is_quiet(series, time);
        self.coverage.found_baseline(series, warm_s, is_quiet);
    }

    /// Applies what was found out of the other clients of the series' file system up to `time`, as far as all have been
    /// read.
    pub(super) fn apply_shifts(&mut self, series: SeriesIndex, time: Time) {
        let slot = self.series[series.at()];
        let Some(spells) = self.spells_of(series) else { return };
        let until = time.plus_seconds(-self.known_after_s());
        let learnt = self.learnt_by(series);
        if !slot.has_gains && !spells.may_concern(slot.shifts_applied, learnt) {
            self.series[series.at()].shifts_applied = until;
            return;
        }
        let mut may_be_doubted = learnt.is_some();
        let is_of_use = |(found, standing): &&(Found, Standing)| match found.change {
            Change::Entered(_) => may_be_doubted && found.series != series,
            Change::Recovered(_) => {
                let is_quiet = standing.is_quiet(found.at, QUIET_AWAITED_S);
                may_be_doubted |= is_quiet;
                is_quiet
            }
            Change::Left => false,
        };
        let found: Vec<Found> =
            spells.between(slot.shifts_applied, until).filter(is_of_use).map(|(found, _)| *found).collect();
        let (gains, none_left) = self.gains.take(series, until);
        let slot = &mut self.series[series.at()];
        (slot.shifts_applied, slot.has_gains) = (until, !none_left);
        let mut gains = gains.into_iter().peekable();
        for Found { at, change, .. } in found {
            while let Some(gain) = gains.next_if(|gain| gain.at < at) {
                self.hold_gained(series, gain.since);
            }
            match change {
                Change::Entered(start) => self.doubt_baseline(series, start, time),
                Change::Recovered(since) => self.begin_quiet(series, since, time),
                Change::Left => {}
            }
        }
        gains.for_each(|gain| self.hold_gained(series, gain.since));
    }

    /// A series reached its level in contention at `since`, unless it moves no more than before.
    fn hold_gained(&mut self, series: SeriesIndex, since: Time) {
        if !self.is_at_its_level(series, since) {
            self.coverage.hold(series, since);
        }
    }

    /// Another client is contended since `start`. A baseline that was learnt since then is of a contended level.
    fn doubt_baseline(&mut self, series: SeriesIndex, start: Time, time: Time) {
        let slot = self.series[series.at()];
        if self.learnt_by(series).is_some_and(|learnt| learnt > start)
            && let Some(since) = self.banks[slot.metric.at()].warmed_since(slot.number as usize)
        {
            self.restart_since(series, time, time);
            self.coverage.revoke(series, since.plus_seconds(-self.settings.stream.tick_s));
        }
    }

    /// The middle of the warm-up that gave a series its present baseline; `None` where something else gave it.
    fn learnt_by(&self, series: SeriesIndex) -> Option<Time> {
        let slot = &self.series[series.at()];
        let bank = &self.banks[slot.metric.at()];
        let half_s = bank.warm_up_readings() as f64 / 2.0 * self.settings.stream.tick_s;
        bank.warmed_since(slot.number as usize).map(|since| since.plus_seconds(half_s))
    }

    /// Whether a series that gained at `since` moves no more than it did before: it took nothing beyond that. A job that started
    /// then has no level from before.
    fn is_at_its_level(&self, series: SeriesIndex, since: Time) -> bool {
        let slot = self.series[series.at()];
        let before = since.plus_seconds(-OWN_LEVEL_S);
        let node = &self.ingest.series()[series.at()].component;
        let is_new = self.jobs.on_node_at(self.node_of_jobs(node), since).any(|job| job.start > before);
        let known = self.banks[slot.metric.at()].knowledge(slot.number as usize);
        !is_new
            && self.coverage.was_active(series, Time::MIN, before)
            && known.mean <= OWN_LEVEL * known.baseline
    }

    fn begin_quiet(&mut self, series: SeriesIndex, since: Time, time: Time) {
        let slot = self.series[series.at()];
        let bank = &mut self.banks[slot.metric.at()];
        if self.coverage.quiet(series) {
            let event = bank.restart_since(slot.number as usize, since);
            self.act(series, time, event);
        } else {
            bank.warm_since(slot.number as usize, since);
        }
    }

    /// A series became contended at `start`, as was found out at `at`.
    pub(super) fn entered_contention(&mut self, series: SeriesIndex, at: Time, start: Time) {
        self.found(series, at, Change::Entered(start));
    }

    /// A series is not contended any more, as was found out at `at`.
    pub(super) fn left_contention(&mut self, series: SeriesIndex, at: Time, closing: &Closing) {
        let recovered = closing.recovered || self.leaves_one_job(series, at);
        let change = if recovered { Change::Recovered(closing.end) } else { Change::Left };
        self.found(series, at, change);
    }

    /// Keeps what was found out of a client for those of its file system.
    fn found(&mut self, series: SeriesIndex, at: Time, change: Change) {
        if let Some(mount) = self.series[series.at()].mount {
            self.spells[mount as usize].add(Found { at, series, change });
        }
    }

    /// Whether no client of the series' file system is contended, as far as is known at `time`.
    pub(super) fn is_quiet(&self, series: SeriesIndex, time: Time) -> bool {
        let until = time.plus_seconds(-self.known_after_s());
        self.spells_of(series).is_none_or(|spells| spells.standing(until).is_quiet(until, QUIET_AWAITED_S))
    }

    /// Seconds after which everything that was sampled at a time has been read.
    pub(super) fn known_after_s(&self) -> f64 {
        let stream = &self.settings.stream;
        stream.lateness_s + stream.tick_s / 2.0
    }

    /// Whether the clients of the file system that were active of late, without `left`, are those of one job at most; each
    /// client without a job counts as one.
    fn leaves_one_job(&self, left: SeriesIndex, at: Time) -> bool {
        let until = at.plus_seconds(-self.known_after_s());
        let from = until.plus_seconds(-INACTIVE_S);
        let clients = self.mount_of(left).and_then(|mount| self.clients.get(&mount));
        let is_active =
            |series: &SeriesIndex| *series != left && self.coverage.was_active(*series, from, until);
        let mut active = clients.into_iter().flatten().copied().filter(is_active);
        let job_of = |series| self.jobs_of(series, until).next();
        let Some(first) = active.next().map(job_of) else { return true };
        active.all(|series| first.is_some() && job_of(series) == first)
    }

    fn spells_of(&self, series: SeriesIndex) -> Option<&Spells> {
        self.series[series.at()].mount.and_then(|mount| self.spells.get(mount as usize))
    }

    pub(super) fn mount_of(&self, series: SeriesIndex) -> Option<Mount> {
        let info = &self.ingest.series()[series.at()];
        // By metric first: the name of a link's port is no file system, and is not looked at for each reading.
        if info.metric.is_progress() { Some((info.metric.resource(), info.file_system()?)) } else { None }
    }
}
