//! What happens to a component as its watermark advances: rows that nothing can come before any more are used, heirs
//! become owners, standbys take over from owners that are silent.
//!
//! Each step has a time in the stream, and steps run in the order of these times: so it does not matter how
//! far the watermark goes at once, which depends on the order in which rows came.

use super::Found;
use super::component::Component;
use super::reporter::Part;
use super::stage::{Stage, interval_after};
use crate::settings::StreamSettings;
use schemas::{DropCounts, Time};

/// Looks for a standby that are made up for when a component was away; looks older than its rows find nothing.
const MISSED_MAX: u32 = 16;

/// One step; variants are in the order in which they run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The first held row of the source of this rank is used.
    Row(usize),
    /// Parts without an owner get one.
    Owners,
    /// The owner of this part was silent and continues: no source took over.
    Continues(usize),
    /// The heir of this part becomes its owner.
    Heir(usize),
    /// A standby that has rows of this part is looked for.
    Standby(usize, u32),
}

impl Component {
    /// Does all that happens up to `watermark`, in order; then uses rows that follow.
    pub(super) fn steps_until(
        &mut self,
        watermark: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        if self.quiet_until.is_some_and(|until| watermark < until) {
            return;
        }
        while let Some((moment, step)) = self.next_step(watermark, settings) {
            match step {
                Step::Row(rank) => self.use_first_held(self.ranking[rank], moment, settings, drops, out),
                Step::Owners => self.find_owners(moment, settings, drops, out),
                Step::Continues(part) => {
                    self.give(part, self.parts[part].owner, moment, settings, drops, out)
                }
                Step::Heir(part) => {
                    let heir = self.parts[part].next.take().map(|(heir, _)| heir);
                    self.give(part, heir, moment, settings, drops, out);
                }
                Step::Standby(part, looks) => {
                    self.parts[part].tried = looks + 1;
                    let standby = self.standby(part, moment, settings);
                    self.give(part, standby, moment, settings, drops, out);
                }
            }
        }
        for rank in 0..self.ranking.len() {
            let slot = self.ranking[rank];
            while self.reporters[slot as usize].order.continues(settings) {
                self.use_first_held(slot, watermark, settings, drops, out);
            }
        }
        self.quiet_until = Some(self.next_moment(watermark, settings));
    }

    /// When the next step follows from what is there, after those up to `watermark` were done. Rows make it later, or clear it.
    fn next_moment(&self, watermark: Time, settings: &StreamSettings) -> Time {
        let half = 0.5 * settings.tick_s;
        let held = self.reporters.iter().filter_map(|r| r.order.first_held()).map(|t| t.plus_seconds(-half));
        let of_part = |(at, part): (usize, &Part)| {
            let heir = part.next.map(|(_, from)| from);
            let continues = part.deferred.map(|time| time.plus_seconds(-half));
            let standby = part.last.map(|last| look(at, part, last, watermark, settings).0);
            heir.into_iter().chain(continues).chain(standby).min()
        };
        let of_parts = self.parts.iter().enumerate().filter_map(of_part).filter(|_| self.reporters.len() > 1);
        held.chain(of_parts).chain(self.unowned).min().unwrap_or(Time(i64::MAX))
    }

    /// The earliest time of a reading that rows which are there already may still make: rows held for those before them,
    /// and rows of a standby or heir beyond the owner's last one, of which those up to `watermark` were looked at.
    pub(super) fn waits_since(&self, watermark: Time, settings: &StreamSettings) -> Option<Time> {
        let held = self.reporters.iter().filter_map(|r| r.order.first_held()).min();
        let half = 0.5 * settings.tick_s;
        let unowned = self.unowned.map(|first| first.plus_seconds(half));
        if self.reporters.len() < 2 {
            return held.into_iter().chain(unowned).min();
        }
        let since = |part: &Part| {
            let last = part.last.filter(|last| Some(*last) < self.newest)?;
            // A standby that was looked for has nothing up to the latest look, at most a tick before the watermark.
            let is_looked_for = watermark.seconds_since(last) >= settings.silence_s;
            let looked = watermark.plus_seconds(-settings.tick_s);
            Some(if is_looked_for { last.max(looked) } else { last }.plus_seconds(half))
        };
        let deferred = self.parts.iter().filter(|part| part.deferred.is_some());
        deferred.chain(self.parts_known_further()).filter_map(since).chain(held).chain(unowned).min()
    }

    /// Parts of which there are rows after their last reading that the owner did not use: another source's, or its own beyond the
    /// time from which an heir uses them.
    fn parts_known_further(&self) -> impl Iterator<Item = &Part> {
        self.reporters.iter().enumerate().flat_map(|(slot, reporter)| {
            let newest = reporter.rows.back().map(|(time, _)| *time);
            let parts = reporter.parts.iter().map(|at| &self.parts[usize::from(*at)]);
            parts.filter(move |part| {
                let is_others = part.owner != Some(slot as u16) || part.next.is_some();
                is_others && part.last.is_some() && newest > part.last
            })
        })
    }

    /// What happens next, and when.
    fn next_step(&self, watermark: Time, settings: &StreamSettings) -> Option<(Time, Step)> {
        let half = 0.5 * settings.tick_s;
        let held = |(rank, slot): (usize, &u16)| {
            let time = self.reporters[*slot as usize].order.first_held()?.plus_seconds(-half);
            (time <= watermark).then_some((time, Step::Row(rank)))
        };
        let owners = self.unowned.filter(|first| *first <= watermark).map(|first| (first, Step::Owners));
        let row = self.ranking.iter().enumerate().filter_map(held).chain(owners).min();
        if self.reporters.len() < 2 {
            return row;
        }
        let overdue = watermark.plus_seconds(-settings.silence_s);
        let of_part = |(at, part): (usize, &Part)| {
            let heir = part.next.map(|(_, from)| (from, Step::Heir(at)));
            let continues = part.deferred.map(|time| (time.plus_seconds(-half), Step::Continues(at)));
            let last = part.last.filter(|last| *last <= overdue);
            let standby = last.map(|last| look(at, part, last, watermark, settings));
            let steps = heir.into_iter().chain(continues).chain(standby);
            steps.filter(|(moment, _)| *moment <= watermark).min()
        };
        // Nearly all parts of nearly all rows: their owner reports.
        let is_quiet = |part: &Part| {
            part.next.is_none() && part.deferred.is_none() && part.last.is_none_or(|last| last > overdue)
        };
        let parts = self.parts.iter().enumerate().filter(|(_, part)| !is_quiet(part));
        parts.filter_map(of_part).chain(row).min()
    }

    fn use_first_held(
        &mut self,
        slot: u16,
        moment: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        let (slot, settled) = (slot as usize, moment.plus_seconds(0.5 * settings.tick_s));
        if let Some((time, counters)) = self.reporters[slot].order.use_first_held(settings) {
            Stage { component: self, slot, settled, settings, drops, out }.ordered(time, &counters);
        }
    }

    /// Gives the parts that were first reported up to `moment` to the best of their sources.
    fn find_owners(
        &mut self,
        moment: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        self.unowned = None;
        for at in 0..self.parts.len() {
            let part = &self.parts[at];
            let Some(first) = part.last.filter(|_| part.owner.is_none()) else { continue };
            if first > moment {
                self.unowned = Some(self.unowned.map_or(first, |known| known.min(first)));
                continue;
            }
            let reports = |slot: &u16| {
                let reporter = &self.reporters[*slot as usize];
                reporter.accepted > 0 && reporter.index_of(at).is_some()
            };
            let best = self.ranking.iter().copied().find(reports);
            self.give(at, best, moment, settings, drops, out);
        }
    }

    /// The best source, other than the owner, with a reading at the latest half a tick after `moment`: of later rows
    /// some may not have come yet.
    fn standby(&self, at: usize, moment: Time, settings: &StreamSettings) -> Option<u16> {
        let part = &self.parts[at];
        let until = moment.plus_seconds(0.5 * settings.tick_s).min(part.owned_until());
        let last = part.last?;
        self.ranking.iter().copied().find(|slot| {
            let reporter = &self.reporters[*slot as usize];
            Some(*slot) != part.owner
                && reporter.index_of(at).is_some()
                && interval_after(last, until, &reporter.rows, settings).is_some()
        })
    }

    /// Makes a source, if one was found, the owner of a part; it continues where the last reading ended.
    fn give(
        &mut self,
        part: usize,
        slot: Option<u16>,
        moment: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        let Some(slot) = slot else { return };
        let state = &mut self.parts[part];
        state.deferred = None;
        if state.owner != Some(slot) {
            (state.owner, state.used) = (Some(slot), state.last);
        }
        state.next = state.next.filter(|(heir, _)| *heir != slot);
        let (slot, settled) = (slot as usize, moment.plus_seconds(0.5 * settings.tick_s));
        Stage { component: self, slot, settled, settings, drops, out }.catch_up(part);
    }
}

/// When a standby is looked for that has rows of a part that was last read at `last`: after the silence, and each tick.
fn look(at: usize, part: &Part, last: Time, watermark: Time, settings: &StreamSettings) -> (Time, Step) {
    let first = last.plus_seconds(settings.silence_s);
    let missed = (watermark.seconds_since(first) / settings.tick_s).floor() as u32;
    let looks = part.tried.max(missed.saturating_sub(MISSED_MAX));
    let moment = first.plus_seconds(f64::from(looks) * settings.tick_s);
    (moment, Step::Standby(at, looks))
}
