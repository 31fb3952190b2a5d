//! News of links of all detector partitions, put together second by second.

use super::{LIVE_S, LinkMessage, QUIET_S, RECORDED_QUIET_S, TickNews, quiet_s};
use detector::fabric::lifecycle::LinkEvent;
use detector::fabric::{Fabric, FabricSettings, LinkReport, LinkTick, Network};
use schemas::{Job, SeriesIndex, SeriesInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Seconds by which rows come late at most, and the tick of a row.
const LATENESS_TICKS: i64 = 4;
/// Seconds after the last word of a link up to which its region is looked at: longer than one waits for its links.
const END_TICKS: i64 = 20;
/// Seconds of news that may wait for the slowest detector partition.
pub(super) const WAITING_MAX: usize = 100_000;

/// News of all detector partitions, and the fabric that looks at them.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinkMerge {
    fabric: Fabric,
    /// The configured ones, which may be more than when the state was written.
    #[serde(skip)]
    partitions: i32,
    sources: BTreeMap<i32, Told>,
    /// Jobs as they are from a second on that was not looked at yet.
    pub(super) jobs: BTreeMap<i64, Vec<Job>>,
    /// How many were told, since when.
    jobs_told: (i64, u64),
    /// The latest watermark with which a row was heard of.
    heard_tick: i64,
    forced: u64,
}

/// What one partition told.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Told {
    /// The latest part of a second that it told.
    passed: Option<(i64, u32)>,
    watermark_tick: i64,
    /// The watermark after its latest leap.
    leapt_tick: Option<i64>,
    newest: Option<i64>,
    /// The watermark when a row of it came last.
    heard_tick: Option<i64>,
    said: Option<i64>,
    waiting: BTreeMap<i64, TickNews>,
    /// The fabric's number of each series.
    numbers: BTreeMap<SeriesIndex, SeriesIndex>,
}

impl Told {
    /// Keeps news; such of a second that is over counts for the next one.
    fn put(&mut self, news: TickNews, now: i64) {
        let tick = if now == i64::MIN { news.tick } else { news.tick.max(now + 1) };
        let kept = self.waiting.entry(tick).or_insert_with(|| TickNews { tick, ..TickNews::default() });
        kept.reports.extend(news.reports);
        kept.events.extend(news.events);
        kept.series.extend(news.series);
    }

    /// Whether its rows are as old as the watermark.
    fn is_live(&self) -> bool {
        self.newest.is_some_and(|newest| self.watermark_tick - newest < LIVE_S)
    }

    /// Whether nothing more of `tick` can come from it, nobody having heard of a row since `heard_tick`, nor of one that is
    /// younger than `youngest`.
    fn has_told(&self, tick: i64, live: bool, (heard_tick, youngest): (i64, i64)) -> bool {
        let by_rows = self.said >= Some(tick);
        let silent_since = self.heard_tick.map_or(tick, |heard| heard.max(tick));
        let by_clock = live && self.is_past(silent_since + LATENESS_TICKS, QUIET_S, youngest);
        by_rows || by_clock || self.is_past(heard_tick, quiet_s(live), youngest)
    }

    /// Whether it went on for `seconds` after `then`, and long enough after a leap. One that never had a row need not be
    /// waited for after a leap that the rows of others followed.
    fn is_past(&self, then: i64, seconds: i64, youngest: i64) -> bool {
        let followed = |leapt: &i64| self.newest.is_none() && youngest >= leapt - LATENESS_TICKS;
        let leapt = self.leapt_tick.filter(|leapt| !followed(leapt));
        let settled = leapt.is_none_or(|leapt| self.watermark_tick >= leapt + RECORDED_QUIET_S);
        settled && self.watermark_tick >= then.saturating_add(seconds)
    }

    fn go_on(&mut self, message: &LinkMessage) {
        self.watermark_tick = self.watermark_tick.max(message.watermark_tick);
        self.leapt_tick = self.leapt_tick.max(message.leapt_tick);
        self.newest = self.newest.max(message.newest);
        self.heard_tick = self.heard_tick.max(message.heard_tick);
        self.said = self.said.max(message.told);
    }
}

impl LinkMerge {
    /// Of `partitions` detector partitions that told nothing yet.
    pub fn new(partitions: i32, settings: FabricSettings, network: Option<Arc<Network>>) -> LinkMerge {
        LinkMerge {
            fabric: Fabric::new(settings, network),
            partitions,
            sources: BTreeMap::new(),
            jobs: BTreeMap::new(),
            jobs_told: (0, 0),
            heard_tick: i64::MIN,
            forced: 0,
        }
    }

    /// Gives a merge that was read back what is configured now.
    pub fn attach(&mut self, partitions: i32, settings: FabricSettings, network: Option<Arc<Network>>) {
        self.partitions = partitions;
        self.fabric.attach(settings, network);
    }

    /// Seconds that were looked at before every partition had told of them: too many waited.
    pub fn forced(&self) -> u64 {
        self.forced
    }

    /// The fabric.
    pub fn fabric(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// Takes a message; seconds that were told before are passed over.
    pub fn message(&mut self, message: LinkMessage) {
        let now = self.fabric.now();
        let told = self.sources.entry(message.partition).or_default();
        told.go_on(&message);
        self.heard_tick = self.heard_tick.max(message.heard_tick.unwrap_or(i64::MIN));
        for news in message.news {
            let place = Some((news.tick, news.part));
            if place > told.passed {
                told.passed = place;
                told.put(news, now);
            }
        }
        self.hear_of_jobs(message.jobs, message.jobs_from);
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

    /// Takes jobs that were told in a message; such as were told before are passed over.
    pub(super) fn hear_of_jobs(&mut self, jobs: Vec<(i64, Job)>, (since, before): (i64, u64)) {
        if jobs.is_empty() {
            return;
        }
        let known = if self.jobs_told.0 == since { self.jobs_told.1 } else { 0 };
        self.jobs_told = (since, known.max(before + jobs.len() as u64));
        for (tick, job) in jobs.into_iter().skip(known.saturating_sub(before) as usize) {
            self.jobs.entry(tick).or_default().push(job);
        }
    }

    /// The first second of which jobs were told, where no partition can tell of a link in the seconds before any more.
    fn due_for_jobs(&self) -> Option<i64> {
        let first = *self.jobs.first_key_value()?.0;
        let waits =
            self.sources.values().any(|told| told.waiting.keys().next().is_some_and(|tick| *tick < first));
        let live = self.sources.values().filter(|told| told.newest.is_some()).all(Told::is_live);
        let heard = (self.heard_tick.max(first), self.youngest());
        let is_over = |told: &Told| told.has_told(first, live, heard);
        let all = self.sources.len() as i32 >= self.partitions;
        (all && !waits && self.sources.values().all(is_over)).then_some(first)
    }

    /// From here on jobs are as they were told of up to the second `tick`.
    fn use_jobs(&mut self, tick: i64) {
        let later = self.jobs.split_off(&(tick + 1));
        let now = std::mem::replace(&mut self.jobs, later);
        now.into_values().flatten().for_each(|job| self.fabric.job(job));
    }

    /// The first second that every partition has told, or one that waited too long.
    fn due(&mut self) -> Option<i64> {
        let first = self.sources.values().filter_map(|told| told.waiting.keys().next()).min().copied()?;
        let all = self.sources.len() as i32 >= self.partitions;
        let live = self.sources.values().filter(|told| !told.waiting.is_empty()).all(Told::is_live);
        let heard = (self.heard_tick, self.youngest());
        if all && self.sources.values().all(|told| told.has_told(first, live, heard)) {
            return Some(first);
        }
        let waiting: usize = self.sources.values().map(|told| told.waiting.len()).sum();
        let full = waiting > WAITING_MAX;
        self.forced += u64::from(full);
        full.then_some(first)
    }

    /// The youngest row of all; no clock that is ahead makes one younger than the watermark with which it came.
    fn youngest(&self) -> i64 {
        let of = |told: &Told| Some(told.newest?.min(told.heard_tick?));
        self.sources.values().filter_map(of).max().unwrap_or(i64::MIN)
    }

    /// When nobody has anything to tell for a while, what is open ends, in the second in which it would have if links had
    /// been told of that do nothing.
    fn pass_the_end(&mut self) {
        let all = self.sources.len() as i32 >= self.partitions;
        let live = self.sources.values().filter(|told| told.newest.is_some()).all(Told::is_live);
        let youngest = self.youngest();
        let quiet =
            |told: &Told| told.waiting.is_empty() && told.is_past(self.heard_tick, quiet_s(live), youngest);
        if !(self.fabric.is_open() && all && self.sources.values().all(quiet)) {
            return;
        }
        // Rows that come now are as far behind the watermark as the latest ones were.
        let passed = |told: &Told| told.watermark_tick.saturating_sub(self.heard_tick) - LATENESS_TICKS;
        let could_come = youngest.saturating_add(self.sources.values().map(passed).min().unwrap_or(0));
        let of_jobs = self.jobs.keys().next().map_or(i64::MAX, |tick| tick - 1);
        let end = self.fabric.heard().saturating_add(END_TICKS).min(could_come - 1).min(of_jobs);
        while self.fabric.is_open() && self.fabric.now() < end {
            self.fabric.tick(&LinkTick::empty(self.fabric.now() + 1));
        }
    }

    /// Looks at one second: jobs, series in the order of their names, then what changed.
    fn second(&mut self, tick: i64) {
        self.use_jobs(tick);
        let mut found: Vec<(i32, TickNews)> = Vec::new();
        for (partition, told) in &mut self.sources {
            found.extend(told.waiting.remove(&tick).map(|news| (*partition, news)));
        }
        let mut new: Vec<(String, i32, SeriesIndex, SeriesInfo)> = Vec::new();
        for (partition, news) in &mut found {
            let series = std::mem::take(&mut news.series);
            new.extend(series.into_iter().map(|(number, info)| (info.name(), *partition, number, info)));
        }
        new.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, partition, number, info) in new {
            let own = self.fabric.add_series(info);
            self.sources.entry(partition).or_default().numbers.insert(number, own);
        }
        let mut all = LinkTick::empty(tick);
        for (partition, news) in found {
            let own = |series: SeriesIndex| self.sources.get(&partition)?.numbers.get(&series).copied();
            let reports = news.reports.into_iter();
            all.reports.extend(reports.filter_map(|r| Some(LinkReport { series: own(r.series)?, ..r })));
            let events = news.events.into_iter();
            all.events.extend(events.filter_map(|e| Some(LinkEvent { series: own(e.series)?, ..e })));
        }
        self.fabric.tick(&all);
    }
}
