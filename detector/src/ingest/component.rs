//! One component, the sources that report it, and the readings of its parts.
//!
//! Several sources may report one part: four compute nodes a router's halves, two aggregators the same set,
//! two samplers the same mount. One owns the part and makes its readings; the others stand by with the rows
//! since the owner's last reading, so that a take-over continues where the owner stopped, from the
//! successor's own counters: no false rate and no lost second.

use super::SeriesReading;
use super::order::{Order, Row};
use super::rates::{Rate, rate};
use crate::settings::StreamSettings;
use schemas::{DropCounts, Heard, Metric, Name, SeriesIndex, Source, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Rows a source keeps behind the watermark; enough for silence and lateness together.
const ROWS_KEPT: usize = 12;

/// A router, host or client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Component {
    /// What is measured.
    pub metric: Metric,
    /// Its name.
    pub name: Name,
    reporters: Vec<Reporter>,
    parts: Vec<Part>,
    newest: Time,
    whole: Option<Whole>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reporter {
    producer: Name,
    schema: Name,
    rank: (u8, Name),
    /// Part of the component per part of the source.
    parts: Vec<u16>,
    order: Order,
    /// Rows from the last one that every part of this source has used.
    rows: VecDeque<Row>,
    accepted: u64,
    told: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Part {
    name: Name,
    series: SeriesIndex,
    owner: Option<u16>,
    /// End of its last reading; before that its first row.
    last: Option<Time>,
    /// Rows of the owner up to here were used, or refused.
    used: Option<Time>,
    /// Sources that were silent as owners; they own it again only when their successor falls silent.
    passed_over: Vec<u16>,
}

/// The mean over the links in use of a router (GUIDE section 1, 4.2.3), as it fills up during a tick.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Whole {
    series: SeriesIndex,
    tick: i64,
    time: Time,
    ln_sum: f64,
    active: u32,
    parts: u32,
    span_ticks: u8,
    gap_since: Option<Time>,
    /// Parts of the tick before: when as many have come, the mean is complete.
    parts_before: u32,
    told: bool,
}

/// Least ratio in the geometric mean over links.
const LINK_FLOOR: f64 = 1e-3;

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

/// A source at work on its component.
struct Stage<'a> {
    component: &'a mut Component,
    place: usize,
    settings: &'a StreamSettings,
    drops: &'a mut DropCounts,
    out: &'a mut Vec<SeriesReading>,
}

impl Stage<'_> {
    /// Uses the next row of the source.
    fn ordered(&mut self, time: Time, counters: &[u64]) {
        let reporter = &mut self.component.reporters[self.place];
        reporter.accepted += 1;
        let reused = if reporter.rows.len() >= ROWS_KEPT { reporter.rows.pop_front() } else { None };
        let row = match reused {
            Some((_, mut old)) if old.len() == counters.len() => {
                old.copy_from_slice(counters);
                old
            }
            _ => counters.into(),
        };
        reporter.rows.push_back((time, row));
        for part in 0..self.component.reporters[self.place].parts.len() {
            let part = self.component.reporters[self.place].parts[part] as usize;
            if self.owns(part) {
                self.catch_up(part);
            }
        }
        self.forget_used();
    }

    /// Whether this source makes the part's readings; a better one takes it as soon as it can go on from
    /// the last reading.
    fn owns(&mut self, part: usize) -> bool {
        let place = self.place as u16;
        let reporters = &self.component.reporters;
        let state = &self.component.parts[part];
        let better = match state.owner {
            None => true,
            Some(owner) if owner == place => return true,
            Some(owner) => {
                let can_go_on =
                    |last: Time| reporters[self.place].rows.front().is_some_and(|r| r.0 <= last + 500_000);
                reporters[self.place].rank < reporters[owner as usize].rank
                    && !state.passed_over.contains(&place)
                    && state.last.is_some_and(can_go_on)
            }
        };
        if better {
            let state = &mut self.component.parts[part];
            state.owner = Some(place);
            state.used = state.last;
        }
        better
    }

    /// Makes readings of the rows after the last one that was used.
    fn catch_up(&mut self, part: usize) {
        let half_tick = (self.settings.tick_s * 5e5) as i64;
        let rows = &self.component.reporters[self.place].rows;
        let (used, count) = (self.component.parts[part].used, rows.len());
        let first =
            used.map_or(count - 1, |used| rows.partition_point(|(time, _)| *time <= used + half_tick));
        for row in first..count {
            self.reading(part, row);
        }
    }

    /// The reading that ends at `row`, from the row before it; or the news that there is none.
    fn reading(&mut self, part: usize, row: usize) {
        let reporter = &self.component.reporters[self.place];
        let time = reporter.rows[row].0;
        let state = &mut self.component.parts[part];
        let last = *state.last.get_or_insert(time);
        state.used = Some(time);
        let longest_s = self.settings.gap_s + self.settings.tick_s / 2.0;
        let gap_since = Some(last).filter(|last| time.seconds_since(*last) > longest_s);
        let empty =
            SeriesReading { series: state.series, time, value: 0.0, active: false, span_ticks: 0, gap_since };
        let before = row.checked_sub(1).map(|before| reporter.rows[before].0);
        let reading = match before.map(|before| time.seconds_since(before)).filter(|s| *s <= longest_s) {
            Some(seconds) => self.rate_at(part, row, seconds).map(|rate| SeriesReading {
                value: rate.value,
                active: rate.active,
                span_ticks: (seconds / self.settings.tick_s).round().clamp(1.0, 255.0) as u8,
                ..empty
            }),
            None => gap_since.map(|_| empty),
        };
        if let Some(reading) = reading {
            self.component.parts[part].last = Some(time);
            self.tell(part, reading);
        }
    }

    /// The rate of `part` between `row` and the one before; an interval that cannot be used is counted.
    fn rate_at(&mut self, part: usize, row: usize, seconds: f64) -> Option<Rate> {
        let reporter = &self.component.reporters[self.place];
        let columns = self.component.metric.columns();
        let place = reporter.parts.iter().position(|p| *p as usize == part)?;
        let of_part = place * columns..(place + 1) * columns;
        let (before, now) = (&reporter.rows[row - 1].1[of_part.clone()], &reporter.rows[row].1[of_part]);
        match rate(self.component.metric, before, now, seconds) {
            Ok(rate) => Some(rate),
            Err(reason) => {
                self.drops.count(reason);
                None
            }
        }
    }

    fn tell(&mut self, part: usize, reading: SeriesReading) {
        self.out.push(reading);
        let is_network_tile = !self.component.parts[part].name.as_str().starts_with("r5");
        if let Some(whole) = self.component.whole.as_mut().filter(|_| is_network_tile) {
            whole.add(&reading, self.settings, self.out);
        }
    }

    /// Drops the rows that every part has used, but for the last: it is the base of the next reading.
    fn forget_used(&mut self) {
        let parts = &self.component.parts;
        let reporter = &mut self.component.reporters[self.place];
        let Some(newest) = reporter.rows.back().map(|(time, _)| *time) else {
            return;
        };
        let used =
            reporter.parts.iter().map(|p| parts[*p as usize].last.unwrap_or(newest)).min().unwrap_or(newest);
        while reporter.rows.len() > 1 && reporter.rows[1].0 <= used + 1 {
            reporter.rows.pop_front();
        }
    }
}

impl Whole {
    fn new(series: SeriesIndex) -> Whole {
        Whole {
            series,
            tick: i64::MIN,
            time: Time::MIN,
            ln_sum: 0.0,
            active: 0,
            parts: 0,
            span_ticks: 0,
            gap_since: None,
            parts_before: u32::MAX,
            told: true,
        }
    }

    fn add(&mut self, reading: &SeriesReading, settings: &StreamSettings, out: &mut Vec<SeriesReading>) {
        let tick = (reading.time.seconds() / settings.tick_s).round() as i64;
        if tick < self.tick {
            return;
        }
        if tick > self.tick {
            self.tell(out);
            let parts_before = if self.tick == i64::MIN { u32::MAX } else { self.parts };
            *self = Whole { tick, parts_before, told: false, ..Whole::new(self.series) };
        }
        self.time = self.time.max(reading.time);
        self.span_ticks = self.span_ticks.max(reading.span_ticks);
        self.gap_since = self.gap_since.or(reading.gap_since);
        self.parts += 1;
        if reading.active {
            self.active += 1;
            self.ln_sum += reading.value.max(LINK_FLOOR).ln();
        }
        if self.parts >= self.parts_before {
            self.tell(out);
        }
    }

    /// The mean over the links in use, once per tick.
    fn tell(&mut self, out: &mut Vec<SeriesReading>) {
        if self.told {
            return;
        }
        self.told = true;
        let active = self.active > 0;
        let value = if active { (self.ln_sum / f64::from(self.active)).exp() } else { 0.0 };
        let (series, time, span_ticks, gap_since) = (self.series, self.time, self.span_ticks, self.gap_since);
        out.push(SeriesReading { series, time, value, active, span_ticks, gap_since });
    }
}
