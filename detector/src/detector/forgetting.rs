//! The end of what was not seen for long: sources, components, series, file systems, and all that hangs on them.
//!
//! It is found by event time alone. What a job needs that has not ended long ago stays, and what another series names as a
//! cause. Results of forgotten series that were not taken yet are returned by the next call of [`Detector::take_apart`],
//! under their numbers: take them before the next rows, which may give these numbers to other series.

use super::Detector;
use crate::evidence::Taker;
use schemas::{Name, SeriesIndex, Source, Time};
use std::collections::HashSet;

/// Looks in the time after which something is forgotten.
const LOOKS: u32 = 32;
/// Seconds after its end for which a job needs its series: its result settles, and rows come late.
const JOB_NEEDS_S: f64 = 3_600.0;

impl Detector {
    /// Forgets what was not seen for long, the stream being read up to `now`. Returns the series; none where it is not time
    /// to look.
    pub fn forget_unseen(&mut self, now: Time) -> Vec<SeriesIndex> {
        let Some(after_s) = self.settings.forget_after_s else { return Vec::new() };
        if self.looked_for_unseen == Time::MIN {
            self.looked_for_unseen = now;
        }
        if now.seconds_since(self.looked_for_unseen).abs() < after_s / f64::from(LOOKS) {
            return Vec::new();
        }
        self.looked_for_unseen = now;
        let unseen = self.ingest.look_for_unseen(LOOKS);
        let needed = self.needed_of(&unseen, now);
        let gone = self.ingest.forget_unseen(LOOKS, &needed, now);
        self.served.retain(|mount, _| self.clients.contains_key(mount) || self.ingest.is_served(&mount.1));
        if !gone.is_empty() {
            self.forget_series(&gone);
        }
        gone
    }

    /// Entries of the books that grow with names.
    pub fn books(&self) -> Vec<(&'static str, usize)> {
        let [components, sources] = self.ingest.sizes();
        let clients = self.clients.values().map(Vec::len).sum();
        vec![
            ("series", self.ingest.series_used()),
            ("series_slots", self.series.len()),
            ("components", components),
            ("sources", sources),
            ("clients", clients),
            ("file_systems", self.mounts.len()),
            ("served_file_systems", self.served.len()),
            ("levels", self.levels.len()),
            ("episodes", self.episodes.len()),
            ("jobs", self.jobs.len()),
            ("reporting_jobs", self.reports.len()),
        ]
    }

    /// Whether rows of a source have a place here.
    pub fn knows(&self, source: &Source) -> bool {
        self.ingest.knows(source)
    }

    /// Numbers of sources mean others from here on.
    pub fn forget_numbers_of_sources(&mut self) {
        self.ingest.forget_numbers_of_sources();
    }

    /// Those of `unseen` that something needs.
    fn needed_of(&self, unseen: &[SeriesIndex], now: Time) -> HashSet<SeriesIndex> {
        let all: HashSet<SeriesIndex> = unseen.iter().copied().collect();
        let of_jobs = unseen.iter().copied().filter(|series| self.is_of_job(*series, now));
        let others = self.takings.iter().filter(|(series, _)| !all.contains(series));
        let named = others.flat_map(|(_, takings)| takings.clients());
        let named = named.filter(|series| all.contains(series));
        of_jobs.chain(named).collect()
    }

    /// Whether a job has lost something on a series, and its result may change or was not reported yet.
    fn is_of_job(&self, series: SeriesIndex, now: Time) -> bool {
        let Some(last) = self.coverage.last(series) else { return false };
        let info = &self.ingest.series()[series.at()];
        let nodes = match info.metric.has_sum() {
            true => self.ingest.nodes_of(&info.component),
            false => vec![info.component.clone()],
        };
        let needs = |node: &Name| {
            let mut jobs = self.jobs.on_node(self.node_of_jobs(node));
            jobs.any(|job| {
                job.start <= last && job.end.is_none_or(|end| now.seconds_since(end) <= JOB_NEEDS_S)
            })
        };
        nodes.iter().any(needs)
    }

    fn forget_series(&mut self, gone: &[SeriesIndex]) {
        for series in gone.iter().copied() {
            let slot = &mut self.series[series.at()];
            *slot = slot.renewed();
            self.banks[slot.metric.at()].reset(slot.number as usize);
            self.coverage.forget(series);
            self.episodes.forget(series);
            self.links.forget(series);
            self.takings.remove(&series);
            self.past.remove(&series);
        }
        let gone: &HashSet<SeriesIndex> = &gone.iter().copied().collect();
        self.jobs.forget_series(gone);
        self.traffic.iter_mut().for_each(|traffic| traffic.forget(gone));
        self.spells.iter_mut().for_each(|spells| spells.forget(gone));
        self.gains.forget(gone);
        self.clients.retain(|_, clients| {
            clients.retain(|client| !gone.contains(client));
            !clients.is_empty()
        });
        self.forget_mounts();
        self.shifts.clear();
    }

    /// Removes file systems without clients: the others move up.
    fn forget_mounts(&mut self) {
        self.reviews.clear();
        let mut next = 0;
        let mut number = |is_left: bool| {
            next += u32::from(is_left);
            is_left.then(|| next - 1)
        };
        let left = self.mounts.iter().map(|mount| self.clients.contains_key(mount));
        let numbers: Vec<Option<u32>> = left.map(&mut number).collect();
        let is_left = || numbers.iter().map(Option::is_some);
        let (mut left, mut of_spells) = (is_left(), is_left());
        self.traffic.retain(|_| left.next().unwrap_or(true));
        self.spells.retain(|_| of_spells.next().unwrap_or(true));
        self.mounts.retain(|mount| self.clients.contains_key(mount));
        for slot in &mut self.series {
            slot.mount = slot.mount.and_then(|mount| numbers[mount as usize]);
        }
        self.levels.renumber(&numbers);
    }
}

impl super::moments::Takings {
    /// Clients without a job that took something.
    fn clients(&self) -> impl Iterator<Item = SeriesIndex> {
        self.takers().filter_map(|taker| match taker {
            Taker::Client(series) => Some(*series),
            Taker::Job(_) => None,
        })
    }
}
