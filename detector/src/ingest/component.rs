//! One component, the sources that report it, and the readings of its parts.
//!
//! Several sources may report one part: four compute nodes a router's halves, two aggregators the same set,
//! two samplers the same mount. One owns the part and makes its readings; the others stand by with the rows
//! since the owner's last reading, so that a take-over continues where the owner stopped, from the
//! successor's own counters: no false rate and no lost second.

use super::SeriesReading;
use super::order::{Order, Row};
use super::stage::Stage;
use super::whole::Whole;
use crate::settings::StreamSettings;
use schemas::{DropCounts, Heard, Metric, Name, SeriesIndex, Source, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A router, host or client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Component {
    /// What is measured.
    pub metric: Metric,
    /// Its name.
    pub name: Name,
    pub(super) reporters: Vec<Reporter>,
    pub(super) parts: Vec<Part>,
    newest: Time,
    pub(super) whole: Option<Whole>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reporter {
    pub(super) producer: Name,
    pub(super) schema: Name,
    pub(super) rank: (u8, Name),
    /// Part of the component per part of the source.
    pub(super) parts: Vec<u16>,
    pub(super) order: Order,
    /// Rows from the last one that every part of this source has used.
    pub(super) rows: VecDeque<Row>,
    pub(super) accepted: u64,
    pub(super) told: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: Name,
    pub(super) series: SeriesIndex,
    pub(super) owner: Option<u16>,
    /// End of its last reading; before that its first row.
    pub(super) last: Option<Time>,
    /// Rows of the owner up to here were used, or refused.
    pub(super) used: Option<Time>,
    /// Sources that were silent as owners; they own it again only when their successor falls silent.
    pub(super) passed_over: Vec<u16>,
}

impl Component {
    /// A component that nobody reports yet.
    pub fn new(metric: Metric, name: Name) -> Component {
        Component { metric, name, reporters: Vec::new(), parts: Vec::new(), newest: Time::MIN, whole: None }
    }

    /// Adds a source; `number` gives series numbers to parts that are new (`None`: the component as a whole).
    pub fn add_source(
        &mut self,
        source: &Source,
        mut number: impl FnMut(Option<Name>) -> SeriesIndex,
    ) -> u16 {
        let parts = source.parts.iter().map(|name| self.part(name, &mut number)).collect();
        if self.metric == Metric::AriesStallRatio && self.whole.is_none() {
            self.whole = Some(Whole::new(number(None)));
        }
        self.reporters.push(Reporter {
            producer: source.producer.clone(),
            schema: source.schema.clone(),
            rank: (source.rank, source.producer.clone()),
            parts,
            order: Order::default(),
            rows: VecDeque::new(),
            accepted: 0,
            told: 0,
        });
        self.reporters.len() as u16 - 1
    }

    fn part(&mut self, name: &Name, number: &mut impl FnMut(Option<Name>) -> SeriesIndex) -> u16 {
        if let Some(at) = self.parts.iter().position(|part| part.name == *name) {
            return at as u16;
        }
        let series = number(Some(name.clone()));
        self.parts.push(Part {
            name: name.clone(),
            series,
            owner: None,
            last: None,
            used: None,
            passed_over: Vec::new(),
        });
        self.parts.len() as u16 - 1
    }

    /// Series of its parts, and of the whole where there is one.
    pub fn series(&self) -> Vec<SeriesIndex> {
        self.parts.iter().map(|p| p.series).chain(self.whole.iter().map(|w| w.series)).collect()
    }

    /// Whether `node` is among its producers.
    pub fn is_reported_by(&self, node: &Name) -> bool {
        self.reporters.iter().any(|r| r.producer == *node)
    }

    /// Its producers, each once.
    pub fn producers(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.reporters.iter().map(|r| r.producer.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Sources heard since the last call.
    pub fn heard(&mut self) -> Vec<Heard> {
        let name = &self.name;
        let news = self.reporters.iter_mut().filter(|r| r.accepted > r.told);
        news.filter_map(|r| {
            r.told = r.accepted;
            let last_time = r.rows.back()?.0;
            let (producer, schema) = (r.producer.clone(), r.schema.clone());
            Some(Heard { producer, schema, component: name.clone(), last_time, rows: r.accepted })
        })
        .collect()
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
        self.newest = self.newest.max(time);
        let watermark = self.newest.plus_seconds(-settings.lateness_s);
        let mut released = std::mem::take(&mut self.reporters[place].order);
        let mut stage = Stage { component: self, place, settings, drops, out };
        let taken = released.offer(time, counters, watermark, settings, |t, c| stage.ordered(t, c));
        self.reporters[place].order = released;
        if let Err(reason) = taken {
            drops.count(reason);
            return;
        }
        self.release_others(place, watermark, settings, drops, out);
        self.take_over(watermark, settings, drops, out);
    }

    /// Uses all rows that still wait.
    pub fn finish(
        &mut self,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Vec<SeriesReading>,
    ) {
        let end = Time(i64::MAX);
        self.release_others(usize::MAX, end, settings, drops, out);
        self.take_over(self.newest, settings, drops, out);
        if let Some(whole) = self.whole.as_mut() {
            whole.tell(out);
        }
    }

    fn release_others(
        &mut self,
        place: usize,
        watermark: Time,
        settings: &StreamSettings,
        drops: &mut DropCounts,
        out: &mut Vec<SeriesReading>,
    ) {
        for other in (0..self.reporters.len()).filter(|o| *o != place) {
            let mut order = std::mem::take(&mut self.reporters[other].order);
            let mut stage = Stage { component: self, place: other, settings, drops, out };
            order.release(watermark, settings, |t, c| stage.ordered(t, c));
            self.reporters[other].order = order;
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
            let Some(successor) = last.and_then(|last| self.successor(part, last)) else {
                continue;
            };
            let state = &mut self.parts[part];
            state.passed_over.retain(|p| *p != successor);
            state.passed_over.extend(state.owner);
            state.owner = Some(successor);
            state.used = last;
            let mut stage = Stage { component: self, place: successor as usize, settings, drops, out };
            stage.catch_up(part);
        }
    }

    /// The best source with a row after `last`.
    fn successor(&self, part: usize, last: Time) -> Option<u16> {
        let owner = self.parts[part].owner;
        let can = |r: &&(usize, &Reporter)| {
            Some(r.0 as u16) != owner
                && r.1.parts.contains(&(part as u16))
                && r.1.rows.back().is_some_and(|(time, _)| *time > last)
        };
        let best = self.reporters.iter().enumerate().filter(|r| can(&r)).min_by_key(|r| &r.1.rank);
        best.map(|(place, _)| place as u16)
    }
}
