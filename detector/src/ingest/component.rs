//! One component, the sources that report it, and the readings of its parts.
//!
//! Several sources may report one part: four compute nodes a router's halves, two aggregators the same set,
//! two samplers the same mount. One owns the part and makes its readings; the others stand by with the rows
//! since the owner's last reading, so that a take-over continues where the owner stopped, from the
//! successor's own counters: no false rate and no lost second. Who owns what is decided by the rows'
//! timestamps alone, never by which row came first.

use super::SeriesReading;
use super::order::{Order, Row};
use super::stage::Stage;
use super::whole::Whole;
use crate::settings::StreamSettings;
use schemas::{DropCounts, DropReason, Heard, Metric, Name, SeriesIndex, Silence, Source, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Sources of one component; a real one has two to six.
pub const REPORTERS_MAX: usize = 64;
/// A clock that jumps ahead further than this is believed when a second row confirms it.
const JUMP_S: f64 = 60.0;

/// A router, host or client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Component {
    /// What is measured.
    pub metric: Metric,
    /// Its name.
    pub name: Name,
    pub(super) reporters: Vec<Reporter>,
    /// Places of the reporters, the preferred one first.
    ranking: Vec<u16>,
    pub(super) parts: Vec<Part>,
    newest: Option<Time>,
    /// The newest timestamp of all components when this one was heard last.
    heard_at: Option<Time>,
    pub(super) whole: Option<Whole>,
    given_up: bool,
}

/// A source of this component.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reporter {
    source: Source,
    /// Part of the component per part of the source.
    pub(super) parts: Vec<u16>,
    order: Order,
    /// A row whose clock jumped ahead, until another confirms it.
    doubted: Option<Row>,
    /// Rows from the last one that every part of this source has used.
    pub(super) rows: VecDeque<Row>,
    pub(super) accepted: u64,
    told: u64,
}

/// A tile, port or mount.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: Name,
    pub(super) series: SeriesIndex,
    /// Who makes its readings, and who will from some time on.
    pub(super) owner: Option<u16>,
    pub(super) next: Option<(u16, Time)>,
    /// End of its last reading; before that its first row.
    pub(super) last: Option<Time>,
    /// Rows of the owner up to here were used, or refused.
    pub(super) used: Option<Time>,
}

impl Component {
    /// A component that nobody reports yet.
    pub fn new(metric: Metric, name: Name) -> Component {
        Component {
            metric,
            name,
            reporters: Vec::new(),
            ranking: Vec::new(),
            parts: Vec::new(),
            newest: None,
            heard_at: None,
            whole: None,
            given_up: false,
        }
    }

    /// The place of a source that was added before: after a restart sources have new numbers.
    pub fn place_of(&self, source: &Source) -> Option<u16> {
        self.reporters.iter().position(|r| r.source == *source).map(|place| place as u16)
    }

    /// Adds a source; `number` gives series numbers to parts that are new (`None`: the component as a
    /// whole). Nothing is added beyond [`REPORTERS_MAX`].
    pub fn add_source(
        &mut self,
        source: &Source,
        mut number: impl FnMut(Option<Name>) -> SeriesIndex,
    ) -> Option<u16> {
        if self.reporters.len() >= REPORTERS_MAX {
            return None;
        }
        let parts = source.parts.iter().map(|name| self.part(name, &mut number)).collect();
        if self.metric == Metric::AriesStallRatio && self.whole.is_none() {
            self.whole = Some(Whole::new(number(None)));
        }
        self.reporters.push(Reporter {
            source: source.clone(),
            parts,
            order: Order::default(),
            doubted: None,
            rows: VecDeque::new(),
            accepted: 0,
            told: 0,
        });
        let place = self.reporters.len() as u16 - 1;
        self.ranking.push(place);
        let reporters = &self.reporters;
        self.ranking.sort_by_key(|p| reporters[*p as usize].rank());
        Some(place)
    }

    fn part(&mut self, name: &Name, number: &mut impl FnMut(Option<Name>) -> SeriesIndex) -> u16 {
        if let Some(at) = self.parts.iter().position(|part| part.name == *name) {
            return at as u16;
        }
        let (name, series) = (name.clone(), number(Some(name.clone())));
        self.parts.push(Part { name, series, owner: None, next: None, last: None, used: None });
        self.parts.len() as u16 - 1
    }

    /// Series of its parts, and of the whole where there is one.
    pub fn series(&self) -> Vec<SeriesIndex> {
        self.parts.iter().map(|p| p.series).chain(self.whole.iter().map(|w| w.series)).collect()
    }

    /// The series of the component as a whole.
    pub fn whole_series(&self) -> Option<SeriesIndex> {
        self.whole.as_ref().map(|whole| whole.series)
    }

    /// Its producers, each once.
    pub fn producers(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.reporters.iter().map(|r| r.source.producer.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The newest timestamp that was believed.
    pub fn newest(&self) -> Option<Time> {
        self.newest
    }

    /// Sources heard since the last call.
    pub fn heard(&mut self) -> impl Iterator<Item = Heard> {
        let news = self.reporters.iter_mut().filter(|r| r.accepted > r.told);
        news.filter_map(|r| {
            r.told = r.accepted;
            Some(Heard {
                producer: r.source.producer.clone(),
                schema: r.source.schema.clone(),
                component: r.source.component.clone(),
                last_time: r.rows.back()?.0,
                rows: r.accepted,
            })
        })
    }

    /// Looks which of its sources are silent.
    pub fn look_for_silence(&mut self, now: Time, delay_s: f64, settings: &StreamSettings) {
        self.reporters.iter_mut().for_each(|reporter| reporter.order.look(now, delay_s, settings));
    }

    /// Silences of its sources that began, ended or were none, since the last call.
    pub fn silences(&mut self) -> impl Iterator<Item = Silence> {
        self.reporters.iter_mut().flat_map(|Reporter { source, order, .. }| {
            let of_source = |(since, end)| Silence {
                producer: source.producer.clone(),
                schema: source.schema.clone(),
                component: source.component.clone(),
                since,
                end,
            };
            order.silence().take().into_iter().map(of_source)
        })
    }

    /// How many of its sources are silent now.
    pub fn silent(&self) -> usize {
        self.reporters.iter().filter(|reporter| reporter.order.is_silent()).count()
    }

    /// Notes that a row came while the newest of all rows was `now`.
    pub fn hear(&mut self, now: Option<Time>) {
        self.heard_at = now;
    }

    /// Whether nothing came of it while all the others went on for so long that nobody waits any more; told
    /// once. A component that is merely behind the others is heard all the time.
    pub fn give_up(&mut self, now: Time, after_s: f64) -> bool {
        let silent = self.heard_at.is_some_and(|then| now.seconds_since(then) > after_s);
        silent && !std::mem::replace(&mut self.given_up, true)
    }

    /// Takes a row of one of its sources.
    pub fn row(
        &mut self,
        place: usize,
        time: Time,
        counters: &[u64],
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Vec<SeriesReading>,
    ) {
        let doubted = match self.believe(place, time, counters, drops) {
            Belief::Wait => return,
            Belief::Now(doubted) => doubted,
        };
        for (time, counters) in doubted.iter().map(|(t, c)| (*t, &c[..])).chain([(time, counters)]) {
            self.newest = self.newest.max(Some(time));
            self.given_up = false;
            let watermark = time.max(self.newest.unwrap_or(time)).plus_seconds(-settings.lateness_s);
            let mut order = std::mem::take(&mut self.reporters[place].order);
            let mut stage = Stage { component: self, place, settings, drops, out };
            let taken = order.offer(time, counters, watermark, settings, |t, c| stage.ordered(t, c));
            self.reporters[place].order = order;
            if let Err(reason) = taken {
                drops.count(reason);
                self.note_late(place, time, counters);
            }
            self.advance(watermark, settings, drops, out);
        }
    }

    /// Uses all rows that still wait.
    pub fn finish(
        &mut self,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Vec<SeriesReading>,
    ) {
        let doubted = self.reporters.iter().filter(|r| r.doubted.is_some()).count();
        if self.newest.is_some() {
            (0..doubted).for_each(|_| drops.count(DropReason::ClockJump));
        }
        self.release(Time(i64::MAX), settings, drops, out);
        if let Some(newest) = self.newest {
            self.take_over(newest, settings, drops, out);
        }
        if let Some(whole) = self.whole.as_mut() {
            whole.settle(Time(i64::MAX), settings, out);
        }
    }

    /// A late row whose counters are ahead of the latest one's was not late: the clock stepped back. The
    /// interval across the step would be a false rate, so the next reading begins anew. A row that is held and comes
    /// again is ahead without any step: its time is after the latest one's.
    fn note_late(&mut self, place: usize, time: Time, counters: &[u64]) {
        let rows = &mut self.reporters[place].rows;
        let ahead = |latest: &[u64]| latest != counters && latest.iter().zip(counters).all(|(l, c)| c >= l);
        if rows.back().is_some_and(|(newest, latest)| time <= *newest && ahead(latest)) {
            rows.clear();
        }
    }

    /// A first row, and one whose clock jumps ahead, waits for a second one: a clock that is wrong for one
    /// row must not make all others late.
    fn believe(&mut self, place: usize, time: Time, counters: &[u64], drops: &mut DropCounts) -> Belief {
        let ahead = |time: Time| self.newest.is_none_or(|newest| time.seconds_since(newest) > JUMP_S);
        let jumps = ahead(time);
        let doubted = self.reporters[place].doubted.take();
        let confirms = |t: Time| time > t || (t != time && t.seconds_since(time) <= JUMP_S);
        let confirmed = jumps && doubted.as_ref().is_some_and(|(t, _)| confirms(*t));
        let still_ahead = doubted.as_ref().is_some_and(|(t, _)| ahead(*t));
        if jumps && !confirmed {
            match doubted {
                Some((t, _)) if t == time => drops.count(DropReason::Duplicate),
                Some(_) => drops.count(DropReason::ClockJump),
                None => {}
            }
            self.reporters[place].doubted = Some((time, counters.into()));
            return Belief::Wait;
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
        out: &mut Vec<SeriesReading>,
    ) {
        self.release(watermark, settings, drops, out);
        self.take_over(watermark, settings, drops, out);
        if let Some(whole) = self.whole.as_mut() {
            whole.settle(watermark, settings, out);
        }
    }

    /// Lets rows go that nothing can come before any more, those of the preferred sources first.
    fn release(
        &mut self,
        watermark: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Vec<SeriesReading>,
    ) {
        for at in 0..self.ranking.len() {
            let place = self.ranking[at] as usize;
            if !self.reporters[place].order.holds() {
                continue;
            }
            let mut order = std::mem::take(&mut self.reporters[place].order);
            let mut stage = Stage { component: self, place, settings, drops, out };
            order.release(watermark, settings, |t, c| stage.ordered(t, c));
            self.reporters[place].order = order;
        }
    }

    /// Gives parts whose owner was silent to the best source that was not.
    fn take_over(
        &mut self,
        watermark: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Vec<SeriesReading>,
    ) {
        let overdue = watermark.plus_seconds(-settings.silence_s);
        let waits = |p: &Part| p.last.is_some_and(|last| last <= overdue);
        if self.reporters.len() < 2 || !self.parts.iter().any(waits) {
            return;
        }
        for part in 0..self.parts.len() {
            let last = self.parts[part].last.filter(|last| *last <= overdue);
            let Some((last, successor)) = last.and_then(|l| Some((l, self.successor(part, l)?))) else {
                continue;
            };
            let state = &mut self.parts[part];
            (state.owner, state.next, state.used) = (Some(successor), None, Some(last));
            let mut stage = Stage { component: self, place: successor as usize, settings, drops, out };
            stage.catch_up(part);
        }
    }

    /// The best source, other than the owner, with a row after `last`.
    pub(super) fn successor(&self, part: usize, last: Time) -> Option<u16> {
        let owner = self.parts[part].owner_at(Time(i64::MAX));
        self.ranking.iter().copied().find(|place| {
            let reporter = &self.reporters[*place as usize];
            Some(*place) != owner
                && reporter.parts.contains(&(part as u16))
                && reporter.rows.back().is_some_and(|(time, _)| *time > last)
        })
    }
}

/// Whether a row may be used.
enum Belief {
    /// At once, after the row that it confirms.
    Now(Option<Row>),
    /// Not before another confirms it.
    Wait,
}

impl Reporter {
    /// What decides among redundant sources: the lowest reports.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let source = &self.source;
        (source.rank, source.producer.clone(), source.schema.clone(), source.set.clone())
    }
}

impl Part {
    /// Who makes the reading that ends at `time`.
    pub(super) fn owner_at(&self, time: Time) -> Option<u16> {
        self.next.filter(|(_, from)| time > *from).map_or(self.owner, |(place, _)| Some(place))
    }
}
