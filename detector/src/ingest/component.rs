//! One component, the sources that report it, and the readings of its parts.
//!
//! Several sources may report one part: four compute nodes a router's halves, two aggregators the same set,
//! two samplers the same mount. One owns the part and makes its readings; the others stand by with the rows
//! since the owner's last reading, so that a take-over continues where the owner stopped, from the
//! successor's own counters: no false rate and no lost second. Ownership is decided by the rows'
//! timestamps alone, never by which row came first.

use super::Found;
use super::clock::JUMP_S;
use super::order::{Order, Row};
use super::reporter::{Part, Reporter};
use super::stage::Stage;
use super::whole::Whole;
use crate::settings::StreamSettings;
use schemas::{DropCounts, DropReason, Metric, Name, SeriesIndex, Source, Time, growth};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Sources of one component. A node has two to six; a switch has one for each port, or for each sensor of it where a message has
/// one alone: 64 ports with four, or 144.
pub const REPORTERS_MAX: usize = 512;

/// A router, host or client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Component {
    /// What is measured: the first of the metrics that its rows may report together.
    pub group: Metric,
    /// Its name.
    pub name: Name,
    pub(super) reporters: Vec<Reporter>,
    /// Slots of the reporters, the preferred one first.
    pub(super) ranking: Vec<u16>,
    pub(super) parts: Vec<Part>,
    pub(super) newest: Option<Time>,
    /// The newest timestamp of all components when a row of this one last arrived.
    last_row_at: Option<Time>,
    /// First row of the parts without an owner.
    pub(super) unowned: Option<Time>,
    /// Sources that add to a part and have none of their own yet.
    #[serde(skip)]
    pub(super) adding: Vec<u16>,
    pub(super) whole: Option<Box<Whole>>,
    given_up: bool,
    /// Where its time leapt ahead last: from, if there was a row before, and to.
    pub(super) leapt: Option<(Option<Time>, Time)>,
    /// Rows since then, and how many of them were counted as being ahead.
    pub(super) since_leap: u64,
    pub(super) counted_ahead: u64,
    /// The time of the stream, where others report too.
    #[serde(skip)]
    pub(super) others: Option<Time>,
    /// Up to this watermark nothing but a row makes a step, see [`Component::steps_until`]; `None` if that is not known.
    #[serde(skip)]
    pub(super) quiet_until: Option<Time>,
    /// Whether no source has rows whose clock is doubted. It is known again at the next row.
    #[serde(skip)]
    pub(super) clocks_agree: bool,
}

impl Component {
    /// A component without a source.
    pub fn new(group: Metric, name: Name) -> Component {
        Component {
            group,
            name,
            reporters: Vec::new(),
            ranking: Vec::new(),
            parts: Vec::new(),
            newest: None,
            last_row_at: None,
            unowned: None,
            adding: Vec::new(),
            whole: None,
            given_up: false,
            leapt: None,
            since_leap: 0,
            counted_ahead: 0,
            others: None,
            quiet_until: None,
            clocks_agree: false,
        }
    }

    /// Whether a source was added before.
    pub fn has(&self, source: &Source) -> bool {
        self.slot(source).is_some()
    }

    fn slot(&self, source: &Source) -> Option<usize> {
        self.reporters.iter().position(|r| r.source.parts == source.parts && *r.source == *source)
    }

    /// The slot of a source that was added before: after a restart sources have new numbers.
    pub fn slot_of(&mut self, source: &Arc<Source>) -> Option<u16> {
        let slot = self.slot(source)?;
        self.reporters[slot].source = Arc::clone(source);
        Some(slot as u16)
    }

    /// Adds a source after so many looks for unseen ones; `number` gives series numbers to parts that are new (`None`: the
    /// component as a whole). Nothing is added beyond [`REPORTERS_MAX`].
    pub fn add_source(
        &mut self,
        source: &Arc<Source>,
        look: u32,
        mut number: impl FnMut(Metric, Option<Name>) -> SeriesIndex,
    ) -> Option<u16> {
        if self.reporters.len() >= REPORTERS_MAX {
            return None;
        }
        let parts = source.series().map(|(metric, name)| self.part(metric, name, &mut number)).collect();
        let summed = source.metrics.iter().find(|metric| metric.has_sum());
        if let Some(summed) = summed.filter(|_| self.whole.is_none()) {
            self.whole = Some(Box::new(Whole::new(number(*summed, None))));
        }
        let reporter = Reporter {
            source: Arc::clone(source),
            parts,
            order: Order::default(),
            doubted: None,
            doubts: 0,
            back: Vec::new(),
            back_run: 0,
            rows: VecDeque::new(),
            accepted: 0,
            reported: 0,
            look,
        };
        growth::push(&mut self.reporters, reporter);
        let slot = self.reporters.len() as u16 - 1;
        let rank = self.reporters[slot as usize].rank();
        let at = self.ranking.partition_point(|p| self.reporters[*p as usize].rank() <= rank);
        self.ranking.insert(at, slot);
        self.quiet_until = None;
        Some(slot)
    }

    pub(super) fn part(
        &mut self,
        metric: Metric,
        name: &Name,
        number: &mut impl FnMut(Metric, Option<Name>) -> SeriesIndex,
    ) -> u16 {
        if let Some(at) = self.parts.iter().position(|part| part.metric == metric && part.name == *name) {
            return at as u16;
        }
        let (name, series) = (name.clone(), number(metric, Some(name.clone())));
        // Row 5 holds the processor tiles.
        let is_of_whole = metric.has_sum() && !name.as_str().starts_with("r5");
        let part = Part {
            metric,
            name,
            series,
            is_of_whole,
            owner: None,
            next: None,
            last: None,
            used: None,
            deferred: None,
            tried: 0,
            is_other: false,
        };
        growth::push(&mut self.parts, part);
        self.parts.len() as u16 - 1
    }

    /// Series of one metric of its parts.
    pub fn series_by(&self, metric: Metric) -> Vec<SeriesIndex> {
        self.parts.iter().filter(|part| part.metric == metric).map(|part| part.series).collect()
    }

    /// Series of its parts by metrics without a sum.
    pub fn series_without_sum(&self) -> impl Iterator<Item = SeriesIndex> {
        self.parts.iter().filter(|part| !part.metric.has_sum()).map(|part| part.series)
    }

    /// Series of its parts, and of the whole where there is one.
    pub fn series(&self) -> Vec<SeriesIndex> {
        self.parts.iter().map(|p| p.series).chain(self.whole.iter().map(|w| w.series)).collect()
    }

    /// The series of the component as a whole.
    pub fn whole_series(&self) -> Option<SeriesIndex> {
        self.whole.as_ref().map(|whole| whole.series)
    }

    /// The newest timestamp that was believed.
    pub fn newest(&self) -> Option<Time> {
        self.newest
    }

    /// The time of the stream, where others report too: of two clocks the one that is nearer to it is right.
    pub fn compare_with(&mut self, others: Option<Time>) {
        self.others = others;
    }

    /// Notes that a row of a source came while the time of the stream was `now`, after so many looks for unseen sources.
    pub fn note_row(&mut self, slot: usize, now: Option<Time>, look: u32) {
        self.last_row_at = now;
        self.reporters[slot].look = look;
    }

    /// Whether no row came of it for more than `after_s` while the others continued; true once per component.
    /// A component that is merely behind the others sends rows all the time.
    pub fn give_up(&mut self, now: Time, after_s: f64) -> bool {
        let silent = self.last_row_at.is_some_and(|then| now.seconds_since(then) > after_s);
        silent && !std::mem::replace(&mut self.given_up, true)
    }

    /// Takes a row of one of its sources.
    pub fn row(
        &mut self,
        slot: usize,
        time: Time,
        counters: &[u64],
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        self.clocks_agree = self.clocks_agree || self.reporters.iter().all(Reporter::has_no_doubts);
        if let Some(rows) = self.steps_back(slot, time, counters, drops) {
            for (time, counters) in rows {
                self.take(slot, time, &counters, settings, drops, out);
            }
            return;
        }
        let doubted = match self.believe(slot, time, counters, drops) {
            Belief::Wait => return,
            Belief::Now(doubted) => doubted,
        };
        let newest = doubted.as_ref().map_or(time, |(doubted, _)| time.max(*doubted));
        let mut before = self.no_longer_doubted(self.newest.max(Some(newest)));
        before.extend(doubted.map(|row| (slot, row)));
        if before.is_empty() {
            return self.take(slot, time, counters, settings, drops, out);
        }
        before.push((slot, (time, counters.into())));
        before.sort_by_key(|(_, (time, _))| *time);
        for (slot, (time, counters)) in before {
            self.take(slot, time, &counters, settings, drops, out);
        }
    }

    /// Doubted rows that are not ahead of the component's other rows any more.
    fn no_longer_doubted(&mut self, newest: Option<Time>) -> Vec<(usize, Row)> {
        if self.clocks_agree {
            return Vec::new();
        }
        let ahead = |row: &mut Row| newest.is_none_or(|newest| row.0.seconds_since(newest) > JUMP_S);
        let reporters = self.reporters.iter_mut().enumerate();
        reporters.filter_map(|(slot, r)| Some((slot, r.doubted.take_if(|row| !ahead(row))?))).collect()
    }

    /// Takes a row whose time is believed.
    fn take(
        &mut self,
        slot: usize,
        time: Time,
        counters: &[u64],
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        self.given_up = false;
        self.note_leap(time);
        let newest = self.newest.map_or(time, |newest| newest.max(time));
        self.newest = Some(newest);
        let watermark = newest.plus_seconds(-settings.lateness_s);
        // What waits is older than this row, which must not be used before it.
        let waits = self.unowned.is_some() || self.reporters[slot].order.first_held().is_some();
        if waits || self.reporters.len() > 1 {
            self.steps_until(watermark, settings, drops, out);
        }
        let mut order = std::mem::take(&mut self.reporters[slot].order);
        let settled = watermark.plus_seconds(0.5 * settings.tick_s);
        let mut stage = Stage { component: self, slot, settled, settings, drops, out };
        let taken = order.offer(time, counters, watermark, settings, |t, c| stage.ordered(t, c));
        self.reporters[slot].order = order;
        if let Err(reason) = taken {
            drops.count(reason);
            self.note_late(slot, time, counters);
        }
        if self.reporters[slot].order.first_held().is_some() {
            self.quiet_until = None;
            self.steps_until(watermark, settings, drops, out);
        }
        if let Some(whole) = self.whole.as_mut() {
            whole.settle(watermark, settings, &mut out.readings);
        }
    }

    /// Uses rows that waited for others long enough, those of all components being read up to `newest`. Readings from
    /// the rows that still wait are of the returned time or later; `None` where no row waits.
    pub fn settle(
        &mut self,
        newest: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) -> Option<Time> {
        let own = self.newest?.plus_seconds(-settings.lateness_s);
        self.waits_since(own, settings)?;
        let watermark = own.max(newest.plus_seconds(-settings.max_wait_s()));
        self.advance(watermark, settings, drops, out);
        self.waits_since(watermark, settings)
    }

    /// Uses all rows that still wait.
    pub fn finish(&mut self, settings: &StreamSettings, drops: &mut DropCounts, out: &mut Found) {
        let doubted = self.reporters.iter().filter(|r| r.doubted.is_some()).count();
        if self.newest.is_some() {
            (0..doubted).for_each(|_| drops.count(DropReason::ClockJump));
        }
        self.reporters.iter_mut().for_each(|reporter| reporter.forget_back(drops));
        if let Some(newest) = self.newest {
            let end = newest.plus_seconds(settings.max_wait_s() + settings.silence_s);
            self.steps_until(end, settings, drops, out);
        }
        if let Some(whole) = self.whole.as_mut() {
            whole.settle(Time(i64::MAX), settings, &mut out.readings);
        }
    }

    /// A late row whose counters are ahead of the latest one's was not late: the clock stepped back. The
    /// interval across the step would be a false rate, so the next reading starts again. A row that is held and comes
    /// again is ahead without any step: its time is after the latest one's.
    fn note_late(&mut self, slot: usize, time: Time, counters: &[u64]) {
        let Reporter { rows, source, .. } = &mut self.reporters[slot];
        let counters = &counters[..source.counters().min(counters.len())];
        let ahead = |latest: &[u64]| {
            let latest = &latest[..counters.len().min(latest.len())];
            latest != counters && latest.iter().zip(counters).all(|(l, c)| c >= l)
        };
        if rows.back().is_some_and(|(newest, latest)| time <= *newest && ahead(latest)) {
            rows.clear();
        }
    }

    /// A first row, and one whose clock jumps ahead, waits for a second one: a clock that is wrong for one
    /// row must not make all others late.
    fn believe(&mut self, slot: usize, time: Time, counters: &[u64], drops: &mut DropCounts) -> Belief {
        let ahead = |time: Time| self.newest.is_none_or(|newest| time.seconds_since(newest) > JUMP_S);
        let jumps = ahead(time);
        let doubted = self.reporters[slot].doubted.take();
        let confirms = |t: Time| time > t || (t != time && t.seconds_since(time) <= JUMP_S);
        let confirmed =
            jumps && doubted.as_ref().is_some_and(|(t, _)| confirms(*t)) && self.is_doubted_enough(slot);
        let still_ahead = doubted.as_ref().is_some_and(|(t, _)| ahead(*t));
        if jumps && !confirmed {
            match doubted {
                Some((t, _)) if t == time => drops.count(DropReason::Duplicate),
                Some(_) => drops.count(DropReason::ClockJump),
                None => {}
            }
            let reporter = &mut self.reporters[slot];
            reporter.doubted = Some((time, counters.into()));
            reporter.doubts = reporter.doubts.saturating_add(1);
            self.clocks_agree = false;
            return Belief::Wait;
        }
        if !jumps && !self.clocks_agree {
            // A source whose time is as before contradicts those that leapt.
            self.reporters.iter_mut().for_each(|reporter| reporter.doubts = 0);
        }
        if still_ahead && !confirmed {
            drops.count(DropReason::ClockJump);
            return Belief::Now(None);
        }
        Belief::Now(doubted)
    }

    fn advance(
        &mut self,
        watermark: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Found,
    ) {
        self.steps_until(watermark, settings, drops, out);
        if let Some(whole) = self.whole.as_mut() {
            whole.settle(watermark, settings, &mut out.readings);
        }
    }
}

/// Whether a row may be used.
enum Belief {
    /// At once, after the row that it confirms.
    Now(Option<Row>),
    /// Not before another confirms it.
    Wait,
}
