//! Updates of links of all detector partitions, put together second by second.

use super::{LIVE_S, LinkMessage, RECORDED_QUIET_S, TickUpdate, quiet_s};
use detector::fabric::lifecycle::LinkEvent;
use detector::fabric::{Fabric, FabricSettings, LinkReport, LinkTick, Network};
use schemas::{Job, SeriesIndex, SeriesInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Seconds after the last word of a link up to which its region is looked at: longer than one waits for its links.
const END_S: f64 = 20.0;
/// Seconds of updates that may wait for the slowest detector partition.
pub(super) const WAITING_MAX: usize = 100_000;
/// Words about single links that may wait in them, each of some twenty bytes.
pub(super) const WAITING_WORDS_MAX: usize = 5_000_000;

/// Updates of all detector partitions, and the fabric that looks at them.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinkMerge {
    fabric: Fabric,
    /// The configured ones, which may be more than when the state was written.
    #[serde(skip)]
    partitions: i32,
    #[serde(skip)]
    tick_s: f64,
    sources: BTreeMap<i32, SourceProgress>,
    /// Jobs as they are from a second on that was not looked at yet.
    pub(super) jobs: BTreeMap<i64, Vec<Job>>,
    /// When the sequence of jobs began, and how many of it were taken.
    jobs_taken: (i64, u64),
    forced: u64,
    /// Words that wait.
    #[serde(skip)]
    words: usize,
}

/// How many words about links these are.
fn words(updates: &TickUpdate) -> usize {
    updates.reports.len() + updates.events.len() + updates.series.len()
}

/// State of one detector partition.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SourceProgress {
    /// The latest part of a second that it reported.
    passed: Option<(i64, u32)>,
    watermark_tick: i64,
    newest: Option<i64>,
    silent_s: f64,
    behind_s: f64,
    lateness_s: f64,
    final_tick: Option<i64>,
    waiting: BTreeMap<i64, TickUpdate>,
    /// The fabric's number of each series.
    numbers: BTreeMap<SeriesIndex, SeriesIndex>,
}

impl SourceProgress {
    /// Keeps updates; those of a processed second count for the next one.
    fn put(&mut self, updates: TickUpdate, now: i64) {
        let tick = if now == i64::MIN { updates.tick } else { updates.tick.max(now + 1) };
        let kept = self.waiting.entry(tick).or_insert_with(|| TickUpdate { tick, ..TickUpdate::default() });
        kept.reports.extend(updates.reports);
        kept.events.extend(updates.events);
        kept.series.extend(updates.series);
    }

    fn advance(&mut self, message: &LinkMessage) {
        if message.more {
            return;
        }
        if message.watermark_tick >= self.watermark_tick {
            (self.silent_s, self.behind_s) = (message.silent_s, message.behind_s);
            self.lateness_s = message.lateness_s;
        }
        self.watermark_tick = self.watermark_tick.max(message.watermark_tick);
        self.newest = self.newest.max(message.newest);
        self.final_tick = self.final_tick.max(message.final_tick);
    }
}

impl LinkMerge {
    /// For `partitions` detector partitions that have reported nothing yet.
    pub fn new(partitions: i32, settings: FabricSettings, network: Option<Arc<Network>>) -> LinkMerge {
        LinkMerge {
            tick_s: settings.tick_s,
            fabric: Fabric::new(settings, network),
            partitions,
            sources: BTreeMap::new(),
            jobs: BTreeMap::new(),
            jobs_taken: (0, 0),
            forced: 0,
            words: 0,
        }
    }

    /// Gives a merge that was read back what is configured now.
    pub fn attach(&mut self, partitions: i32, settings: FabricSettings, network: Option<Arc<Network>>) {
        (self.partitions, self.tick_s) = (partitions, settings.tick_s);
        self.words = self.sources.values().flat_map(|source| source.waiting.values()).map(words).sum();
        self.fabric.attach(settings, network);
    }

    /// Seconds that were processed before every partition had reported them, because too many waited.
    pub fn forced(&self) -> u64 {
        self.forced
    }

    /// The fabric.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The fabric, to take its results.
    pub fn fabric_mut(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// The stream ended: open regions are reported as they are in its last second, and all jobs are known.
    pub fn finish(&mut self) {
        let last = self.sources.values().filter_map(|source| source.final_tick).min().unwrap_or(i64::MIN);
        while self.fabric.is_open() && self.fabric.now() < last {
            let tick = self.fabric.now() + 1;
            self.use_jobs(tick);
            self.fabric.tick(&LinkTick::empty(tick));
        }
        std::mem::take(&mut self.jobs).into_values().flatten().for_each(|job| self.fabric.job(job));
        self.fabric.finish();
    }

    /// Takes a message; repeated seconds are skipped.
    pub fn message(&mut self, message: LinkMessage) {
        let now = self.fabric.now();
        let source = self.sources.entry(message.partition).or_default();
        source.advance(&message);
        for updates in message.updates {
            let place = Some((updates.tick, updates.part));
            if place > source.passed {
                source.passed = place;
                self.words += words(&updates);
                source.put(updates, now);
            }
        }
        self.take_jobs(message.jobs, message.jobs_from);
        if message.more {
            return;
        }
        loop {
            if let Some(tick) = self.due() {
                self.second(tick);
            } else if let Some(tick) = self.due_for_jobs() {
                self.use_jobs(tick);
            } else {
                break;
            }
        }
        self.pass_the_end();
    }

    /// Takes the jobs of a message; repeated jobs are skipped.
    pub(super) fn take_jobs(&mut self, jobs: Vec<(i64, Job)>, (since, before): (i64, u64)) {
        if jobs.is_empty() {
            return;
        }
        let known = if self.jobs_taken.0 == since { self.jobs_taken.1 } else { 0 };
        self.jobs_taken = (since, known.max(before + jobs.len() as u64));
        for (tick, job) in jobs.into_iter().skip(known.saturating_sub(before) as usize) {
            self.jobs.entry(tick).or_default().push(job);
        }
    }

    /// The first second with jobs, once no partition can report a link in the seconds before.
    fn due_for_jobs(&self) -> Option<i64> {
        let first = *self.jobs.first_key_value()?.0;
        let waits = self
            .sources
            .values()
            .any(|source| source.waiting.keys().next().is_some_and(|tick| *tick < first));
        (!waits && self.is_final(first)).then_some(first)
    }

    /// Applies jobs up to the second `tick`.
    fn use_jobs(&mut self, tick: i64) {
        let later = self.jobs.split_off(&(tick + 1));
        let now = std::mem::replace(&mut self.jobs, later);
        now.into_values().flatten().for_each(|job| self.fabric.job(job));
    }

    /// The first second that every partition has reported, or one that waited too long.
    fn due(&mut self) -> Option<i64> {
        let first = self.sources.values().filter_map(|source| source.waiting.keys().next()).min().copied()?;
        if self.is_final(first) {
            return Some(first);
        }
        let waiting: usize = self.sources.values().map(|source| source.waiting.len()).sum();
        let full = waiting > WAITING_MAX || self.words > WAITING_WORDS_MAX;
        self.forced += u64::from(full);
        full.then_some(first)
    }

    /// Whether no partition can report anything more of `tick`. A clock that is far behind the others delays no partition.
    fn is_final(&self, tick: i64) -> bool {
        let (live, silent_s) = (self.is_live(), self.silent_s());
        let (away_s, quiet_s) = (self.late_s() + quiet_s(true, self.tick_s), quiet_s(live, self.tick_s));
        let is_past = |source: &SourceProgress, seconds: f64| {
            source.watermark_tick >= tick.saturating_add(self.ticks(seconds))
        };
        let by_clock = |source: &SourceProgress| {
            let is_away = source.silent_s >= away_s || source.behind_s >= RECORDED_QUIET_S;
            live && is_away && is_past(source, away_s)
        };
        let all_silent = |source: &SourceProgress| silent_s >= quiet_s && is_past(source, quiet_s);
        let is_done = |source: &SourceProgress| {
            source.final_tick >= Some(tick) || by_clock(source) || all_silent(source)
        };
        self.sources.len() as i32 >= self.partitions && self.sources.values().all(is_done)
    }

    /// Ticks in which so many seconds are over.
    fn ticks(&self, seconds: f64) -> i64 {
        (seconds / self.tick_s).ceil() as i64
    }

    /// Seconds by which rows come late at most, and a tick of a row.
    fn late_s(&self) -> f64 {
        self.sources.values().map(|source| source.lateness_s).fold(0.0, f64::max) + self.tick_s
    }

    /// Whether the youngest row of all is as old as the latest watermark, or there is no row. Rows do not get younger
    /// because their reader is behind.
    fn is_live(&self) -> bool {
        let watermark = self.sources.values().map(|source| source.watermark_tick).max();
        let age = watermark.zip(self.youngest()).map(|(watermark, youngest)| watermark - youngest);
        age.is_none_or(|age| age < self.ticks(LIVE_S))
    }

    /// The youngest row of all; no clock that is ahead makes one younger than the watermark with which it came.
    fn youngest(&self) -> Option<i64> {
        let of = |source: &SourceProgress| {
            Some(source.newest?.min(source.watermark_tick - self.ticks(source.silent_s)))
        };
        self.sources.values().filter_map(of).max()
    }

    /// Seconds without any row.
    fn silent_s(&self) -> f64 {
        self.sources.values().map(|source| source.silent_s).reduce(f64::min).unwrap_or(0.0)
    }

    /// When all partitions are quiet, open regions end, in the second in which they would have ended with reports of idle
    /// links.
    fn pass_the_end(&mut self) {
        let (live, silent_s) = (self.is_live(), self.silent_s());
        let all = self.sources.len() as i32 >= self.partitions;
        let quiet = all && silent_s >= quiet_s(live, self.tick_s);
        if !(self.fabric.is_open() && quiet && self.sources.values().all(|source| source.waiting.is_empty()))
        {
            return;
        }
        // Rows that arrive now are as far behind the watermark as the latest ones were, and no later than what each
        // partition read.
        let passed = ((silent_s - self.late_s()) / self.tick_s).floor() as i64;
        let read = self.sources.values().map(|source| source.watermark_tick).min().unwrap_or(i64::MIN);
        let of_rows = self.youngest().unwrap_or(i64::MIN).saturating_add(passed);
        let could_come = of_rows.min(read.saturating_sub(self.ticks(self.late_s())));
        let of_jobs = self.jobs.keys().next().map_or(i64::MAX, |tick| tick - 1);
        let end =
            self.fabric.latest_tick().saturating_add(self.ticks(END_S)).min(could_come - 1).min(of_jobs);
        while self.fabric.is_open() && self.fabric.now() < end {
            self.fabric.tick(&LinkTick::empty(self.fabric.now() + 1));
        }
    }

    /// Looks at one second: jobs, series in the order of their names, then what changed.
    fn second(&mut self, tick: i64) {
        self.use_jobs(tick);
        let mut found: Vec<(i32, TickUpdate)> = Vec::new();
        for (partition, source) in &mut self.sources {
            found.extend(source.waiting.remove(&tick).map(|updates| (*partition, updates)));
        }
        self.words = self.words.saturating_sub(found.iter().map(|(_, updates)| words(updates)).sum());
        let mut new: Vec<(String, i32, SeriesIndex, SeriesInfo)> = Vec::new();
        for (partition, updates) in &mut found {
            let series = std::mem::take(&mut updates.series);
            new.extend(series.into_iter().map(|(number, info)| (info.name(), *partition, number, info)));
        }
        new.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, partition, number, info) in new {
            match self.sources.entry(partition).or_default().numbers.entry(number) {
                Entry::Vacant(numbers) => _ = numbers.insert(self.fabric.add_series(info)),
                // A new owner of a partition may report them again; another name means another series.
                Entry::Occupied(known) => self.fabric.replace_series(*known.get(), info),
            }
        }
        let mut all = LinkTick::empty(tick);
        for (partition, updates) in found {
            let own = |series: SeriesIndex| self.sources.get(&partition)?.numbers.get(&series).copied();
            let reports = updates.reports.into_iter();
            all.reports.extend(reports.filter_map(|r| Some(LinkReport { series: own(r.series)?, ..r })));
            let events = updates.events.into_iter();
            all.events.extend(events.filter_map(|e| Some(LinkEvent { series: own(e.series)?, ..e })));
        }
        self.fabric.tick(&all);
    }
}
