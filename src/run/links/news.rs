//! What a detector partition tells of its links, and how far it is.

use super::jobs::JobNews;
use super::{LIVE_S, LinkMessage, TickNews, quiet_s};
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
