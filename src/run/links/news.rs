//! What a detector partition tells of its links, and how far it is.

use super::jobs::JobNews;
use super::{LIVE_S, LinkMessage, PART_NEWS, STEP_S, TickNews, quiet_s};
use aggregator::JobBook;
use detector::fabric::LinkTick;
use schemas::{JobEvent, SeriesIndex, SeriesTable, Time};
use serde::{Deserialize, Serialize};

/// Seconds after its youngest row when a partition that is quiet says all that it still has.
const LAST_S: f64 = 16.0;

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
    /// Rows that came.
    rows: u64,
    /// Seconds by which the watermark went on, one after the other; the same when a row came last, and when the youngest row
    /// was live last.
    passed_s: f64,
    heard_s: f64,
    live_s: f64,
    /// The first watermark.
    since: Option<Time>,
    /// The latest second that is complete as far as its own rows tell, and the one up to which the stream was read too.
    complete: Option<i64>,
    told_tick: Option<i64>,
    /// What readers know of the watermark and of that second.
    #[serde(skip)]
    known: Option<(i64, Option<i64>)>,
    /// Whether links are watched since this process began: nobody told of them before.
    #[serde(skip)]
    is_new: bool,
}

/// How far the stream was read by a detector partition.
#[derive(Clone, Copy, Debug)]
pub struct ReadUpTo {
    /// Up to which time, of all components.
    pub watermark: Time,
    /// The youngest row of its own components; `None` before the first.
    pub newest: Option<Time>,
    /// Rows of its own components so far.
    pub rows: u64,
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
            rows: 0,
            passed_s: 0.0,
            heard_s: 0.0,
            live_s: 0.0,
            since: None,
            complete: None,
            told_tick: None,
            known: None,
            is_new: false,
        }
    }

    /// What was said of jobs; it is told with the second in which it was said.
    pub fn jobs(&mut self, events: &[JobEvent]) {
        self.jobs.hear(events, self.tick_s, self.told_tick);
    }

    /// Forgets jobs that were over before `time`.
    pub fn forget_jobs(&mut self, time: Time, open_max_s: f64) {
        self.jobs.forget_over(time, open_max_s);
    }

    /// Links are watched from here on, and nobody told of them before.
    pub fn begin(&mut self) {
        self.is_new = true;
    }

    /// What `book` holds of jobs holds from now on.
    pub fn begin_jobs(&mut self, book: &JobBook) {
        self.jobs.begin(book, self.newest);
    }

    /// What waits to be told was told by whoever was here before. If nobody was, links are named when they are told of next,
    /// and jobs are told.
    pub fn forget(&mut self) {
        self.ready.clear();
        if self.is_new {
            self.told.clear();
        } else {
            self.jobs.forget();
        }
    }

    /// Notes how far the stream was read. Up to which time links can be told.
    pub fn progress(&mut self, read: ReadUpTo) -> Option<Time> {
        if read.watermark == Time::MIN {
            return None;
        }
        let is_live = self.pass(read);
        let silent_s = self.passed_s - self.heard_s;
        let is_quiet = silent_s >= quiet_s(is_live, self.tick_s);
        self.tell_up_to(self.complete);
        if is_quiet || self.newest.is_none() {
            // Nobody waits for what it says of links: jobs go by the watermark alone.
            self.jobs.settle(self.read_up_to());
        }
        let newest = self.newest?;
        // Not beyond the rows that could come now, nor beyond the watermark, which a clock that is ahead is not bound to.
        let passed_s = if is_quiet { silent_s.min(LAST_S) } else { 0.0 };
        Some(newest.plus_seconds(passed_s).min(read.watermark))
    }

    /// Goes on to what was read; whether the youngest row is as old as the watermark.
    fn pass(&mut self, read: ReadUpTo) -> bool {
        let step_s = self.watermark.map_or(0.0, |before| read.watermark.seconds_since(before));
        self.passed_s += step_s.clamp(0.0, STEP_S);
        self.watermark = self.watermark.max(Some(read.watermark));
        self.since = self.since.or(self.watermark);
        self.newest = self.newest.max(read.newest);
        if std::mem::replace(&mut self.rows, read.rows) != read.rows {
            self.heard_s = self.passed_s;
        }
        let age_s = self.watermark.zip(self.newest).map(|(now, newest)| now.seconds_since(newest));
        let is_live = age_s.is_none_or(|age_s| age_s < LIVE_S);
        if is_live {
            self.live_s = self.passed_s;
        }
        is_live
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
            self.ready.extend(parts(TickNews { tick, part: 0, reports, events, series }));
        }
    }

    /// What waits to be told, as a message of `partition`; none where readers know how far it is and nothing changed.
    pub fn take(&mut self, partition: i32) -> Option<LinkMessage> {
        let tick_s = self.tick_s;
        let ticks = |time: Time| (time.seconds() / tick_s).floor() as i64;
        let watermark_tick = self.watermark.map(ticks)?;
        let (news, (told_before, jobs)) = (std::mem::take(&mut self.ready), self.jobs.take());
        let jobs_from = (self.since.map_or(0, |since| since.0), told_before);
        let told = self.told_tick;
        let known = self.known.replace((watermark_tick, told)) == Some((watermark_tick, told));
        let is_news = !(news.is_empty() && jobs.is_empty() && known);
        is_news.then_some(LinkMessage {
            partition,
            more: false,
            watermark_tick,
            newest: self.newest.map(ticks),
            silent_s: self.passed_s - self.heard_s,
            behind_s: self.passed_s - self.live_s,
            lateness_s: self.lateness_s,
            told,
            jobs,
            jobs_from,
            news,
        })
    }
}

/// What is told of a second, in parts that fit into messages; none where nothing is.
fn parts(mut news: TickNews) -> Vec<TickNews> {
    let mut parts = Vec::new();
    while !(news.reports.is_empty() && news.events.is_empty() && news.series.is_empty()) {
        let part = TickNews {
            tick: news.tick,
            part: parts.len() as u32,
            reports: news.reports.drain(..PART_NEWS.min(news.reports.len())).collect(),
            events: news.events.drain(..PART_NEWS.min(news.events.len())).collect(),
            series: news.series.drain(..PART_NEWS.min(news.series.len())).collect(),
        };
        parts.push(part);
    }
    parts
}
