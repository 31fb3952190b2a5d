//! Which signals the server keeps, and the ten-second tier beside them.
//!
//! Decided per series by event time alone: however the signals are cut into batches, the same rows come out,
//! as long as each series' signals come in the order of their times.

use schemas::{SeriesIndex, Signal, State, Time};
use serde::{Deserialize, Serialize};

/// Microseconds of event time in one bucket; buckets are aligned to the epoch.
pub const BUCKET_US: i64 = 10_000_000;

/// Microseconds after contention in which a series is still kept tick by tick.
pub const SUSPECT_US: i64 = 30_000_000;

/// How much history of the signals is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoragePolicy {
    /// Every signal is a row.
    All,
    /// Contended ticks, the 30 s after them and every change of state are rows; of the rest, one row per series and
    /// ten seconds.
    #[default]
    Changes,
}

/// A signal as a row. Of several ticks, `value` is the mean and everything else is the last tick's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredSignal {
    /// What is kept.
    pub signal: Signal,
    /// Ticks it stands for, the last of which is `signal.time`; at least 1.
    pub ticks: u16,
}

/// Ten seconds of one series. Figures that do not exist are NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Which series.
    pub series: SeriesIndex,
    /// Start of the ten seconds.
    pub time: Time,
    /// Mean of the readings, in the metric's unit.
    pub value: f64,
    /// Least reading.
    pub value_min: f64,
    /// Greatest reading.
    pub value_max: f64,
    /// Windowed mean at the last tick.
    pub mean: f64,
    /// Baseline at the last tick.
    pub baseline: f64,
    /// Ticks with data.
    pub ticks: u16,
    /// Contended ones among them.
    pub contended_ticks: u16,
    /// Seconds lost, accumulated at the last tick.
    pub slowdown_s: f64,
}

/// Rows to commit; cleared and filled again, so that it keeps its memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRows {
    /// Rows of `signals`.
    pub signals: Vec<StoredSignal>,
    /// Rows of `signals_10s`.
    pub buckets: Vec<Bucket>,
}

impl StoredRows {
    /// Empties both and keeps their memory.
    pub fn clear(&mut self) {
        self.signals.clear();
        self.buckets.clear();
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

/// What is open of one series: its bucket, and the quiet ticks not yet written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Open {
    last: Signal,
    bucket: i64,
    sum: Sum,
    min: f64,
    max: f64,
    ticks: u16,
    contended: u16,
    quiet: Sum,
    quiet_ticks: u16,
    /// Until when it is kept tick by tick, microseconds.
    suspect_until: i64,
}

/// Applies a [`StoragePolicy`]. It is part of a partition's state: stored and restored with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thinner {
    policy: StoragePolicy,
    open: Vec<Option<Open>>,
}

impl Thinner {
    /// One that has seen nothing.
    pub fn new(policy: StoragePolicy) -> Thinner {
        Thinner { policy, open: Vec::new() }
    }

    /// The policy.
    pub fn policy(&self) -> StoragePolicy {
        self.policy
    }

    /// Changes the policy from the next signal on, as after a restart with another configuration.
    pub fn set_policy(&mut self, policy: StoragePolicy) {
        self.policy = policy;
    }

    /// Takes signals and appends the rows that they complete.
    pub fn pass(&mut self, signals: &[Signal], out: &mut StoredRows) {
        for signal in signals {
            let at = signal.series.at();
            if at >= self.open.len() {
                self.open.resize(at + 1, None);
            }
            step(self.policy, &mut self.open[at], signal, out);
        }
    }

    /// Writes out every bucket that ends at or before `watermark`, the time before which no signal can come any more.
    /// `Time(i64::MAX)` ends a run: nothing stays open.
    pub fn close(&mut self, watermark: Time, out: &mut StoredRows) {
        let bucket = watermark.0.div_euclid(BUCKET_US);
        for slot in &mut self.open {
            if let Some(open) = slot
                && open.bucket < bucket
            {
                open.close(out);
            }
        }
    }
}

/// One tick of one series.
fn step(policy: StoragePolicy, slot: &mut Option<Open>, signal: &Signal, out: &mut StoredRows) {
    let bucket = signal.time.0.div_euclid(BUCKET_US);
    let open = slot.get_or_insert_with(|| Open::new(signal, bucket));
    if open.bucket != bucket {
        open.close(out);
        open.bucket = bucket;
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
    open.count(signal);
}

impl Open {
    fn new(signal: &Signal, bucket: i64) -> Open {
        Open {
            last: *signal,
            bucket,
            sum: Sum::default(),
            min: f64::NAN,
            max: f64::NAN,
            ticks: 0,
            contended: 0,
            quiet: Sum::default(),
            quiet_ticks: 0,
            suspect_until: i64::MIN,
        }
    }

    /// Adds a tick to the bucket. `f64::min` and `max` pass over NaN.
    fn count(&mut self, signal: &Signal) {
        self.sum.add(signal.value);
        self.min = self.min.min(signal.value);
        self.max = self.max.max(signal.value);
        self.ticks = self.ticks.saturating_add(u16::from(signal.state != State::Unknown));
        self.contended = self.contended.saturating_add(u16::from(signal.state == State::Contended));
        self.last = *signal;
    }

    /// Writes the quiet ticks as one row.
    fn end_quiet(&mut self, out: &mut StoredRows) {
        if self.quiet_ticks > 0 {
            let signal = Signal { value: self.quiet.mean(), ..self.last };
            out.signals.push(StoredSignal { signal, ticks: self.quiet_ticks });
            (self.quiet, self.quiet_ticks) = (Sum::default(), 0);
        }
    }

    /// Writes the bucket, unless it was written already, and empties it.
    fn close(&mut self, out: &mut StoredRows) {
        self.end_quiet(out);
        if self.bucket == i64::MIN {
            return;
        }
        out.buckets.push(Bucket {
            series: self.last.series,
            time: Time(self.bucket.saturating_mul(BUCKET_US)),
            value: self.sum.mean(),
            value_min: self.min,
            value_max: self.max,
            mean: self.last.mean,
            baseline: self.last.baseline,
            ticks: self.ticks,
            contended_ticks: self.contended,
            slowdown_s: self.last.slowdown_s,
        });
        // No bucket has this number: a closed series waits for its next signal.
        *self = Open { suspect_until: self.suspect_until, ..Open::new(&self.last, i64::MIN) };
    }
}
