//! An open episode of a series: its beginning, its course and its end.

use super::phase::OFF_PHASE_RISE;
use super::{Closing, ModelEvent, RobustBank, Stage, State, Time};
use crate::equations::{LossSums, lognormal_mean, standard_error, variance_inflation};
use schemas::Direction;
use serde::{Deserialize, Serialize};

/// Windows in which the end of contention is looked for: the short ones are quick where noise is low.
const END_WINDOWS: [usize; 5] = [4, 8, 16, 32, 48];
/// Standard errors by which a window must lie nearer to the baseline than half-way.
const END_ERRORS: f32 = 3.0;
/// Readings by which the depth lags, so that the recovery does not wash it out.
const DEPTH_LAG: usize = 48;
/// A reading of a rate counts for at most so many baselines.
const MOST_GAIN: f64 = 2.0;
/// Ticks by which an edge is uncertain for a noise of 1: contention ends little by little, and noise hides its last part. By the
/// time error in ACCURACY.md.
const SLOW_END: f64 = 20.0;
/// Smoothing of the depth.
const DEPTH_GAIN: f32 = 1.0 / 16.0;

/// What is kept of an open episode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) start: Time,
    pub(super) loss: LossSums,
    peak: f32,
    /// How far the readings lie above the baseline, smoothed and late.
    pub(super) depth: f32,
    readings: u32,
    ticks: u32,
    /// Sum of squared differences of successive readings: noise that steps of level hardly touch.
    squares: f64,
    /// Ends at which the series became active or idle: the tick of that is left out, half of which it was contended on average.
    cut_ends: u8,
    /// Least relative error of the baseline, from what is known of the others.
    baseline_error: f64,
    /// Whether others got no more each, so that next to nothing is no phase of its own.
    pub(super) is_equal_share: bool,
}

impl RobustBank {
    /// Opens an episode at the change point and charges what was lost since.
    pub(super) fn begin(&mut self, i: usize) -> ModelEvent {
        let free = self.free(i);
        let change = self.change_point(i, free);
        let ended = self.settling_end(i);
        self.forget_settling(i);
        let quarantined = self.watch[i].quarantined as usize;
        // The reading before the change may be contended in part: it joins nothing.
        if quarantined > change.age + 2 {
            self.join_baseline(i, change.age + 2..quarantined);
            self.refresh(i);
        }
        let since = change.age + 1;
        let least = self.params.least_rise(self.watch[i].centre) / 2.0;
        let depth =
            (self.recent.mean(i, since.min(2 * self.params.window)) - self.watch[i].centre).max(least);
        let watch = &mut self.watch[i];
        watch.quarantined = 0;
        watch.usable = since as u8;
        watch.stage = Stage::Contended;
        watch.state = State::Contended;
        watch.suspected_since = Time::MIN;
        self.memory[i].open = Some(Box::new(Open::new(change.start.max(ended), depth)));
        for age in (0..since).rev() {
            self.charge(i, age);
        }
        if self.was_idle_before(i, change.age) {
            self.cut_end(i);
        } else {
            self.refine_start(i, change.age, free, ended);
        }
        ModelEvent::Began
    }

    /// See [`Bank::doubt_baseline`].
    ///
    /// [`Bank::doubt_baseline`]: crate::model::Bank::doubt_baseline
    pub fn doubt_baseline(&mut self, i: usize, error: f64) {
        if let Some(open) = self.memory[i].open.as_deref_mut() {
            open.baseline_error = open.baseline_error.max(error);
        }
    }

    /// Whether nothing was read for more than a tick before the reading of `age`.
    fn was_idle_before(&self, i: usize, age: usize) -> bool {
        let span_s = f64::from(self.recent.span_ticks(i, age)) * self.params.tick_s;
        let since = self.recent.time(i, age).plus_seconds(-span_s);
        age + 1 < self.recent.len(i)
            && since.seconds_since(self.recent.time(i, age + 1)) > self.params.tick_s / 2.0
    }

    /// The open episode begins or ends with a tick in which the series was active in part.
    pub(super) fn cut_end(&mut self, i: usize) {
        if let Some(open) = self.memory[i].open.as_deref_mut() {
            open.cut_ends += 1;
        }
    }

    /// One more reading of an open episode.
    pub(super) fn continue_episode(&mut self, i: usize) -> ModelEvent {
        self.charge(i, 0);
        let window = self.params.window;
        let centre = self.watch[i].centre;
        let lagged = self.recent.ln(i, DEPTH_LAG) - centre;
        let least = self.params.least_rise(centre) / 2.0;
        let Some(open) = self.memory[i].open.as_deref_mut() else {
            return ModelEvent::Nothing;
        };
        if open.readings as usize > DEPTH_LAG {
            open.depth = (open.depth + (lagged - open.depth) * DEPTH_GAIN).max(least);
        }
        let long_enough = open.readings as usize > 2 * window;
        let off = self.params.needs_judgement
            && long_enough
            && !open.is_equal_share
            && self.recent.mean(i, window) - centre > OFF_PHASE_RISE;
        if self.has_ended(i) {
            return self.end_at_change(i);
        }
        if off {
            let closed = self.close_at_last(i);
            self.watch[i].usable = window as u8;
            self.watch[i].quarantined = window as u8;
            self.resum(i);
            self.change_level(i);
            return closed;
        }
        ModelEvent::Ongoing
    }

    /// Whether one of the windows lies nearer to the baseline than to the contended level, surely.
    fn has_ended(&self, i: usize) -> bool {
        let Some(open) = self.memory[i].open.as_deref() else {
            return false;
        };
        let above_edge = self.above_edge(i, open);
        END_WINDOWS.iter().any(|w| open.readings as usize >= *w && above_edge(*w) < 0.0)
    }

    /// By how much the mean of the latest readings exceeds the edge below which an open episode ends. NaN without such an episode,
    /// and while it has too few readings to end.
    pub(super) fn margin(&self, i: usize) -> f32 {
        let Some(open) = self.memory[i].open.as_deref() else {
            return f32::NAN;
        };
        let most = (open.readings as usize).min(self.params.window.max(END_WINDOWS[0]));
        END_WINDOWS.iter().rfind(|w| **w <= most).map_or(f32::NAN, |w| self.above_edge(i, open)(*w))
    }

    /// By how much the mean of a window of latest readings exceeds the edge.
    fn above_edge(&self, i: usize, open: &Open) -> impl Fn(usize) -> f32 {
        let sigma = self.memory[i].baseline.sigma.max(open.noise() as f32);
        let centre = self.watch[i].centre;
        let least = self.params.least_rise(centre);
        let edge = (open.depth / 2.0).min(least.max(1.5 * sigma)).max(least / 2.0);
        move |w: usize| {
            let rises = (0..w).map(|age| (self.recent.ln(i, age) - centre).max(-edge));
            rises.sum::<f32>() / (w as f32) - (edge - END_ERRORS * sigma / (w as f32).sqrt())
        }
    }

    /// Ends the episode where the readings returned, and takes back what was charged since.
    fn end_at_change(&mut self, i: usize) -> ModelEvent {
        let depth = self.memory[i].open.as_deref().map_or(0.0, |open| open.depth);
        let middle = self.watch[i].centre + depth / 2.0;
        let (mut best, mut sum, mut clear) = (0.0, 0.0, 0);
        for age in 0..self.watch[i].usable as usize {
            sum += (middle - self.recent.ln(i, age)).clamp(-depth, depth);
            if sum > best {
                (best, clear) = (sum, age + 1);
            }
        }
        for age in 0..clear {
            self.take_back(i, age);
        }
        let end = self.refined_end(i, clear);
        let end = self.emptied(i).unwrap_or(end);
        if self.params.needs_judgement {
            self.remember_fall(i, self.watch[i].centre + depth);
        }
        let mut closed = self.close(i, end);
        if let ModelEvent::Ended(closing) = &mut closed {
            closing.recovered = true;
        }
        self.begin_settling(i, &closed);
        let watch = &mut self.watch[i];
        watch.usable = clear as u8;
        watch.free = clear as u8;
        watch.quarantined = clear as u8;
        watch.state = State::Clear;
        self.refresh(i);
        closed
    }

    /// Where the open episode began, if all of its readings were taken back: it lost nothing.
    fn emptied(&mut self, i: usize) -> Option<Time> {
        let open = self.memory[i].open.as_deref_mut().filter(|open| open.readings == 0)?;
        self.watch[i].slowdown_s -= std::mem::take(&mut open.loss).lost_s;
        Some(open.start)
    }

    /// Ends the open episode, if there is one, at the latest reading.
    pub(super) fn close_at_last(&mut self, i: usize) -> ModelEvent {
        self.close(i, self.recent.last(i))
    }

    fn close(&mut self, i: usize, end: Time) -> ModelEvent {
        let Some(open) = self.memory[i].open.take() else {
            return ModelEvent::Nothing;
        };
        self.watch[i].stage = Stage::Watching;
        self.watch[i].free = 0;
        let closing = self.closing(i, &open, end);
        self.watch[i].slowdown_s += closing.loss.lost_s - open.loss.lost_s;
        ModelEvent::Ended(closing)
    }

    /// Removes the newest reading: it turned out to be cut short.
    pub(super) fn take_back_newest(&mut self, i: usize) {
        if self.memory[i].open.is_some() {
            self.take_back(i, 0);
        }
        self.recent.pop(i);
        let watch = &mut self.watch[i];
        watch.usable = watch.usable.saturating_sub(1);
        watch.free = watch.free.saturating_sub(1);
        watch.quarantined = watch.quarantined.saturating_sub(1);
    }

    fn charge(&mut self, i: usize, age: usize) {
        let mean = self.mean_ending_at(i, age, self.params.window);
        let step = self.step_before(i, age);
        let (loss, span_ticks) = self.loss_of(i, age);
        self.watch[i].slowdown_s += loss.lost_s;
        let Some(open) = self.memory[i].open.as_deref_mut() else {
            return;
        };
        open.loss = open.loss.plus(&loss);
        open.squares += f64::from(step * step);
        open.readings += 1;
        open.ticks += u32::from(span_ticks);
        open.peak = open.peak.max(mean);
    }

    fn take_back(&mut self, i: usize, age: usize) {
        let step = self.step_before(i, age);
        let (loss, span_ticks) = self.loss_of(i, age);
        self.watch[i].slowdown_s -= loss.lost_s;
        let Some(open) = self.memory[i].open.as_deref_mut() else {
            return;
        };
        open.loss = open.loss.minus(&loss);
        open.squares -= f64::from(step * step);
        open.readings = open.readings.saturating_sub(1);
        open.ticks = open.ticks.saturating_sub(u32::from(span_ticks));
    }

    pub(super) fn loss_of(&self, i: usize, age: usize) -> (LossSums, u8) {
        let params = &self.params;
        let base = &self.memory[i].baseline;
        let baseline = lognormal_mean(params.value(base.mean), f64::from(base.sigma.min(0.5)));
        let reading = params.value(self.recent.ln(i, age));
        let span_ticks = self.recent.span_ticks(i, age);
        let mut loss = LossSums::default();
        let seconds = f64::from(span_ticks) * params.tick_s;
        // A burst gives back no more than it lasts: what was lost before it stays lost.
        let reading = match params.direction {
            Direction::Falling => reading.min(MOST_GAIN * baseline),
            Direction::Rising => reading,
        };
        loss.add(reading, baseline, seconds, params.direction, params.slowdown);
        (loss, span_ticks)
    }

    /// Step to the reading of `age` within the episode, cut so that stages do not count as noise.
    fn step_before(&self, i: usize, age: usize) -> f32 {
        if age + 1 >= self.watch[i].usable as usize {
            return 0.0;
        }
        let limit = 4.0 * self.memory[i].baseline.sigma;
        (self.recent.ln(i, age) - self.recent.ln(i, age + 1)).clamp(-limit, limit)
    }

    /// Mean of up to `window` readings of the episode that end at `age`.
    fn mean_ending_at(&self, i: usize, age: usize, window: usize) -> f32 {
        let oldest = (age + window).min(self.watch[i].usable as usize).max(age + 1);
        (age..oldest).map(|a| self.recent.ln(i, a)).sum::<f32>() / (oldest - age) as f32
    }

    /// The episode so far, with its interval.
    pub(super) fn closing(&self, i: usize, open: &Open, end: Time) -> Closing {
        let params = &self.params;
        let base = &self.memory[i].baseline;
        let readings = f64::from(base.readings);
        let sigma = f64::from(base.sigma);
        let slow = f64::from(base.sigma_blocks) * (8.0 / readings).sqrt();
        let baseline_sd = base.error_of_mean(readings).max(slow).max(open.baseline_error);
        let noise = sigma.max(open.noise());
        // Errors of correlated readings do not cancel as those of independent ones do.
        let inflation =
            variance_inflation(f64::from(open.readings.max(1)), base.possible_correlation().into());
        let depth = f64::from(open.depth).max(0.01);
        // The change point is known to the tick, and worse where the step drowns in noise.
        let edge = 0.3 + 1.5 * (noise / depth).powi(2) + SLOW_END * noise * noise;
        let edge_s = params.tick_s * edge.min(10.0);
        let duration_s = end.seconds_since(open.start);
        let few = 1.0 + 2.0 / readings;
        let left_out = f64::from(open.cut_ends) / 2.0 / f64::from(open.ticks.max(1));
        let loss = open.loss.times(1.0 + left_out);
        self.with_doubt(
            i,
            Closing {
                start: open.start,
                end,
                peak: params.value(open.peak),
                baseline: params.value(base.mean),
                loss,
                half_width_s: 1.96
                    * few
                    * loss.sd_s(baseline_sd, noise * inflation.sqrt(), edge_s, duration_s),
                ticks_seen: open.readings,
                ticks_expected: open.ticks.max((duration_s / params.tick_s).round() as u32),
                recovered: false,
            },
        )
    }

    /// An interval reaches 0 where the noise of the series alone, as it is known by now, could fall as deep for as long: the
    /// correlation of readings shows late.
    pub(super) fn with_doubt(&self, i: usize, closing: Closing) -> Closing {
        let duration_s = closing.end.seconds_since(closing.start);
        if !self.params.needs_judgement || closing.loss.lost_s <= 0.0 || duration_s <= 0.0 {
            return closing;
        }
        let base = &self.memory[i].baseline;
        let left = 1.0 - (closing.loss.lost_s / duration_s).min(0.99);
        let seen = f64::from(closing.ticks_seen.max(1));
        let correlation = f64::from(base.likely_correlation);
        let error = standard_error(base.sigma.into(), seen, base.readings.into(), correlation);
        let is_doubtful = -left.ln() < self.params.eta * error;
        let least_s = if is_doubtful { closing.loss.lost_s } else { 0.0 };
        Closing { half_width_s: closing.half_width_s.max(least_s), ..closing }
    }
}

impl Open {
    fn new(start: Time, depth: f32) -> Open {
        let loss = LossSums::default();
        Open {
            start,
            loss,
            peak: f32::MIN,
            depth,
            readings: 0,
            ticks: 0,
            squares: 0.0,
            cut_ends: 0,
            baseline_error: 0.0,
            is_equal_share: false,
        }
    }

    /// Standard deviation of single readings within the episode.
    pub(super) fn noise(&self) -> f64 {
        if self.readings < 8 {
            return 0.0;
        }
        (self.squares.max(0.0) / (2.0 * f64::from(self.readings))).sqrt()
    }
}
