//! The end of sources, parts and components that report no more.
//!
//! Age is counted in looks, which event time makes due: however far it leaps after an outage of all, what reports again
//! within the next looks is kept.

use super::Ingest;
use super::component::Component;
use super::reporter::{Part, Reporter};
use schemas::{LastSeen, Metric, Name, SeriesIndex, Silence, Source, Time};
use std::collections::HashSet;

/// What of forgotten sources was not reported yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Parting {
    pub(super) silences: Vec<Silence>,
    pub(super) seen: Vec<LastSeen>,
}

/// Which sources are forgotten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unseen<'a> {
    /// The present look, and after how many without a row a source is forgotten.
    look: u32,
    after: u32,
    /// Series that something else still needs.
    needed: &'a HashSet<SeriesIndex>,
}

impl Ingest {
    /// Components, and sources of them.
    pub fn sizes(&self) -> [usize; 2] {
        let sources = self.components.iter().map(|component| component.reporters.len()).sum();
        [self.components.len(), sources]
    }

    /// Whether rows of a source have a place here.
    pub fn knows(&self, source: &Source) -> bool {
        if source.by_job {
            // What jobs report is kept by job: its numbers of sources may change.
            return source.reports(Metric::is_of_jobs) || self.served.knows(source);
        }
        let Some(group) = source.metrics.first().map(|metric| metric.group()) else { return false };
        self.component_of(group, &source.component).is_some_and(|component| component.has(source))
    }

    /// Numbers of sources mean others from here on.
    pub fn forget_numbers_of_sources(&mut self) {
        self.slots.clear();
    }

    /// Another look is due. Returns the series that may be forgotten: no source of theirs had a row for `after` looks.
    pub fn look_for_unseen(&mut self, after: u32) -> Vec<SeriesIndex> {
        self.look += 1;
        let unseen = Unseen { look: self.look, after, needed: &HashSet::new() };
        self.components.iter().flat_map(|component| component.unseen(unseen)).collect()
    }

    /// Forgets what had no row for `after` looks, but series that are `needed`, and returns the series: their numbers are
    /// given again. `now` ends the silences of their sources.
    pub fn forget_unseen(
        &mut self,
        after: u32,
        needed: &HashSet<SeriesIndex>,
        now: Time,
    ) -> Vec<SeriesIndex> {
        let unseen = Unseen { look: self.look, after, needed };
        let (mut gone, mut any) = (Vec::new(), false);
        for component in &mut self.components {
            any |= component.forget(unseen, now, &mut self.parting, &mut gone);
        }
        if any {
            self.forget_components();
        }
        self.series.free(&gone);
        gone
    }

    /// Removes components without sources: the others move up. Where sources belong is looked up again.
    fn forget_components(&mut self) {
        let mut next = 0;
        let mut number = |component: &Component| {
            let is_left = !component.reporters.is_empty();
            next += u32::from(is_left);
            is_left.then(|| next - 1)
        };
        let numbers: Vec<Option<u32>> = self.components.iter().map(&mut number).collect();
        let names = self.components.iter().filter(|component| component.reporters.is_empty());
        let mut gone: Vec<Name> = names.map(|component| component.name.clone()).collect();
        self.components.retain(|component| !component.reporters.is_empty());
        self.by_name.retain(|_, components| {
            *components = components.iter().filter_map(|number| numbers[*number as usize]).collect();
            !components.is_empty()
        });
        gone.extend(self.forget_routers(&numbers));
        self.clock.renumber(&numbers);
        for name in gone {
            if !self.routers.contains_key(&name) && !self.by_name.contains_key(&name) {
                self.spellings.remove(&name);
            }
        }
        if !self.wrong_clocks.is_empty() {
            let reporters = self.components.iter().flat_map(|component| &component.reporters);
            let left: HashSet<&Name> = reporters.map(|reporter| &reporter.source.producer).collect();
            self.wrong_clocks.retain(|producer| left.contains(producer));
        }
        self.slots.clear();
        self.reported_up_to = 0;
    }

    /// Numbers the routers of each node again; the nodes that report none any more.
    fn forget_routers(&mut self, numbers: &[Option<u32>]) -> Vec<Name> {
        let (components, mut gone) = (&self.components, Vec::new());
        self.routers.retain(|node, routers| {
            let is_reported = |number: &u32| {
                let mut reporters = components[*number as usize].reporters.iter();
                reporters.any(|reporter| reporter.source.producer == *node)
            };
            let left = routers.iter().filter_map(|router| numbers[*router as usize]).filter(is_reported);
            *routers = left.collect();
            if routers.is_empty() {
                gone.push(node.clone());
            }
            !routers.is_empty()
        });
        gone
    }
}

impl Component {
    /// Whether each source stays.
    fn staying(&self, unseen: Unseen<'_>) -> Vec<bool> {
        let needs = |series: &SeriesIndex| unseen.needed.contains(series);
        let is_left = |part: usize| self.reporters.iter().all(|reporter| reporter.index_of(part).is_none());
        let mut left =
            (0..self.parts.len()).filter(|part| needs(&self.parts[*part].series) && is_left(*part));
        let is_needed = self.whole_series().as_ref().is_some_and(needs) || left.next().is_some();
        let stays = |reporter: &Reporter| {
            let mut series = reporter.parts.iter().map(|part| &self.parts[usize::from(*part)].series);
            unseen.look - reporter.look <= unseen.after || is_needed || series.any(needs)
        };
        let mut staying: Vec<bool> = self.reporters.iter().map(stays).collect();
        // The owner of a part that another source reports too stays until that one has taken over.
        loop {
            let parts = self.parts_of(&staying, unseen);
            let owners = self.parts.iter().zip(parts).filter(|(_, stays)| *stays);
            let owners = owners.flat_map(|(part, _)| [part.owner, part.next.map(|(slot, _)| slot)]).flatten();
            let more: Vec<usize> = owners.map(usize::from).filter(|slot| !staying[*slot]).collect();
            if more.is_empty() {
                return staying;
            }
            more.into_iter().for_each(|slot| staying[slot] = true);
        }
    }

    /// Whether each part is reported by a source that stays, or needed.
    fn parts_of(&self, staying: &[bool], unseen: Unseen<'_>) -> Vec<bool> {
        let is_needed = |part: &Part| unseen.needed.contains(&part.series);
        let mut parts: Vec<bool> = self.parts.iter().map(is_needed).collect();
        let reporters = self.reporters.iter().zip(staying).filter(|(_, stays)| **stays);
        reporters.flat_map(|(reporter, _)| &reporter.parts).for_each(|part| parts[usize::from(*part)] = true);
        parts
    }

    /// Series of parts that no source reports any more.
    fn unseen(&self, unseen: Unseen<'_>) -> Vec<SeriesIndex> {
        self.series_without(&self.staying(unseen), unseen)
    }

    fn series_without(&self, staying: &[bool], unseen: Unseen<'_>) -> Vec<SeriesIndex> {
        let parts = self.parts.iter().zip(self.parts_of(staying, unseen)).filter(|(_, stays)| !stays);
        let whole = self.whole_series().filter(|_| !staying.contains(&true));
        parts.map(|(part, _)| part.series).chain(whole).collect()
    }

    /// Forgets sources, and parts that no source reports any more, whose series `gone` gains. Returns whether any was.
    fn forget(
        &mut self,
        unseen: Unseen<'_>,
        now: Time,
        parting: &mut Parting,
        gone: &mut Vec<SeriesIndex>,
    ) -> bool {
        let staying = self.staying(unseen);
        if !staying.contains(&false) {
            return false;
        }
        gone.extend(self.series_without(&staying, unseen));
        self.part_with(&staying, now, parting);
        let of_parts = self.parts_of(&staying, unseen);
        let (slots, parts) = (numbers(&staying), numbers(&of_parts));
        let slot = |slot: u16| slots[usize::from(slot)];
        retain(&mut self.reporters, &staying);
        retain(&mut self.parts, &of_parts);
        self.ranking = self.ranking.iter().filter_map(|old| slot(*old)).collect();
        self.adding = self.adding.iter().filter_map(|old| slot(*old)).collect();
        for reporter in &mut self.reporters {
            reporter.parts = reporter.parts.iter().filter_map(|old| parts[usize::from(*old)]).collect();
        }
        for part in &mut self.parts {
            part.owner = part.owner.and_then(slot);
            part.next = part.next.and_then(|(old, from)| Some((slot(old)?, from)));
        }
        self.quiet_until = None;
        true
    }

    /// What is still to be reported of sources that do not stay, and the end of their silences.
    fn part_with(&mut self, staying: &[bool], now: Time, parting: &mut Parting) {
        let seen: Vec<LastSeen> = self.seen_of(|slot| !staying[slot]).collect();
        parting.seen.extend(seen);
        let silences: Vec<Silence> = self
            .silences_of(|slot, silence| if staying[slot] { Vec::new() } else { silence.end(now) })
            .collect();
        parting.silences.extend(silences);
    }
}

/// The number of each that stays.
fn numbers(staying: &[bool]) -> Vec<Option<u16>> {
    let mut next = 0;
    let mut number = |stays: &bool| {
        next += u16::from(*stays);
        stays.then(|| next - 1)
    };
    staying.iter().map(&mut number).collect()
}

fn retain<T>(list: &mut Vec<T>, staying: &[bool]) {
    let mut staying = staying.iter();
    list.retain(|_| staying.next().copied().unwrap_or(true));
}
