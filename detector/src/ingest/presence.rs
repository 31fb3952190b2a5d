//! Which sources of a component report, and which are silent.

use super::Ingest;
use super::component::Component;
use super::reporter::{Reporter, only_part};
use super::silence::SilenceWatch;
use crate::settings::StreamSettings;
use schemas::{LastSeen, Name, Silence, SilenceEnd, Time};

impl Ingest {
    /// Reports all sources again, and their open silences.
    pub fn report_again(&mut self) {
        self.components.iter_mut().for_each(Component::report_again);
    }

    /// Silences that began, ended or were none, since the last call.
    pub fn silences(&mut self) -> Vec<Silence> {
        let mut silences = std::mem::take(&mut self.parting.silences);
        silences.extend(self.components.iter_mut().flat_map(Component::silences));
        silences
    }

    /// Sources that are silent now.
    pub fn silent(&self) -> usize {
        self.components.iter().map(Component::silent).sum()
    }

    /// Sources seen since their last report: about `most`; the next call continues after them. [`usize::MAX`] returns all.
    pub fn take_seen(&mut self, most: usize) -> Vec<LastSeen> {
        let mut seen = std::mem::take(&mut self.parting.seen);
        if most == usize::MAX {
            self.reported_up_to = 0;
        }
        while seen.len() < most
            && let Some(component) = self.components.get_mut(self.reported_up_to)
        {
            seen.extend(component.take_seen());
            self.reported_up_to += 1;
        }
        if self.reported_up_to >= self.components.len() {
            self.reported_up_to = 0;
        }
        seen
    }

    /// Whether there may be sources that [`Ingest::take_seen`] did not return yet.
    pub fn has_more_sources(&self) -> bool {
        self.reported_up_to > 0
    }
}

impl Component {
    /// Its producers, each once.
    pub fn producers(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.reporters.iter().map(|r| r.source.producer.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Sources seen since the last call.
    pub fn take_seen(&mut self) -> impl Iterator<Item = LastSeen> {
        self.seen_of(|_| true)
    }

    /// The same of those whose slots `which` selects.
    pub(super) fn seen_of(&mut self, which: impl Fn(usize) -> bool) -> impl Iterator<Item = LastSeen> {
        let parts = &self.parts;
        let reporters = self.reporters.iter_mut().enumerate().filter(move |(slot, _)| which(*slot));
        let updated = reporters.map(|(_, reporter)| reporter).filter(|r| r.accepted > r.reported);
        updated.filter_map(|r| {
            let last_time = r.rows.back().map(|(time, _)| *time).or(r.order.last())?;
            r.reported = r.accepted;
            Some(LastSeen {
                producer: r.source.producer.clone(),
                schema: r.source.schema.clone(),
                component: r.source.component.clone(),
                part: r.only_part(parts).cloned(),
                last_time,
                rows: r.accepted,
            })
        })
    }

    /// Reports its sources again, and their open silences.
    pub fn report_again(&mut self) {
        for reporter in &mut self.reporters {
            reporter.reported = 0;
            reporter.order.silence().report_again();
        }
    }

    /// Looks which of its sources are silent.
    pub fn look_for_silence(&mut self, now: Time, delay_s: f64, settings: &StreamSettings) {
        for slot in 0..self.reporters.len() {
            if self.reporters[slot].order.is_overdue(now, delay_s, settings) && !self.is_succeeded(slot) {
                self.reporters[slot].order.look(now, delay_s, settings);
            }
        }
    }

    /// Whether another set of the same source reported later: a file system that is mounted again has a set of its own.
    fn is_succeeded(&self, slot: usize) -> bool {
        let reporter = &self.reporters[slot];
        let newest = reporter.order.newest_row();
        self.reporters.len() > 1
            && self.reporters.iter().any(|r| r.order.newest_row() > newest && r.reports_as(reporter))
    }

    /// The first row of a source, at `time`, ends the silence of the set that it follows.
    pub(super) fn succeed(&mut self, slot: usize, time: Time, settings: &StreamSettings) {
        let of = &self.reporters[slot];
        let others = self.reporters.iter().enumerate().filter(|(at, _)| *at != slot);
        let same = others.filter(|(_, other)| other.reports_as(of));
        if let Some((before, _)) = same.max_by_key(|(_, other)| other.order.last()) {
            self.reporters[before].order.succeeded(time, settings);
        }
    }

    /// Silences of its sources that began, ended or were none, since the last call.
    pub fn silences(&mut self) -> impl Iterator<Item = Silence> {
        self.silences_of(|_, silence| silence.take())
    }

    /// What `take` returns of each source, by its slot.
    pub(super) fn silences_of(
        &mut self,
        take: impl Fn(usize, &mut SilenceWatch) -> Vec<(Time, SilenceEnd)>,
    ) -> impl Iterator<Item = Silence> {
        let of_parts = &self.parts;
        let reporters = self.reporters.iter_mut().enumerate();
        reporters.flat_map(move |(slot, Reporter { source, order, parts, .. })| {
            let part = only_part(source, parts, of_parts).cloned();
            let of_source = move |(since, end)| Silence {
                producer: source.producer.clone(),
                schema: source.schema.clone(),
                component: source.component.clone(),
                part: part.clone(),
                since,
                end,
            };
            take(slot, order.silence()).into_iter().map(of_source)
        })
    }

    /// How many of its sources are silent now.
    pub fn silent(&self) -> usize {
        self.reporters.iter().filter(|reporter| reporter.order.is_silent()).count()
    }
}
