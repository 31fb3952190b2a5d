//! News of links: from every detector partition, second by second, to the one roll-up partition that sees all links.
//!
//! A second is looked at when every detector partition has told it, or has surely nothing to tell. So what the fabric says
//! does not depend on which partition is faster, nor on how often a message was sent.
//!
//! How far a partition is, it says itself: by its own rows, and by what waits of them. One without rows
//! is behind nobody where the watermark of the stream (by clocks) goes with the rows' times; where rows are much older than
//! that, as in recorded ones, it is waited for until nobody has heard of a row for half a minute. When the last of recorded
//! rows was read the watermark leaps to the clock, and seconds that it leapt over were not waited for.

mod jobs;

use aggregator::JobBook;
use detector::fabric::lifecycle::LinkEvent;
use detector::fabric::{Fabric, FabricSettings, LinkReport, LinkTick, Network};
use jobs::JobNews;
use schemas::{Job, JobEvent, SeriesIndex, SeriesInfo, SeriesTable, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Key of the messages: all go to one partition of `tailback.signals`.
pub const KEY: &str = "links";
/// First byte of a message, which tells it from those of jobs.
pub const VERSION: u8 = 8;
/// Level of zstd: columns of small numbers.
const COMPRESSION: i32 = 1;
/// Far beyond a message of all links of the largest machine.
const CONTENT_BYTES_MAX: usize = 64 << 20;
/// Seconds by which rows come late at most, and the tick of a row.
const LATENESS_TICKS: i64 = 4;
/// Seconds after its youngest row when a partition that is quiet says all that it still has.
const LAST_S: f64 = 16.0;
/// Seconds of watermark that rows may be away.
const QUIET_S: i64 = 5;
/// The same for rows that are no live ones: the watermark says nothing of their times, and whoever reads or sends them may
/// be starting again.
const RECORDED_QUIET_S: i64 = 30;
/// Rows that are older than the watermark by this many seconds are no live ones. A watermark that goes on by as much at
/// once leaps: from the times of recorded rows to the clock, when all of them were read.
const LIVE_S: i64 = 60;
/// Seconds of news that may wait for the slowest detector partition.
const WAITING_MAX: usize = 100_000;

/// Seconds of watermark without any row after which nothing more is waited for.
fn quiet_s(live: bool) -> i64 {
    if live { QUIET_S } else { RECORDED_QUIET_S }
}

/// What one detector partition tells of one second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TickNews {
    /// Number of the second since the epoch.
    pub tick: i64,
    /// Links that changed, by the detector's numbers.
    pub reports: Vec<LinkReport>,
    /// Links that failed or recovered, by the same numbers.
    pub events: Vec<LinkEvent>,
    /// Series that were not told of before, in the order of their numbers.
    pub series: Vec<(SeriesIndex, SeriesInfo)>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkMessage {
    /// Partition of `tailback.counters` that it was learnt from.
    pub partition: i32,
    /// The tick up to which the stream was read.
    pub watermark_tick: i64,
    /// The youngest row's tick; `None` before the first.
    pub newest: Option<i64>,
    /// The watermark when that row came, or after the latest leap since then.
    pub heard_tick: Option<i64>,
    /// All that it has to say up to this second was said.
    pub told: Option<i64>,
    /// Jobs that are new or changed, each with the second from which on it is as it says. The first partition alone tells of
    /// jobs.
    pub jobs: Vec<(i64, Job)>,
    /// Where this telling of jobs began, and how many were told in it before this message.
    pub jobs_from: (i64, u64),
    /// Seconds in their order.
    pub news: Vec<TickNews>,
}

impl LinkMessage {
    /// Its bytes.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn payload(&self) -> anyhow::Result<Vec<u8>> {
        let mut payload = vec![VERSION];
        payload.extend(zstd::bulk::compress(&postcard::to_stdvec(self)?, COMPRESSION)?);
        Ok(payload)
    }

    /// Reads a message back; `None` if it is none.
    pub fn read(payload: &[u8]) -> Option<LinkMessage> {
        let (version, compressed) = payload.split_first()?;
        let content = zstd::bulk::decompress(compressed, CONTENT_BYTES_MAX).ok()?;
        postcard::from_bytes(&content).ok().filter(|_| *version == VERSION)
    }
}

/// What a detector partition has to tell.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinkNews {
    tick_s: f64,
    lateness_s: f64,
    told: Vec<bool>,
    jobs: JobNews,
    ready: Vec<TickNews>,
    watermark: Option<Time>,
    newest: Option<Time>,
    /// Watermark when the youngest row came, or after the latest leap since then.
    heard_at: Option<Time>,
    /// The first watermark.
    since: Option<Time>,
    /// The latest second that is complete as far as its own rows tell, and the one up to which the stream was read too.
    complete: Option<i64>,
    told_tick: Option<i64>,
    /// What readers know of the watermark and of that second.
    #[serde(skip)]
    known: Option<(i64, Option<i64>)>,
}

impl LinkNews {
    /// Nothing to tell yet; ticks are `tick_s` long, and rows come up to `lateness_s` late.
    pub fn new(tick_s: f64, lateness_s: f64) -> LinkNews {
        LinkNews {
            tick_s,
            lateness_s,
            told: Vec::new(),
            jobs: JobNews::default(),
            ready: Vec::new(),
            watermark: None,
            newest: None,
            heard_at: None,
            since: None,
            complete: None,
            told_tick: None,
            known: None,
        }
    }

    /// What was said of jobs; it is told with the second in which it was said.
    pub fn jobs(&mut self, events: &[JobEvent]) {
        self.jobs.hear(events, self.tick_s, self.told_tick);
    }

    /// Links are watched from here on: what `book` holds of jobs holds from now on.
    pub fn begin(&mut self, book: &JobBook) {
        self.jobs.begin(book, self.newest);
    }

    /// What waits to be told was told by whoever was here before.
    pub fn forget(&mut self) {
        self.ready.clear();
        self.jobs.forget();
    }

    /// The stream was read up to `watermark`, and its youngest row is of `newest`. Up to which time links can be told.
    pub fn progress(&mut self, watermark: Time, newest: Option<Time>) -> Option<Time> {
        if watermark == Time::MIN {
            return None;
        }
        let leaps = self.watermark.is_some_and(|before| watermark.seconds_since(before) > LIVE_S as f64);
        self.watermark = self.watermark.max(Some(watermark));
        self.since = self.since.or(self.watermark);
        if newest > self.newest || leaps {
            (self.newest, self.heard_at) = (newest, self.watermark);
        }
        let since =
            |then: Option<Time>| self.watermark.zip(then).map_or(0.0, |(now, then)| now.seconds_since(then));
        let live = since(self.newest) < LIVE_S as f64;
        let is_quiet = since(self.heard_at) >= quiet_s(live) as f64;
        self.tell_up_to(self.complete);
        if is_quiet || self.newest.is_none() {
            // Nobody waits for what it says of links: jobs go by the watermark alone.
            self.jobs.settle(self.read_up_to());
        }
        let newest = self.newest?;
        // Not beyond the watermark: what comes after all is of a later second then.
        Some(if is_quiet { newest.plus_seconds(LAST_S).min(watermark).max(newest) } else { newest })
    }

    /// The latest second of which nothing more can come, as far as the watermark tells.
    fn read_up_to(&self) -> Option<i64> {
        // A tick lasts until half a tick after its number.
        let of = |time: Time| ((time.seconds() - self.lateness_s) / self.tick_s - 0.5).floor() as i64;
        self.watermark.map(of)
    }

    /// Seconds up to `complete` are complete; they are told as soon as no news of jobs can come for them either.
    fn tell_up_to(&mut self, complete: Option<i64>) {
        self.complete = self.complete.max(complete);
        self.told_tick = self.told_tick.max(self.complete.min(self.read_up_to()));
        self.jobs.settle(self.told_tick);
    }

    /// Seconds to which nothing can be added any more, the last of them being the latest of which all is said.
    pub fn ticks(&mut self, ticks: Vec<LinkTick>, table: &SeriesTable) {
        self.tell_up_to(ticks.last().map(|last| last.tick));
        for LinkTick { tick, reports, events } in ticks {
            self.told.resize(table.len(), false);
            let told =
                reports.iter().map(|report| report.series).chain(events.iter().map(|event| event.series));
            let is_new = |series: &SeriesIndex| !std::mem::replace(&mut self.told[series.at()], true);
            let numbers = told.filter(is_new);
            let series = numbers.map(|number| (number, table[number.at()].clone())).collect();
            if !(reports.is_empty() && events.is_empty()) {
                self.ready.push(TickNews { tick, reports, events, series });
            }
        }
    }

    /// What waits to be told, as a message of `partition`; none where readers know how far it is and nothing changed.
    pub fn take(&mut self, partition: i32) -> Option<LinkMessage> {
        let tick_s = self.tick_s;
        let ticks = |time: Time| (time.seconds() / tick_s).floor() as i64;
        let watermark_tick = self.watermark.map(ticks)?;
        let (news, (told_before, jobs)) = (std::mem::take(&mut self.ready), self.jobs.take());
        let jobs_from = (self.since.map_or(0, |since| since.0), told_before);
        let (newest, heard_tick, told) = (self.newest.map(ticks), self.heard_at.map(ticks), self.told_tick);
        let known = self.known.replace((watermark_tick, told)) == Some((watermark_tick, told));
        let is_news = !(news.is_empty() && jobs.is_empty() && known);
        is_news.then_some(LinkMessage {
            partition,
            watermark_tick,
            newest,
            heard_tick,
            told,
            jobs,
            jobs_from,
            news,
        })
    }
}

/// News of all detector partitions, and the fabric that looks at them.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinkMerge {
    fabric: Fabric,
    /// The configured ones, which may be more than when the state was written.
    #[serde(skip)]
    partitions: i32,
    sources: BTreeMap<i32, Told>,
    /// Jobs as they are from a second on that was not looked at yet.
    jobs: BTreeMap<i64, Vec<Job>>,
    /// How many were told, since when.
    jobs_told: (i64, u64),
    /// The latest watermark with which a row was heard of.
    heard_tick: i64,
    forced: u64,
}

/// What one partition told.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Told {
    passed: Option<i64>,
    watermark_tick: i64,
    /// The watermark after its latest leap.
    leapt_tick: i64,
    newest: Option<i64>,
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

    /// Whether nothing more of `tick` can come from it.
    fn has_told(&self, tick: i64, live: bool, heard_tick: i64) -> bool {
        let by_rows = self.said >= Some(tick);
        let silent_since = self.newest.map_or(tick, |newest| newest.max(tick));
        let by_clock = live && self.is_past(silent_since + LATENESS_TICKS, QUIET_S);
        by_rows || by_clock || self.is_past(heard_tick, quiet_s(live))
    }

    /// Whether it went on for `seconds` after `then`, one after the other.
    fn is_past(&self, then: i64, seconds: i64) -> bool {
        self.watermark_tick >= then.max(self.leapt_tick).saturating_add(seconds)
    }

    fn go_on(&mut self, message: &LinkMessage) {
        if message.watermark_tick - self.watermark_tick > LIVE_S {
            self.leapt_tick = message.watermark_tick;
        }
        self.watermark_tick = self.watermark_tick.max(message.watermark_tick);
        self.newest = self.newest.max(message.newest);
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
            if Some(news.tick) > told.passed {
                told.passed = Some(news.tick);
                told.put(news, now);
            }
        }
        self.hear_of_jobs(message.jobs, message.jobs_from);
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
    fn hear_of_jobs(&mut self, jobs: Vec<(i64, Job)>, (since, before): (i64, u64)) {
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
        let is_over = |told: &Told| told.has_told(first, live, self.heard_tick.max(first));
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
        if all && self.sources.values().all(|told| told.has_told(first, live, self.heard_tick)) {
            return Some(first);
        }
        let waiting: usize = self.sources.values().map(|told| told.waiting.len()).sum();
        let full = waiting > WAITING_MAX;
        self.forced += u64::from(full);
        full.then_some(first)
    }

    /// When nobody has anything to tell for a while, what is open ends.
    fn pass_the_end(&mut self) {
        /// Longer than a region waits for its links.
        const END_TICKS: i64 = 20;
        let all = self.sources.len() as i32 >= self.partitions;
        let live = self.sources.values().filter(|told| told.newest.is_some()).all(Told::is_live);
        let quiet = |told: &Told| told.waiting.is_empty() && told.is_past(self.heard_tick, quiet_s(live));
        let end = self.fabric.heard().saturating_add(END_TICKS);
        let all = all && self.jobs.keys().next().is_none_or(|tick| *tick > end);
        if all && self.sources.values().all(quiet) && self.fabric.is_open() && self.fabric.now() < end {
            self.fabric.tick(&LinkTick::empty(end));
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

#[cfg(test)]
mod tests;
