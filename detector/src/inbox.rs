//! The rows of one partition of `tailback.counters`, put in the order of time across the raw partitions.
//!
//! LDMS spreads the rows of a component over all raw partitions, and these are not read equally fast: when
//! catching up they are minutes apart. So a row waits until every raw partition has been read as far as its
//! time, which the aggregators report ([`Inbox::progress`]). What comes out is a function of the messages and
//! their order alone, never of a clock, so that reading the same partition again gives the same.
//!
//! A topic that is deleted and created again begins with offset 0: rows of it arrive later than all that was seen of the one
//! before, so a row that arrives later at an offset that was seen is no repeated one.
//!
//! A row's time here is its timestamp, or when Kafka got it if that is earlier: a clock that is ahead must
//! not make its rows wait for the future, and a clock that is behind delays no other source.

mod forgetting;

use schemas::wire::{DroppedRow, Origin, Reached};
use schemas::{CounterBatch, DropCounts, JobEvent, SourceIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Seconds without a progress report, as [`Inbox::passed_s`] counts them, after which a raw partition delays no row.
const GIVEN_UP_S: f64 = 30.0;
/// Seconds that a step of the aggregators' clock counts at most. After an outage of all of them it leaps: the first to return
/// must not outrun the others.
const STEP_S: f64 = 1.0;
/// Rows whose memory is kept for the next ones; more come together only while catching up.
const SPARE_ROWS_MAX: usize = 20_000;

/// Rows that wait, per raw partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Inbox {
    raws: Vec<Raw>,
    /// Slots in `raws`, by topic and partition.
    places: BTreeMap<String, BTreeMap<i32, usize>>,
    rows: usize,
    rows_max: usize,
    /// The latest clock of any aggregator; none before the first report.
    now: Option<Time>,
    /// Seconds by which it advanced, with no step longer than [`STEP_S`].
    passed_s: f64,
    /// Topics that were deleted and created again, each with how often a partition of it was, since they were asked for.
    created_again: BTreeMap<String, u64>,
    /// Released although not every raw partition was read so far: the buffer was full.
    forced: u64,
    /// Memory of released rows, for the next ones.
    #[serde(skip)]
    spare: CounterBatch,
}

/// One raw partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Raw {
    /// Offsets up to here were seen, and what the message at this offset gave so far: it may hold several rows, and rows
    /// that show jobs.
    seen: i64,
    at_seen: Vec<Gave>,
    /// When the latest of their rows arrived.
    arrived: Time,
    seen_dropped: i64,
    reached: Time,
    /// [`Inbox::passed_s`] when the latest report included it.
    reported_s: f64,
    heads: VecDeque<Head>,
    counters: VecDeque<u64>,
}

/// What a raw message gave: a row of a source, or job updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Gave {
    Row(SourceIndex, Time),
    Jobs,
}

impl Raw {
    /// Whether this was not seen before.
    fn is_new(&mut self, offset: i64, gave: Gave) -> bool {
        if offset > self.seen {
            self.seen = offset;
            self.at_seen.clear();
        }
        let is_new = offset == self.seen && !self.at_seen.contains(&gave);
        if is_new {
            self.at_seen.push(gave);
        }
        is_new
    }

    /// Its reader begins again: what rows showed stays, and what a clock showed is withdrawn. A clock says how far live rows are,
    /// and recorded ones may follow.
    fn restart(&mut self) {
        let time_of = |gave: &Gave| match gave {
            Gave::Row(_, time) => (*time).min(self.arrived),
            Gave::Jobs => self.arrived,
        };
        let of_rows = self.at_seen.iter().map(time_of).max().unwrap_or(Time::MIN);
        self.reached = self.reached.min(of_rows);
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    order: Time,
    content: Content,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Content {
    Row { source: SourceIndex, time: Time, counters: u32 },
    Jobs(Vec<JobEvent>),
}

/// Receiver of what the inbox releases, in order.
pub trait Outlet {
    /// Rows of counters.
    fn rows(&mut self, rows: &CounterBatch);
    /// Job updates.
    fn jobs(&mut self, events: &[JobEvent]);
}

impl Inbox {
    /// An empty inbox that holds at most `rows_max` rows.
    pub fn new(rows_max: usize) -> Inbox {
        Inbox {
            raws: Vec::new(),
            places: BTreeMap::new(),
            rows: 0,
            rows_max,
            now: None,
            passed_s: 0.0,
            created_again: BTreeMap::new(),
            forced: 0,
            spare: CounterBatch::default(),
        }
    }

    /// Rows that wait.
    pub fn waiting(&self) -> usize {
        self.rows
    }

    /// Rows released early because the inbox was full.
    pub fn forced(&self) -> u64 {
        self.forced
    }

    /// Time up to which the whole stream was released.
    pub fn watermark(&self) -> Time {
        let of_raw = |raw: &Raw| match raw.heads.front() {
            Some(head) => head.order,
            None => raw.reached,
        };
        let recent = self.raws.iter().filter(|raw| !self.is_given_up(raw));
        recent.map(of_raw).min().unwrap_or(Time::MIN)
    }

    fn is_given_up(&self, raw: &Raw) -> bool {
        self.passed_s - raw.reported_s > GIVEN_UP_S
    }

    /// Takes a row, whose counters `fill` appends (their count is returned), unless it was seen before.
    ///
    /// # Errors
    /// The error of `fill`; the row is then left out.
    pub fn row<E>(
        &mut self,
        origin: &Origin<'_>,
        time: Time,
        source: SourceIndex,
        fill: impl FnOnce(&mut VecDeque<u64>) -> Result<usize, E>,
    ) -> Result<(), E> {
        let Some(raw) = self.unseen(origin, Gave::Row(source, time)) else { return Ok(()) };
        let before = raw.counters.len();
        match fill(&mut raw.counters) {
            Ok(counters) => {
                let content = Content::Row { source, time, counters: counters as u32 };
                raw.heads.push_back(Head { order: time.min(origin.arrived), content });
                self.rows += 1;
                Ok(())
            }
            Err(error) => {
                raw.counters.truncate(before);
                Err(error)
            }
        }
    }

    /// Takes the job updates of a row, unless it was seen before. An update from a clock that is ahead is dated when
    /// Kafka got it. Returns whether it was not seen before.
    pub fn jobs(&mut self, origin: &Origin<'_>, mut events: Vec<JobEvent>) -> bool {
        let Some(raw) = self.unseen(origin, Gave::Jobs) else { return false };
        events.iter_mut().for_each(|event| event.time = event.time.min(origin.arrived));
        let order = events.iter().map(|event| event.time).min().unwrap_or(origin.arrived);
        raw.heads.push_back(Head { order, content: Content::Jobs(events) });
        self.rows += 1;
        true
    }

    /// Counts rows that an aggregator did not use, each once.
    pub fn dropped(&mut self, topic: &str, partition: i32, rows: &[DroppedRow], drops: &mut DropCounts) {
        let raw = self.raw(topic, partition);
        for row in rows.iter().filter(|row| row.offset > raw.seen_dropped) {
            drops.count(row.reason);
        }
        let newest = rows.iter().map(|row| row.offset).max();
        raw.seen_dropped = raw.seen_dropped.max(newest.unwrap_or(raw.seen_dropped));
    }

    /// Notes how far raw partitions were read, and releases what is complete. [`Time::MIN`] stands for one of which this
    /// aggregator has read nothing: rows wait for it from the last row on that another one read of it.
    pub fn progress(&mut self, now: Time, reached: &[Reached], out: &mut impl Outlet) {
        self.passed_s += self.now.map_or(0.0, |before| now.seconds_since(before).clamp(0.0, STEP_S));
        self.now = self.now.max(Some(now));
        let passed_s = self.passed_s;
        for raw in reached {
            let found = self.raw(&raw.topic, raw.partition);
            found.reported_s = passed_s;
            match raw.time {
                Time::MIN => found.restart(),
                time => found.reached = time,
            }
        }
        self.release(out);
    }

    /// The raw partition of what a message gave, if that was not seen before, which it is now. A message that arrived later
    /// than those of greater offsets is of a topic that was deleted and created again.
    fn unseen(&mut self, origin: &Origin<'_>, gave: Gave) -> Option<&mut Raw> {
        let raw = self.raw(origin.topic, origin.partition);
        if origin.offset <= raw.seen && origin.arrived > raw.arrived {
            (raw.seen, raw.seen_dropped) = (-1, -1);
            *self.created_again.entry(origin.topic.to_string()).or_default() += 1;
        }
        let raw = self.raw(origin.topic, origin.partition);
        raw.arrived = raw.arrived.max(origin.arrived);
        raw.is_new(origin.offset, gave).then_some(raw)
    }

    /// Topics that were found to be deleted and created again since the last call.
    pub fn created_again(&mut self) -> impl Iterator<Item = String> + use<> {
        std::mem::take(&mut self.created_again).into_keys()
    }

    fn raw(&mut self, topic: &str, partition: i32) -> &mut Raw {
        let known = self.places.get(topic).and_then(|partitions| partitions.get(&partition)).copied();
        let at = known.unwrap_or_else(|| {
            self.places.entry(topic.to_string()).or_default().insert(partition, self.raws.len());
            self.raws.push(Raw {
                seen: -1,
                at_seen: Vec::new(),
                arrived: Time::MIN,
                seen_dropped: -1,
                reached: Time::MIN,
                reported_s: self.passed_s,
                heads: VecDeque::new(),
                counters: VecDeque::new(),
            });
            self.raws.len() - 1
        });
        &mut self.raws[at]
    }

    /// Job updates go before the rows of their second, since they set where baselines restart, and after those of the
    /// seconds before: results must not depend on how much is released at once.
    fn release(&mut self, out: &mut impl Outlet) {
        let mut ready = Ready { rows: std::mem::take(&mut self.spare), ..Ready::default() };
        while let Some((at, until)) = self.next() {
            self.release_from(at, until, &mut ready, out);
        }
        ready.pass(out);
        if ready.rows_most <= SPARE_ROWS_MAX {
            self.spare = ready.rows;
        }
    }

    /// The raw partition whose row is next, and until which time its rows may go at once.
    fn next(&mut self) -> Option<(usize, Time)> {
        let heads = self.raws.iter().enumerate().filter_map(|(at, raw)| Some((raw.heads.front()?.order, at)));
        let (order, at) = heads.min()?;
        let others = self.raws.iter().enumerate().filter(|(other, _)| *other != at);
        let of_other = |raw: &Raw| match raw.heads.front() {
            Some(head) => head.order,
            None if self.is_given_up(raw) => Time(i64::MAX),
            None => raw.reached,
        };
        let bound = others.map(|(_, raw)| of_other(raw)).min().unwrap_or(Time(i64::MAX));
        if order <= bound {
            return Some((at, bound));
        }
        if self.rows <= self.rows_max {
            return None;
        }
        self.forced += 1;
        Some((at, order))
    }

    fn release_from(&mut self, at: usize, until: Time, ready: &mut Ready, out: &mut impl Outlet) {
        let raw = &mut self.raws[at];
        while raw.heads.front().is_some_and(|head| head.order <= until) {
            let Some(head) = raw.heads.pop_front() else { return };
            self.rows -= 1;
            let ready = ready.at(head.order, out);
            match head.content {
                Content::Row { source, time, counters } => {
                    let counters = counters as usize;
                    let (front, back) = raw.counters.as_slices();
                    let (before, after) = ready.rows.open(counters).split_at_mut(front.len().min(counters));
                    before.copy_from_slice(&front[..before.len()]);
                    after.copy_from_slice(&back[..after.len()]);
                    raw.counters.drain(..counters);
                    ready.rows.seal(source, time);
                }
                Content::Jobs(events) => ready.jobs.extend(events),
            }
        }
    }
}

/// What is released together: rows and job updates of one second.
#[derive(Default)]
struct Ready {
    rows: CounterBatch,
    jobs: Vec<JobEvent>,
    second: Option<i64>,
    /// The most rows of one second.
    rows_most: usize,
}

impl Ready {
    /// Where an update of time `order` goes; updates of earlier seconds go first.
    fn at(&mut self, order: Time, out: &mut impl Outlet) -> &mut Ready {
        let second = Some(second_of(order));
        if second > self.second {
            self.pass(out);
            self.second = second;
        }
        self
    }

    fn pass(&mut self, out: &mut impl Outlet) {
        if !self.jobs.is_empty() {
            out.jobs(&self.jobs);
        }
        if !self.rows.is_empty() {
            out.rows(&self.rows);
        }
        self.rows_most = self.rows_most.max(self.rows.len());
        self.jobs.clear();
        self.rows.clear();
    }
}

fn second_of(time: Time) -> i64 {
    time.0.div_euclid(1_000_000)
}

#[cfg(test)]
mod tests;
