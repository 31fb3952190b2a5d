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

mod contention;
mod edges;
mod phase;
mod settling;

use super::baseline::{BLOCK, Baseline};
use super::recent::{RECENT, Recent};
use super::{Closing, Happening, Judgement, Knowledge, Params, Reading, Suspicion};
use crate::equations::standard_error;
use contention::Open;
use phase::Levels;
use schemas::{Direction, State, Time};
use serde::{Deserialize, Serialize};
use settling::Settling;

/// Most readings that wait in quarantine before they join the baseline.
const QUARANTINE: usize = 24;

/// Robust model for all series of one metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RobustBank {
    params: Params,
    series: Vec<Series>,
}

/// One series: under 1 KB, and in a quiet tick only its header and a few slots of the ring are touched.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
struct Series {
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
    /// Latest readings that have not joined the baseline.
    quarantined: u8,
    state: State,
    after_idle: bool,
    suspected_since: Time,
    slowdown_s: f64,
    open: Option<Box<Open>>,
    settling: Option<Box<Settling>>,
    baseline: Baseline,
    recent: Recent,
    levels: Levels,
}

impl Series {
    fn new(slowdown_s: f64) -> Series {
        Series {
            threshold: 0.0,
            threshold_long: 0.0,
            clip: 0.0,
            sum: 0.0,
            sum_long: 0.0,
            usable: 0,
            quarantined: 0,
            state: State::Warmup,
            after_idle: false,
            suspected_since: Time::MIN,
            slowdown_s,
            open: None,
            settling: None,
            baseline: Baseline::default(),
            recent: Recent::default(),
            levels: Levels::default(),
        }
    }

    fn deviation(&self, ln: f32) -> f32 {
        (ln - self.baseline.mean).clamp(-self.clip, self.clip)
    }

    /// Adds a reading to ring and windows.
    fn push(&mut self, ln: f32, reading: &Reading, window: usize) {
        let usable = self.usable as usize;
        self.sum += self.deviation(ln);
        self.sum_long += self.deviation(ln);
        if usable >= window {
            self.sum -= self.deviation(self.recent.ln(window - 1));
        }
        if usable >= 4 * window {
            self.sum_long -= self.deviation(self.recent.ln(4 * window - 1));
        }
        self.recent.push(ln, reading.time, reading.span_ticks);
        self.usable = (self.usable + 1).min(RECENT as u8);
        self.quarantined = (self.quarantined + 1).min(RECENT as u8);
    }

    /// Readings `ages` back, oldest first.
    fn readings(&self, ages: std::ops::Range<usize>) -> Vec<f32> {
        ages.rev().map(|age| self.recent.ln(age)).collect()
    }

    fn window_mean(&self, window: usize) -> f32 {
        let n = window.min(self.recent.len()).max(1);
        (0..n).map(|age| self.recent.ln(age)).sum::<f32>() / n as f32
    }
}

impl RobustBank {
    /// A bank without series.
    pub fn new(params: Params) -> RobustBank {
        RobustBank {
            params,
            series: Vec::new(),
        }
    }

    /// Adds a series; its number is the count of those before it.
    pub fn add(&mut self) {
        self.series.push(Series::new(0.0));
    }

    /// Series in the bank.
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// Whether the bank has no series.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Bytes that one series takes while it is not contended.
    pub const fn bytes_per_series() -> usize {
        size_of::<Series>()
    }

    /// Takes one reading of series `i`.
    pub fn update(&mut self, i: usize, reading: &Reading) -> Happening {
        if !reading.active {
            return self.idle(i);
        }
        let ln = self.signed_ln(reading.value);
        let window = self.params.window;
        let series = &mut self.series[i];
        if series.after_idle {
            // The tick in which activity begins is active in part: its rate says nothing.
            series.after_idle = false;
            return Happening::Nothing;
        }
        series.push(ln, reading, window);
        if series.open.is_some() {
            return self.go_on(i, reading);
        }
        if series.baseline.is_empty() {
            return self.warm_up(i);
        }
        series.state = State::Clear;
        if series.suspected_since == Time::MIN && series.quarantined as usize >= quarantine(series) + BLOCK {
            self.release_block(i);
        }
        match self.watch(i) {
            Happening::Nothing if self.is_settled(i) => self.settle(i),
            other => other,
        }
    }

    /// Compares the windows with the baseline.
    fn watch(&mut self, i: usize) -> Happening {
        let window = self.params.window;
        let series = &mut self.series[i];
        let usable = series.usable as usize;
        let limit = series.threshold * window as f32;
        let limit_long = series.threshold_long * (4 * window) as f32;
        let long = usable >= 4 * window;
        let worse = (usable >= window && series.sum > limit) || (long && series.sum_long > limit_long);
        if worse {
            return self.suspect(i);
        }
        series.suspected_since = Time::MIN;
        if (usable >= window && series.sum < -limit) || (long && series.sum_long < -limit_long) {
            self.change_level(i);
        }
        Happening::Nothing
    }

    fn suspect(&mut self, i: usize) -> Happening {
        if !self.params.needs_judgement {
            return self.begin(i);
        }
        let change = self.change_point(i);
        let window = self.params.window;
        let series = &mut self.series[i];
        if series.suspected_since == Time::MIN {
            series.suspected_since = series.recent.last();
        }
        let suspicion = Suspicion {
            start: change.start,
            since: series.suspected_since,
            baseline: self.params.value(series.baseline.mean),
            level: self.params.value(series.window_mean(window.min(change.age + 1))),
        };
        Happening::Suspected(suspicion)
    }

    /// Decides a suspicion. Without others to look at, a fall counts as contention unless the series goes
    /// on at next to nothing or at a level it had before (GUIDE section 1).
    pub fn judge(&mut self, i: usize, judgement: Judgement) -> Happening {
        if self.series[i].open.is_some() || self.series[i].suspected_since == Time::MIN {
            return Happening::Nothing;
        }
        let own = match judgement {
            Judgement::Contention => false,
            Judgement::OwnPhase => true,
            Judgement::Alone => self.is_own_level(i),
        };
        self.series[i].suspected_since = Time::MIN;
        if own {
            self.change_level(i);
            return Happening::Nothing;
        }
        self.begin(i)
    }

    /// Forgets everything of series `i` but its accumulated loss; its open episode ends at its last reading.
    pub fn restart(&mut self, i: usize) -> Happening {
        let closed = match self.close_at_last(i) {
            Happening::Nothing => {
                self.settle_rest(i);
                self.settle(i)
            }
            ended => ended,
        };
        let series = &mut self.series[i];
        *series = Series::new(series.slowdown_s);
        closed
    }

    /// What is known of series `i`.
    pub fn knowledge(&self, i: usize) -> Knowledge {
        let series = &self.series[i];
        let usable = series.usable as usize;
        let mean = match usable {
            0 => f64::NAN,
            _ => self
                .params
                .value(series.window_mean(self.params.window.min(usable))),
        };
        let known = !series.baseline.is_empty();
        let of = |ln: f32| if known { self.params.value(ln) } else { f64::NAN };
        Knowledge {
            mean,
            baseline: of(series.baseline.mean),
            bound: of(series.baseline.mean + series.threshold),
            state: series.state,
            slowdown_s: series.slowdown_s,
        }
    }

    /// The open episode of series `i`, as it stands.
    pub fn open_episode(&self, i: usize) -> Option<Closing> {
        let open = self.series[i].open.as_deref()?;
        Some(self.closing(i, open, self.series[i].recent.last()))
    }

    /// Mean reading of series `i` between two times, and whether it had any; readings older than the ring
    /// and idle ticks count as none.
    pub fn mean_between(&self, i: usize, from: Time, to: Time) -> Option<f64> {
        let recent = &self.series[i].recent;
        let inside = |age: &usize| (from < recent.time(*age)) && (recent.time(*age) <= to);
        let (sum, n) = (0..recent.len())
            .filter(inside)
            .map(|age| self.params.value(recent.ln(age)))
            .fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    }

    fn idle(&mut self, i: usize) -> Happening {
        let series = &mut self.series[i];
        if series.state == State::Idle || series.after_idle {
            series.state = State::Idle;
            series.after_idle = true;
            return Happening::Nothing;
        }
        // The last active tick was cut short; it is taken back.
        let contended = series.open.is_some();
        if series.usable > 0 {
            self.take_back_newest(i);
        }
        let closed = self.close_at_last(i);
        let series = &mut self.series[i];
        if contended {
            series.usable = 0;
            series.quarantined = 0;
        }
        series.after_idle = true;
        series.suspected_since = Time::MIN;
        series.state = State::Idle;
        self.refresh(i);
        closed
    }

    /// The first baseline: half of the warm-up joins it, the other half is watched against it.
    fn warm_up(&mut self, i: usize) -> Happening {
        let window = self.params.window;
        let series = &mut self.series[i];
        series.state = State::Warmup;
        let needed = 2 * window.max(BLOCK);
        if (series.usable as usize) < needed {
            return Happening::Nothing;
        }
        let all = series.readings(0..needed);
        let (centre, spread) = median_and_spread(&all);
        let first: Vec<f32> = all[..needed - window]
            .iter()
            .map(|ln| ln.clamp(centre - 4.0 * spread, centre + 4.0 * spread))
            .collect();
        first.chunks(BLOCK).for_each(|block| series.baseline.add(block));
        series.quarantined = window as u8;
        series.state = State::Clear;
        self.refresh(i);
        self.watch(i)
    }

    /// Lets the oldest block out of quarantine into the baseline.
    fn release_block(&mut self, i: usize) {
        let quarantined = self.series[i].quarantined as usize;
        let block = self.join_baseline(i, quarantined - BLOCK..quarantined);
        self.settle_with(i, &block);
        self.series[i].quarantined -= BLOCK as u8;
        self.refresh(i);
    }

    fn join_baseline(&mut self, i: usize, ages: std::ops::Range<usize>) -> Vec<f32> {
        let series = &mut self.series[i];
        let (centre, clip) = (series.baseline.mean, series.clip.max(series.baseline.sigma * 4.0));
        let readings: Vec<f32> = series
            .readings(ages)
            .iter()
            .map(|ln| ln.clamp(centre - clip, centre + clip))
            .collect();
        readings
            .chunks(BLOCK)
            .for_each(|block| series.baseline.add(block));
        readings
    }

    /// Lets everything out of quarantine that nothing was held against: the series ends here.
    fn settle_rest(&mut self, i: usize) {
        let window = self.params.window;
        let quarantined = self.series[i].quarantined as usize;
        if self.series[i].settling.is_some() && quarantined > window {
            let block = self.series[i].readings(window..quarantined);
            self.settle_with(i, &block);
        }
    }

    /// Thresholds and sums after baseline or regime changed.
    fn refresh(&mut self, i: usize) {
        let params = self.params;
        let series = &mut self.series[i];
        let base = &series.baseline;
        if base.is_empty() {
            return;
        }
        let window = params.window as f32;
        // A spread that was estimated from few readings is uncertain itself.
        let eta = params.eta as f32 * (1.0 + 4.0 / base.readings);
        let least = params.least_rise(base.mean);
        let error = |window: f32, slow: f32| {
            let white = standard_error(base.sigma.into(), window.into(), base.readings.into()) as f32;
            (eta * white.max(slow)).max(least)
        };
        series.threshold = error(window, 0.9 * base.sigma_blocks);
        series.threshold_long = error(4.0 * window, 0.5 * base.sigma_blocks);
        series.clip = 2.0 * series.threshold;
        let sum_of = |n: usize| {
            (0..n.min(series.usable as usize))
                .map(|a| series.deviation(series.recent.ln(a)))
                .sum()
        };
        (series.sum, series.sum_long) = (sum_of(params.window), sum_of(4 * params.window));
    }

    fn signed_ln(&self, value: f64) -> f32 {
        let ln = value.max(self.params.floor).ln() as f32;
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
                (1.0 + self.least_effect)
                    .max(1.0 + self.least_change / level)
                    .ln() as f32
            }
        }
    }
}

/// Readings that stay in quarantine: as many as the baseline has, so that a young one grows fast.
fn quarantine(series: &Series) -> usize {
    (series.baseline.readings as usize).clamp(BLOCK, QUARANTINE)
}

/// Median, and the standard deviation as the median deviation tells it.
fn median_and_spread(readings: &[f32]) -> (f32, f32) {
    let median = |mut list: Vec<f32>| {
        list.sort_by(f32::total_cmp);
        (list[list.len() / 2] + list[(list.len() - 1) / 2]) / 2.0
    };
    let centre = median(readings.to_vec());
    let spread = median(readings.iter().map(|x| (x - centre).abs()).collect());
    (centre, (1.4826 * spread).max(0.01))
}
