//! The default model: the windowed mean of the Actionable Metric Model, with bounds that hold for a mean.
//!
//! Differences from `published`, each for a weakness that was measured (ACCURACY.md shows both):
//! * The bound comes from the standard error of the *mean* (window and baseline), not from the spread of
//!   single readings; a least effect keeps meaningless changes out.
//! * Two windows, `omega` and `4 omega`: the short one is quick, the long one sees a third lost under 20% noise.
//! * Readings count at most twice the threshold, so that one spike, however high, flags nothing.
//! * A reading joins the baseline only after a quarantine in which nothing was flagged.
//! * Begin and end are dated back to the change point, and the loss is summed over raw readings.
//! * A fall of a rate is judged by the other series of its resource first: a fall alone is a phase change.
//!
//! Logarithms are *signed*: rising always means more contention, whatever the metric's direction.

mod bound;
mod contention;
mod edges;
mod level;
mod phase;
mod restart;
mod settling;
mod threshold;

use super::baseline::{BLOCK, Baseline};
use super::recent::{RECENT, Recent};
use super::{Closing, Judgement, Knowledge, ModelEvent, Params, Reading, Suspicion};
use contention::Open;
use phase::Levels;
use schemas::{Direction, State, Time, growth};
use serde::{Deserialize, Serialize};
use settling::Settling;

/// Idle seconds after which the readings before them are forgotten; the baseline is not.
const RING_OUTLIVES_S: f64 = 3_600.0;

/// Deviations of single readings up to which correlated ones may drift away from the baseline.
const DRIFT_DEVIATIONS: f32 = 6.0;

/// Robust model for all series of one metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RobustBank {
    pub(super) params: Params,
    watch: Vec<Watch>,
    recent: Recent,
    memory: Vec<Memory>,
}

/// What a quiet tick touches of a series: one cache line, and a few slots of its ring.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
struct Watch {
    /// Mean of the baseline.
    centre: f32,
    /// What the mean of the short and of the long window must exceed the baseline by.
    threshold: f32,
    threshold_long: f32,
    /// A reading counts at most this far from the baseline.
    clip: f32,
    /// Sums of clipped deviations over both windows.
    sum: f32,
    sum_long: f32,
    /// Latest readings that belong to the present regime; both windows look at these only.
    usable: u8,
    /// Latest readings that belong to no episode: a new one begins with these at the earliest.
    free: u8,
    /// Latest readings that have not joined the baseline.
    quarantined: u8,
    /// Readings that stay in quarantine before a block is released.
    quarantine: u8,
    stage: Stage,
    state: State,
    after_idle: bool,
    /// Whether an episode that ended is still settling.
    settles: bool,
    suspected_since: Time,
    /// End of the first reading of the warm-up.
    warming_since: Time,
    slowdown_s: f64,
}

/// What is done with a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// There is no baseline.
    Warming,
    /// It is compared with the baseline.
    Watching,
    /// It belongs to an open episode.
    Contended,
}

/// What only block boundaries and episodes touch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    baseline: Baseline,
    levels: Levels,
    open: Option<Box<Open>>,
    settling: Option<Box<Settling>>,
    before_gap: Option<Box<BeforeGap>>,
}

/// What was known of a series before a gap.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct BeforeGap {
    baseline: Baseline,
    was_contended: bool,
}

impl Watch {
    fn new(slowdown_s: f64) -> Watch {
        Watch {
            centre: 0.0,
            threshold: 0.0,
            threshold_long: 0.0,
            clip: 0.0,
            sum: 0.0,
            sum_long: 0.0,
            usable: 0,
            free: 0,
            quarantined: 0,
            quarantine: 0,
            stage: Stage::Warming,
            state: State::Warmup,
            after_idle: false,
            settles: false,
            suspected_since: Time::MIN,
            warming_since: Time::MIN,
            slowdown_s,
        }
    }

    #[inline]
    fn deviation(&self, ln: f32) -> f32 {
        (ln - self.centre).clamp(-self.clip, self.clip)
    }
}

impl RobustBank {
    /// A bank without series.
    pub fn new(params: Params) -> RobustBank {
        RobustBank { params, watch: Vec::new(), recent: Recent::default(), memory: Vec::new() }
    }

    /// Adds a series; its number is the count of those before it.
    pub fn add(&mut self) {
        growth::push(&mut self.watch, Watch::new(0.0));
        self.recent.add();
        growth::push(&mut self.memory, Memory::default());
    }

    /// Series in the bank.
    pub fn len(&self) -> usize {
        self.watch.len()
    }

    /// Whether the bank has no series.
    pub fn is_empty(&self) -> bool {
        self.watch.is_empty()
    }

    /// Bytes that one series takes while it is not contended.
    pub const fn bytes_per_series() -> usize {
        size_of::<Watch>() + size_of::<Memory>() + super::recent::BYTES_PER_SERIES
    }

    /// Takes one reading of series `i`.
    #[inline]
    pub fn update(&mut self, i: usize, reading: &Reading) -> ModelEvent {
        if !reading.active {
            return self.idle(i, reading.time);
        }
        if self.watch[i].after_idle {
            // The tick in which activity begins is active in part: its rate is not used.
            self.watch[i].after_idle = false;
            return ModelEvent::Nothing;
        }
        self.push(i, reading);
        match self.watch[i].stage {
            Stage::Watching => self.watch(i),
            Stage::Contended => self.continue_episode(i),
            Stage::Warming => self.warm_up(i, reading.time),
        }
    }

    /// Adds a reading to ring and windows.
    #[inline]
    fn push(&mut self, i: usize, reading: &Reading) {
        let ln = self.signed_ln(reading.value);
        let (short, long) = (self.params.window, 4 * self.params.window);
        let watch = &mut self.watch[i];
        let usable = watch.usable as usize;
        let deviation = watch.deviation(ln);
        watch.sum += deviation;
        watch.sum_long += deviation;
        if usable >= short {
            watch.sum -= watch.deviation(self.recent.ln(i, short - 1));
        }
        if usable >= long {
            watch.sum_long -= watch.deviation(self.recent.ln(i, long - 1));
        }
        watch.usable = (watch.usable + 1).min(RECENT as u8);
        watch.free = (watch.free + 1).min(RECENT as u8);
        watch.quarantined = (watch.quarantined + 1).min(RECENT as u8);
        self.recent.push(i, ln, reading.time, reading.span_ticks);
    }

    /// Compares the windows with the baseline.
    #[inline]
    fn watch(&mut self, i: usize) -> ModelEvent {
        let watch = &mut self.watch[i];
        watch.state = State::Clear;
        let full = watch.quarantined >= watch.quarantine + BLOCK as u8;
        if full && watch.suspected_since == Time::MIN && !self.is_drifting(i) {
            self.release_block(i);
        }
        let (short, long) = (self.params.window, 4 * self.params.window);
        let watch = &self.watch[i];
        let usable = watch.usable as usize;
        // A window that is not full yet shows nothing.
        let rise = if usable >= short { watch.sum / short as f32 } else { 0.0 };
        let rise_long = if usable >= long { watch.sum_long / long as f32 } else { 0.0 };
        if rise > watch.threshold || rise_long > watch.threshold_long {
            return self.suspect(i);
        }
        let lower = rise < -watch.threshold || rise_long < -watch.threshold_long;
        self.watch[i].suspected_since = Time::MIN;
        if lower {
            self.change_level(i);
        }
        if self.watch[i].settles && self.is_settled(i) { self.settle(i) } else { ModelEvent::Nothing }
    }

    fn suspect(&mut self, i: usize) -> ModelEvent {
        if !self.params.needs_judgement {
            return self.begin(i);
        }
        let change = self.change_point(i, self.free(i));
        let window = self.params.window;
        if self.watch[i].suspected_since == Time::MIN {
            self.watch[i].suspected_since = self.recent.last(i);
        }
        let suspicion = Suspicion {
            start: change.start,
            since: self.watch[i].suspected_since,
            baseline: self.params.value(self.watch[i].centre),
            level: self.params.value(self.recent.mean(i, window.min(change.age + 1))),
        };
        ModelEvent::Suspected(suspicion)
    }

    /// Decides a suspicion. A fall to next to nothing is a phase even if others gained, unless these got no more each.
    /// Without others to look at, a fall counts as contention unless the series continues at a level it had
    /// before (GUIDE section 1).
    pub fn judge(&mut self, i: usize, judgement: Judgement) -> ModelEvent {
        if self.watch[i].stage != Stage::Watching || self.watch[i].suspected_since == Time::MIN {
            return ModelEvent::Nothing;
        }
        let own = match judgement {
            Judgement::Contention => self.is_off_phase(i) || (self.drifts_so_far(i) && self.is_own_level(i)),
            Judgement::EqualShare => false,
            Judgement::OwnPhase => true,
            Judgement::Alone => self.is_off_phase(i) || self.is_own_level(i),
        };
        self.watch[i].suspected_since = Time::MIN;
        if own {
            self.change_level(i);
            return ModelEvent::Nothing;
        }
        let began = self.begin(i);
        if let Some(open) = self.memory[i].open.as_deref_mut() {
            open.is_equal_share = judgement == Judgement::EqualShare;
        }
        began
    }

    /// Whether the readings of series `i` drift by themselves, and as far as the latest level is from the baseline.
    fn drifts_so_far(&self, i: usize) -> bool {
        let baseline = &self.memory[i].baseline;
        let fall = self.latest_level(i) - self.watch[i].centre;
        baseline.correlation > 0.0 && fall <= DRIFT_DEVIATIONS * baseline.sigma
    }

    /// What is known of series `i`.
    pub fn knowledge(&self, i: usize) -> Knowledge {
        let watch = &self.watch[i];
        let usable = watch.usable as usize;
        let mean = match usable {
            0 => f64::NAN,
            _ => self.params.value(self.recent.mean(i, self.params.window.min(usable))),
        };
        let known = watch.stage != Stage::Warming;
        let of = |ln: f32| if known { self.params.value(ln) } else { f64::NAN };
        Knowledge {
            mean,
            baseline: of(watch.centre),
            bound: of(self.bound(i)),
            state: watch.state,
            slowdown_s: watch.slowdown_s,
        }
    }

    /// The open episode of series `i` so far.
    pub fn open_episode(&self, i: usize) -> Option<Closing> {
        let open = self.memory[i].open.as_deref()?;
        Some(self.closing(i, open, self.recent.last(i)))
    }

    /// Mean reading of series `i` between two times of the recent past; idle and missing ticks count as 0.
    pub fn mean_between(&self, i: usize, from: Time, to: Time) -> f64 {
        self.moved_between(i, from, to)[0]
    }

    /// The same, and the ticks of the readings.
    pub fn moved_between(&self, i: usize, from: Time, to: Time) -> [f64; 2] {
        let recent = &self.recent;
        let span = |age: usize| f64::from(recent.span_ticks(i, age));
        let add = |[sum, ticks]: [f64; 2], age: usize| {
            [sum + self.params.value(recent.ln(i, age)) * span(age), ticks + span(age)]
        };
        let [sum, active] = recent.between(i, from, to).fold([0.0; 2], add);
        let ticks = (to.seconds_since(from) / self.params.tick_s).round().max(1.0);
        [sum / ticks, active]
    }

    /// Noise of series `i`: standard deviation of single readings about the baseline, as a part of it.
    pub fn noise(&self, i: usize) -> f64 {
        f64::from(self.memory[i].baseline.sigma)
    }

    fn idle(&mut self, i: usize, time: Time) -> ModelEvent {
        if time.seconds_since(self.recent.last(i)) > RING_OUTLIVES_S && self.recent.len(i) > 0 {
            self.recent.clear(i);
            self.watch[i].usable = 0;
            self.watch[i].quarantined = 0;
            self.refresh(i);
        }
        let watch = &mut self.watch[i];
        if watch.state == State::Idle || watch.after_idle {
            watch.state = State::Idle;
            watch.after_idle = true;
            return ModelEvent::Nothing;
        }
        // The last active tick was cut short; it is taken back.
        let contended = watch.stage == Stage::Contended;
        if watch.usable > 0 {
            self.take_back_newest(i);
        }
        self.cut_end(i);
        let closed = self.close_at_last(i);
        let watch = &mut self.watch[i];
        if contended {
            watch.usable = 0;
            watch.quarantined = 0;
        }
        watch.after_idle = true;
        watch.suspected_since = Time::MIN;
        watch.state = State::Idle;
        self.refresh(i);
        closed
    }

    fn signed_ln(&self, value: f64) -> f32 {
        let ln = (value.max(self.params.floor) as f32).ln();
        match self.params.direction {
            Direction::Rising => ln,
            Direction::Falling => -ln,
        }
    }
}

impl Params {
    /// The reading whose signed logarithm is `ln`.
    fn value(&self, ln: f32) -> f64 {
        match self.direction {
            Direction::Rising => f64::from(ln).exp(),
            Direction::Falling => f64::from(-ln).exp(),
        }
    }

    /// Least rise of the signed logarithm above `ln` that is worth flagging.
    fn least_rise(&self, ln: f32) -> f32 {
        match self.direction {
            Direction::Falling => -(1.0 - self.least_effect).ln() as f32,
            Direction::Rising => {
                let level = self.value(ln);
                (1.0 + self.least_effect).max(1.0 + self.least_change / level).ln() as f32
            }
        }
    }
}
