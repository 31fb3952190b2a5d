//! What a detector partition reports of its links, and how far it is.

use super::jobs::JobUpdates;
use super::{LIVE_S, LinkMessage, PART_UPDATES, STEP_S, TickUpdate, quiet_s};
use aggregator::JobBook;
use detector::fabric::LinkTick;
use schemas::{Job, JobEvent, SeriesIndex, SeriesTable, Time};
use serde::{Deserialize, Serialize};

/// Seconds after its youngest row when a quiet partition sends all that it still has.
const QUIET_MAX_S: f64 = 16.0;

/// Link updates of a detector partition.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinkUpdates {
    tick_s: f64,
    lateness_s: f64,
    named: Vec<bool>,
    jobs: JobUpdates,
    ready: Vec<TickUpdate>,
    watermark: Option<Time>,
    newest: Option<Time>,
    /// Rows that came.
    rows: u64,
    /// Seconds by which the watermark advanced in total; the same at the latest row, and at the latest live row.
    passed_s: f64,
    row_s: f64,
    live_s: f64,
    /// The first watermark.
    since: Option<Time>,
    /// The latest second that is complete by its own rows, and the one up to which the stream was read too.
    complete: Option<i64>,
    final_tick: Option<i64>,
    /// What readers know of the watermark and of that second.
    #[serde(skip)]
    known: Option<(i64, Option<i64>)>,
    /// Whether links are observed since this process began: no earlier process reported them.
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

impl LinkUpdates {
    /// Nothing to report yet; ticks are `tick_s` long, and rows arrive up to `lateness_s` late.
    pub fn new(tick_s: f64, lateness_s: f64) -> LinkUpdates {
        LinkUpdates {
            tick_s,
            lateness_s,
            named: Vec::new(),
            jobs: JobUpdates::default(),
            ready: Vec::new(),
            watermark: None,
            newest: None,
            rows: 0,
            passed_s: 0.0,
            row_s: 0.0,
            live_s: 0.0,
            since: None,
            complete: None,
            final_tick: None,
            known: None,
            is_new: false,
        }
    }

    /// Takes job events; they are reported with their second.
    pub fn jobs(&mut self, events: &[JobEvent]) {
        self.jobs.add(events, self.tick_s, self.final_tick);
    }

    /// Takes a job of a job file, which is valid from the beginning.
    pub fn declare(&mut self, job: Job) {
        self.jobs.declare(job);
    }

    /// The stream ended: nothing can be added to the seconds that were taken, and jobs of later ones are reported too.
    pub fn finish(&mut self) {
        self.final_tick = self.final_tick.max(self.complete);
        self.jobs.settle(Some(i64::MAX));
    }

    /// Forgets jobs that were over before `time`.
    pub fn forget_jobs(&mut self, time: Time, open_max_s: f64) {
        self.jobs.forget_over(time, open_max_s);
    }

    /// Series with these numbers are others from here on: they are named again.
    pub fn forget_series(&mut self, gone: &[SeriesIndex]) {
        for series in gone {
            if let Some(named) = self.named.get_mut(series.at()) {
                *named = false;
            }
        }
    }

    /// Links are observed from here on, and no earlier process reported them.
    pub fn begin(&mut self) {
        self.is_new = true;
    }

    /// What `book` holds of jobs holds from now on.
    pub fn begin_jobs(&mut self, book: &JobBook) {
        self.jobs.begin(book, self.newest);
    }

    /// Drops waiting updates, which a previous owner sent. Without one, the next update names the links again, and jobs are
    /// kept.
    pub fn forget(&mut self) {
        self.ready.clear();
        if self.is_new {
            self.named.clear();
        } else {
            self.jobs.forget();
        }
    }

    /// Notes how far the stream was read. Returns up to which time links can be reported.
    pub fn progress(&mut self, read: ReadUpTo) -> Option<Time> {
        if read.watermark == Time::MIN {
            return None;
        }
        let is_live = self.pass(read);
        let silent_s = self.passed_s - self.row_s;
        let is_quiet = silent_s >= quiet_s(is_live, self.tick_s);
        self.advance_to(self.complete);
        if is_quiet || self.newest.is_none() {
            // No partition waits for its links: jobs follow the watermark alone.
            self.jobs.settle(self.read_up_to());
        }
        let newest = self.newest?;
        // Not beyond the rows that could come now, nor beyond the watermark, which a clock that is ahead is not bound to.
        let passed_s = if is_quiet { silent_s.min(QUIET_MAX_S) } else { 0.0 };
        Some(newest.plus_seconds(passed_s).min(read.watermark))
    }

    /// Advances to what was read; returns whether the youngest row is as old as the watermark.
    fn pass(&mut self, read: ReadUpTo) -> bool {
        let step_s = self.watermark.map_or(0.0, |before| read.watermark.seconds_since(before));
        self.passed_s += step_s.clamp(0.0, STEP_S);
        self.watermark = self.watermark.max(Some(read.watermark));
        self.since = self.since.or(self.watermark);
        self.newest = self.newest.max(read.newest);
        if std::mem::replace(&mut self.rows, read.rows) != read.rows {
            self.row_s = self.passed_s;
        }
        let age_s = self.watermark.zip(self.newest).map(|(now, newest)| now.seconds_since(newest));
        let is_live = age_s.is_none_or(|age_s| age_s < LIVE_S);
        if is_live {
            self.live_s = self.passed_s;
        }
        is_live
    }

    /// The latest second of which nothing more can arrive, by the watermark.
    fn read_up_to(&self) -> Option<i64> {
        // A tick lasts until half a tick after its number.
        let of = |time: Time| ((time.seconds() - self.lateness_s) / self.tick_s - 0.5).floor() as i64;
        self.watermark.map(of)
    }

    /// Seconds up to `complete` are complete; they are reported once no job event can arrive for them either.
    fn advance_to(&mut self, complete: Option<i64>) {
        self.complete = self.complete.max(complete);
        self.final_tick = self.final_tick.max(self.complete.min(self.read_up_to()));
        self.jobs.settle(self.final_tick);
    }

    /// Seconds to which nothing can be added any more, the last of them being the latest final one.
    pub fn ticks(&mut self, ticks: Vec<LinkTick>, table: &SeriesTable) {
        self.advance_to(ticks.last().map(|last| last.tick));
        for LinkTick { tick, reports, events } in ticks {
            self.named.resize(table.len(), false);
            let changed =
                reports.iter().map(|report| report.series).chain(events.iter().map(|event| event.series));
            let is_new = |series: &SeriesIndex| !std::mem::replace(&mut self.named[series.at()], true);
            let numbers = changed.filter(is_new);
            let series = numbers.map(|number| (number, table[number.at()].clone())).collect();
            self.ready.extend(parts(TickUpdate { tick, part: 0, reports, events, series }));
        }
    }

    /// Waiting updates, as a message of `partition`; `None` if nothing changed and readers know how far it is.
    pub fn take(&mut self, partition: i32) -> Option<LinkMessage> {
        let tick_s = self.tick_s;
        let ticks = |time: Time| (time.seconds() / tick_s).floor() as i64;
        let watermark_tick = self.watermark.map(ticks)?;
        let (updates, (taken_before, jobs)) = (std::mem::take(&mut self.ready), self.jobs.take());
        let jobs_from = (self.since.map_or(0, |since| since.0), taken_before);
        let final_tick = self.final_tick;
        let known = self.known.replace((watermark_tick, final_tick)) == Some((watermark_tick, final_tick));
        let is_update = !(updates.is_empty() && jobs.is_empty() && known);
        is_update.then_some(LinkMessage {
            partition,
            more: false,
            watermark_tick,
            newest: self.newest.map(ticks),
            silent_s: self.passed_s - self.row_s,
            behind_s: self.passed_s - self.live_s,
            lateness_s: self.lateness_s,
            final_tick,
            jobs,
            jobs_from,
            updates,
        })
    }
}

/// A second in parts that fit into messages; none if it is empty.
fn parts(mut updates: TickUpdate) -> Vec<TickUpdate> {
    let mut parts = Vec::new();
    while !(updates.reports.is_empty() && updates.events.is_empty() && updates.series.is_empty()) {
        let part = TickUpdate {
            tick: updates.tick,
            part: parts.len() as u32,
            reports: updates.reports.drain(..PART_UPDATES.min(updates.reports.len())).collect(),
            events: updates.events.drain(..PART_UPDATES.min(updates.events.len())).collect(),
            series: updates.series.drain(..PART_UPDATES.min(updates.series.len())).collect(),
        };
        parts.push(part);
    }
    parts
}
