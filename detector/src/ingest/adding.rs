//! Sources that add to a part instead of repeating it: one file system that a node has mounted twice.
//!
//! A set of another producer or schema, or the same set, repeats the counters of a part: one is used, the others stand by.
//! Sets of other names that report at the same time have counters of their own: each gets a part, named by the set. A set
//! that begins where another one ended is the same mount, made again: it continues that one's part.

use super::component::Component;
use crate::settings::StreamSettings;
use schemas::{Metric, Name, SeriesIndex};

/// Rows of a new source after which it is known whether it adds.
pub(super) const ROWS_TO_KNOW: u64 = 3;

impl Component {
    /// Looks whether a source, of which a row was kept, reports at the same time as the owner of its part, from another set.
    pub(super) fn find_adding(&mut self, slot: usize, settings: &StreamSettings) {
        let reporter = &self.reporters[slot];
        let (Some(_), Some(set)) = (reporter.source.only_part(), &reporter.source.set) else { return };
        let Some(part) = reporter.parts.first().map(|at| &self.parts[usize::from(*at)]) else { return };
        let Some(owner) = part.owner.map(usize::from).filter(|owner| *owner != slot) else { return };
        let owner = &self.reporters[owner];
        let is_other = owner.source.set.as_ref().is_some_and(|of_owner| of_owner != set);
        let before =
            reporter.rows.iter().rev().nth(1).map(|(time, _)| time.plus_seconds(-0.5 * settings.tick_s));
        if reporter.accepted >= ROWS_TO_KNOW
            && is_other
            && before.is_some()
            && owner.order.newest_row() >= before
        {
            self.adding.push(slot as u16);
        }
    }

    /// The next source that adds: its slot, and the name of the part that it gets.
    pub(super) fn next_adding(&mut self) -> Option<(u16, Name)> {
        let slot = self.adding.pop()?;
        let set = self.reporters[usize::from(slot)].source.set.clone()?;
        Some((slot, self.part_left_by(usize::from(slot)).unwrap_or(set)))
    }

    /// The part of a set of the same file system that ended before this one began.
    fn part_left_by(&self, slot: usize) -> Option<Name> {
        let new = &self.reporters[slot];
        let begin = new.rows.front().map(|(time, _)| *time);
        let ended = |(at, other): (usize, &super::reporter::Reporter)| {
            let apart = other.parts.first().filter(|part| new.parts.first() != Some(part))?;
            let part = &self.parts[usize::from(*apart)];
            let is_left = part.owner == Some(at as u16) && other.order.newest_row() < begin;
            (is_left && other.source.parts == new.source.parts).then(|| part.name.clone())
        };
        self.reporters.iter().enumerate().find_map(ended)
    }

    /// Gives a source that adds a part of its own in each metric; `number` gives a new one its series.
    pub(super) fn set_apart(
        &mut self,
        slot: u16,
        name: &Name,
        mut number: impl FnMut(Metric, Option<Name>) -> SeriesIndex,
    ) {
        let metrics = self.reporters[usize::from(slot)].source.metrics.clone();
        let parts: Vec<u16> = metrics.iter().map(|metric| self.part(*metric, name, &mut number)).collect();
        let left = std::mem::replace(&mut self.reporters[usize::from(slot)].parts, parts.clone());
        for at in left {
            let left = &mut self.parts[usize::from(at)];
            left.next = left.next.filter(|(heir, _)| *heir != slot);
        }
        self.quiet_until = None;
        parts.into_iter().for_each(|part| self.own_apart(slot, part));
    }

    /// A source that was set apart owns its part, unless another one of its set still reports it.
    fn own_apart(&mut self, slot: u16, part: u16) {
        let first = self.reporters[usize::from(slot)].rows.front().map(|(time, _)| *time);
        let owner = self.parts[usize::from(part)].owner.map(|owner| &self.reporters[usize::from(owner)]);
        if owner.is_none_or(|owner| owner.order.newest_row() < first) {
            let state = &mut self.parts[usize::from(part)];
            (state.owner, state.used, state.last) = (Some(slot), first, state.last.or(first));
        }
    }
}
