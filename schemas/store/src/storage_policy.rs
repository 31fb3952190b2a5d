//! Which signals the server keeps, and the tiers: ten seconds here, minutes and hours in [`crate::tiers`].
//!
//! Decided per series by event time alone: however the signals are cut into batches, the same rows come out,
//! as long as each series' signals come in the order of their times.

use crate::tiers::Coarse;
use schemas::wire::partition_of;
use schemas::{Counts, SeriesIndex, SeriesInfo, Signal, State, Time, growth};
use serde::{Deserialize, Serialize};

/// Microseconds of event time in one bucket; buckets are aligned to the epoch.
pub const BUCKET_US: i64 = 10_000_000;

const SECOND_US: i64 = 1_000_000;

/// Seconds at which the ten seconds of a series may begin.
const PHASES: i32 = (BUCKET_US / SECOND_US) as i32;
/// Of how many signals one is sampled.
const SAMPLED: u64 = 16;

/// No bucket has this number: nothing came since the last one ended.
const NO_BUCKET: i64 = i64::MIN;

/// Microseconds after contention in which a series is still kept tick by tick.
pub const SUSPECT_US: i64 = 30_000_000;

/// How much history of the signals is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoragePolicy {
    /// Every signal is a row.
    All,
    /// Contended ticks, the 30 s after them and every change of state are rows; of the rest, one row per series and
    /// ten seconds, which begin at another second for each series.
    #[default]
    Changes,
}

/// A signal as a row. Of several ticks, `value` is the mean, there are no counts, and everything else is the last tick's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredSignal {
    /// What is kept.
    pub signal: Signal,
    /// Ticks it covers, the last of which is `signal.time`; at least 1.
    pub ticks: u16,
}

/// Ten seconds, a minute or an hour of one series. Figures that do not exist are NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Which series.
    pub series: SeriesIndex,
    /// Start of the stretch.
    pub time: Time,
    /// Mean of the readings, in the metric's unit.
    pub value: f32,
    /// Least reading.
    pub value_min: f32,
    /// Greatest reading.
    pub value_max: f32,
    /// Of ten seconds, the windowed mean at the last tick with data; of more, the mean of those.
    pub mean: f32,
    /// Baseline, in the same way.
    pub baseline: f32,
    /// Ticks with data.
    pub ticks: u32,
    /// Contended ones among them.
    pub contended_ticks: u32,
    /// Seconds lost, accumulated at the last tick.
    pub slowdown_s: f64,
    /// Mean of what the counters did.
    pub counts: Counts,
}

/// Rows to commit; cleared and filled again, so that it keeps its memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRows {
    /// Rows of `signals`.
    pub signals: Vec<StoredSignal>,
    /// Rows of `signals_10s`.
    pub buckets: Vec<Bucket>,
    /// Rows of `signals_1min`.
    pub minutes: Vec<Bucket>,
    /// Rows of `signals_1h`.
    pub hours: Vec<Bucket>,
    /// The signals that these rows are chosen from.
    pub passed: Passed,
}

/// Signals that a policy looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// How many.
    pub count: u64,
    /// The latest time of one.
    pub latest: Option<Time>,
    /// Times of every sixteenth.
    pub sampled: Vec<Time>,
}

impl Passed {
    fn add(&mut self, signal: &Signal) {
        if self.count.is_multiple_of(SAMPLED) {
            self.sampled.push(signal.time);
        }
        self.count += 1;
        self.latest = self.latest.max(Some(signal.time));
    }
}

impl StoredRows {
    /// Bytes of the rows.
    pub fn bytes(&self) -> usize {
        let buckets = self.buckets.len() + self.minutes.len() + self.hours.len();
        self.signals.len() * size_of::<StoredSignal>()
            + buckets * size_of::<Bucket>()
            + self.passed.sampled.len() * size_of::<Time>()
    }

    /// Empties all and keeps their memory.
    pub fn clear(&mut self) {
        self.signals.clear();
        self.buckets.clear();
        self.minutes.clear();
        self.hours.clear();
        self.passed = Passed::default();
    }
}

/// Readings added up; NaN readings count for nothing.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sum {
    total: f64,
    readings: u16,
}

impl Sum {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.total += value;
            self.readings = self.readings.saturating_add(1);
        }
    }

    fn mean(&self) -> f64 {
        if self.readings == 0 { f64::NAN } else { self.total / f64::from(self.readings) }
    }
}

/// Ten seconds that are over and not yet written, as exact as the database keeps them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ended {
    bucket: i64,
    slowdown_s: f64,
    value: f32,
    min: f32,
    max: f32,
    mean: f32,
    baseline: f32,
    counts: Counts,
    ticks: u16,
    contended: u16,
}

/// What is open of one series: its bucket, and the quiet ticks not yet written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Open {
    last: Signal,
    phase: u8,
    ended: Option<Ended>,
    bucket: i64,
    /// The latest bucket that ended. What becomes known of it afterwards, after a silence, is that nothing is known.
    over: i64,
    sum: Sum,
    min: f32,
    max: f32,
    counts: Counts,
    /// Of the latest tick with data, if there is one: mean, baseline, seconds lost.
    latest: (f32, f32, f64),
    ticks: u16,
    contended: u16,
    quiet: Sum,
    quiet_ticks: u16,
    /// Until when it is kept tick by tick, microseconds.
    suspect_until: i64,
    coarse: Coarse,
}

/// Applies a [`StoragePolicy`]. It is part of a partition's state: stored and restored with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thinner {
    policy: StoragePolicy,
    open: Vec<Option<Open>>,
    /// Seconds by which the ten seconds of each series begin later than those of the tier.
    phases: Vec<u8>,
}

impl Thinner {
    /// One that has seen nothing.
    pub fn new(policy: StoragePolicy) -> Thinner {
        Thinner { policy, open: Vec::new(), phases: Vec::new() }
    }

    /// Bytes that one series takes.
    pub const fn bytes_per_series() -> usize {
        size_of::<Option<Open>>() + size_of::<u8>()
    }

    /// The policy.
    pub fn policy(&self) -> StoragePolicy {
        self.policy
    }

    /// Changes the policy from the next signal on, as after a restart with another configuration.
    pub fn set_policy(&mut self, policy: StoragePolicy) {
        self.policy = policy;
    }

    /// Learns of series, before their first signals. What is written of a series goes by its name, which is the same
    /// whatever came first.
    pub fn know(&mut self, series: &[(SeriesIndex, SeriesInfo)]) {
        for (series, info) in series {
            if self.phases.len() <= series.at() {
                self.phases.resize(series.at() + 1, 0);
            }
            self.phases[series.at()] = partition_of(info.name().as_bytes(), PHASES) as u8;
        }
    }

    /// Forgets series, all of whose ticks were written: their numbers may be given to others.
    pub fn forget(&mut self, gone: &[SeriesIndex]) {
        for series in gone {
            if let Some(open) = self.open.get_mut(series.at()) {
                *open = None;
            }
        }
    }

    /// Takes signals and appends the rows that they complete.
    pub fn pass(&mut self, signals: &[Signal], out: &mut StoredRows) {
        for signal in signals {
            let at = signal.series.at();
            if at >= self.open.len() {
                growth::extend_to(&mut self.open, at + 1, None);
            }
            let phase = self.phases.get(at).copied().unwrap_or(0);
            out.passed.add(signal);
            step(self.policy, &mut self.open[at], phase, signal, out);
        }
    }

    /// Writes out whatever ends at or before `watermark`, the time before which no signal can come any more.
    /// `Time(i64::MAX)` ends a run: nothing stays open.
    pub fn close(&mut self, watermark: Time, out: &mut StoredRows) {
        let bucket = watermark.0.div_euclid(BUCKET_US);
        for open in self.open.iter_mut().flatten() {
            if slot(open.last.time, open.phase) < slot(watermark, open.phase) {
                open.end_quiet(out);
            }
            if open.bucket < bucket {
                open.end_bucket(out);
            }
            if open.ended.is_some_and(|ended| ended.bucket < bucket) {
                open.write_ended(out);
            }
            // Of a series that reports, the next row of ten seconds ends them.
            if open.last.time < watermark {
                open.coarse.close(open.last.series, watermark, out);
            }
        }
    }
}

/// In which ten seconds of its series a time lies. Those of different series begin at different seconds, and what they write
/// comes a tenth each second: all at once would hold up the rows of the ticks that follow.
fn slot(time: Time, phase: u8) -> i64 {
    time.0.saturating_sub(i64::from(phase) * SECOND_US).div_euclid(BUCKET_US)
}

/// One tick of one series.
fn step(policy: StoragePolicy, open: &mut Option<Open>, phase: u8, signal: &Signal, out: &mut StoredRows) {
    let bucket = signal.time.0.div_euclid(BUCKET_US);
    let open = open.get_or_insert_with(|| Open::new(signal, phase, bucket));
    if open.bucket != bucket && bucket > open.over {
        open.end_bucket(out);
        open.bucket = bucket;
    }
    if slot(open.last.time, open.phase) != slot(signal.time, open.phase) {
        open.end_quiet(out);
        open.write_ended(out);
    }
    // A series' first signal is no change: nothing was known before.
    let changed = signal.state != open.last.state;
    if signal.state == State::Contended {
        open.suspect_until = signal.time.0.saturating_add(SUSPECT_US);
    }
    let each = policy == StoragePolicy::All || changed || signal.time.0 < open.suspect_until;
    if each {
        open.end_quiet(out);
        out.signals.push(StoredSignal { signal: *signal, ticks: 1 });
    } else {
        open.quiet.add(signal.value);
        open.quiet_ticks = open.quiet_ticks.saturating_add(1);
    }
    if open.bucket == bucket {
        open.count(signal);
    }
    open.last = *signal;
}

impl Open {
    fn new(signal: &Signal, phase: u8, bucket: i64) -> Open {
        Open {
            last: *signal,
            phase,
            ended: None,
            bucket,
            over: i64::MIN,
            latest: (f32::NAN, f32::NAN, 0.0),
            sum: Sum::default(),
            min: f32::NAN,
            max: f32::NAN,
            counts: Counts::NONE,
            ticks: 0,
            contended: 0,
            quiet: Sum::default(),
            quiet_ticks: 0,
            suspect_until: i64::MIN,
            coarse: Coarse::default(),
        }
    }

    /// Adds a tick to the bucket. `min` and `max` pass over NaN.
    fn count(&mut self, signal: &Signal) {
        self.sum.add(signal.value);
        self.min = self.min.min(signal.value as f32);
        self.max = self.max.max(signal.value as f32);
        self.counts.add(signal.counts, 1);
        if signal.state != State::Unknown || self.ticks == 0 {
            self.latest = (signal.mean as f32, signal.baseline as f32, signal.slowdown_s);
        }
        self.ticks = self.ticks.saturating_add(u16::from(signal.state != State::Unknown));
        self.contended = self.contended.saturating_add(u16::from(signal.state == State::Contended));
    }

    /// Writes the quiet ticks as one row.
    fn end_quiet(&mut self, out: &mut StoredRows) {
        if self.quiet_ticks > 0 {
            let signal = Signal { value: self.quiet.mean(), counts: Counts::NONE, ..self.last };
            out.signals.push(StoredSignal { signal, ticks: self.quiet_ticks });
            (self.quiet, self.quiet_ticks) = (Sum::default(), 0);
        }
    }

    /// Ends the bucket, unless that was done already, and empties it.
    fn end_bucket(&mut self, out: &mut StoredRows) {
        if self.bucket == NO_BUCKET {
            return;
        }
        self.write_ended(out);
        let (mean, baseline, slowdown_s) = self.latest;
        self.over = self.bucket;
        self.ended = Some(Ended {
            bucket: self.bucket,
            slowdown_s,
            value: self.sum.mean() as f32,
            min: self.min,
            max: self.max,
            mean,
            baseline,
            counts: self.counts.mean(self.sum.readings),
            ticks: self.ticks,
            contended: self.contended,
        });
        (self.bucket, self.sum, self.min, self.max) = (NO_BUCKET, Sum::default(), f32::NAN, f32::NAN);
        (self.counts, self.ticks, self.contended) = (Counts::NONE, 0, 0);
    }

    /// Writes the bucket that ended last, if that was not done yet.
    fn write_ended(&mut self, out: &mut StoredRows) {
        let Some(ended) = self.ended.take() else { return };
        let row = Bucket {
            series: self.last.series,
            time: Time(ended.bucket.saturating_mul(BUCKET_US)),
            value: ended.value,
            value_min: ended.min,
            value_max: ended.max,
            mean: ended.mean,
            baseline: ended.baseline,
            ticks: u32::from(ended.ticks),
            contended_ticks: u32::from(ended.contended),
            slowdown_s: ended.slowdown_s,
            counts: ended.counts,
        };
        self.coarse.take(&row, out);
        out.buckets.push(row);
    }
}
