//! Which baselines are of a quiet spell.
//!
//! A client that starts in contention learns a contended level. Its loss by that level is the least that it may have lost,
//! so its time counts as not judged until a quiet spell of its file system shows what it writes alone.

use super::Detector;
use crate::model::{Closing, Happening};
use schemas::{Metric, Name, SeriesIndex, Time};
use std::collections::BTreeSet;

/// Seconds for which a client waits for a quiet spell of its file system; after that it is compared with what there is.
const QUIET_AWAITED_S: f64 = 600.0;
/// Seconds without activity after which a client takes no part in contention.
const INACTIVE_S: f64 = 10.0;

impl Detector {
    /// A client that starts while others of its file system are contended starts inside contention: it warms
    /// up until a quiet spell comes, or for so long that there may be none.
    pub(super) fn accept_when_quiet(&mut self, series: SeriesIndex, time: Time, since: Time) {
        if !self.is_quiet(series, time) && time.seconds_since(since) < QUIET_AWAITED_S {
            return;
        }
        let place = self.series[series.at()];
        let happening = self.banks[place.metric as usize].accept(place.number as usize);
        if happening != Happening::Nothing {
            self.act(series, time, happening);
        }
    }

    /// Notes whether a series has a baseline by now.
    pub(super) fn note_baseline(&mut self, series: SeriesIndex) {
        let place = self.series[series.at()];
        let bank = &self.banks[place.metric as usize];
        if bank.awaits_baseline(place.number as usize) {
            return;
        }
        let warm_s = bank.warm_up_readings() as f64 * self.settings.stream.tick_s;
        let time = self.coverage.last(series).unwrap_or(Time::MIN);
        let is_quiet = self.is_quiet(series, time);
        self.coverage.found_baseline(series, warm_s, is_quiet);
    }

    /// Whether no client of the series' file system is contended, as far as is known.
    fn is_quiet(&self, series: SeriesIndex, time: Time) -> bool {
        let Some(mount) = self.mount_of(series) else { return true };
        let contended = self.contended_clients.get(mount).is_some_and(|n| *n > 0);
        let recently = |left: &Time| time.seconds_since(*left) < QUIET_AWAITED_S;
        !contended && !self.unresolved.get(mount).is_some_and(recently)
    }

    /// A series became contended at `start`. Clients that learnt their baseline since then learnt a contended level.
    pub(super) fn entered_contention(&mut self, series: SeriesIndex, start: Time) {
        let Some(mount) = self.mount_of(series).cloned() else { return };
        *self.contended_clients.entry(mount.clone()).or_default() += 1;
        self.unresolved.remove(&mount);
        let bank = &self.banks[Metric::LustreWriteRate as usize];
        let half_s = bank.warm_up_readings() as f64 / 2.0 * self.settings.stream.tick_s;
        let learnt_since = |member: u32| bank.warmed_since(member as usize);
        let members = self.clients.get(&mount).into_iter().flatten();
        let spoilt: Vec<(u32, Time)> = members
            .filter_map(|member| learnt_since(*member).map(|since| (*member, since)))
            .filter(|(_, since)| since.plus_seconds(half_s) > start)
            .collect();
        for (member, since) in spoilt {
            let other = self.members[Metric::LustreWriteRate as usize][member as usize];
            let last = self.coverage.last(other).unwrap_or(since);
            if other != series {
                self.restart_since(other, last);
                self.coverage.revoke(other, since.plus_seconds(-self.settings.stream.tick_s));
            }
        }
    }

    /// A series is not contended any more. The last one that recovers begins a quiet spell; one that leaves otherwise says
    /// nothing about those that stay, unless they are of one job.
    pub(super) fn left_contention(&mut self, series: SeriesIndex, closing: &Closing) {
        let Some(mount) = self.mount_of(series).cloned() else { return };
        let contended = self.contended_clients.entry(mount.clone()).or_default();
        *contended -= 1;
        if *contended > 0 {
            return;
        }
        if closing.recovered || self.active_jobs(&mount, series, closing.end) <= 1 {
            self.begin_quiet(&mount, closing.end);
        } else {
            self.unresolved.insert(mount, closing.end);
        }
    }

    fn begin_quiet(&mut self, mount: &Name, since: Time) {
        let members = self.clients.get(mount).cloned().unwrap_or_default();
        for member in members {
            let series = self.members[Metric::LustreWriteRate as usize][member as usize];
            let (place, bank) = (self.series[series.at()], &mut self.banks[Metric::LustreWriteRate as usize]);
            if self.coverage.quiet(series) {
                let happening = bank.restart_since(place.number as usize, since);
                self.act(series, Time::MIN, happening);
            } else {
                bank.warm_since(place.number as usize, since);
            }
        }
    }

    /// Jobs whose clients of `mount` were active of late, without `left`; each client without a job counts as one.
    fn active_jobs(&self, mount: &Name, left: SeriesIndex, time: Time) -> usize {
        let (mut jobs, mut others) = (BTreeSet::new(), 0);
        for member in self.clients.get(mount).into_iter().flatten() {
            let series = self.members[Metric::LustreWriteRate as usize][*member as usize];
            let until = time.plus_seconds(INACTIVE_S);
            if series == left || !self.coverage.was_active(series, time.plus_seconds(-INACTIVE_S), until) {
                continue;
            }
            match self.jobs_of(series, time).next() {
                Some(job) => _ = jobs.insert(job),
                None => others += 1,
            }
        }
        jobs.len() + others
    }

    fn mount_of(&self, series: SeriesIndex) -> Option<&Name> {
        let info = &self.ingest.series()[series.at()];
        info.part.as_ref().filter(|_| info.metric == Metric::LustreWriteRate)
    }
}
