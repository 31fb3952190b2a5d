//! The Actionable Metric Model as SAND2016-9525 prints it (section 4.2.1), with the errata of GUIDE section 1.
//!
//! Two windows of `omega` readings: the latest ones, and the latest ones judged not contended. As long as
//! nothing is flagged both hold the same readings, so a series keeps one window and a running sum; the
//! other is set aside when an episode begins and dropped when `omega` clear readings made them equal again.

use super::{Closing, Knowledge, ModelEvent, Params, Reading};
use crate::equations::{LossSums, lost_fraction};
use schemas::{Direction, State, Time, growth};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What the hot path touches of a series: one cache line. Sums are taken about `anchor`, a mean of the
/// recent past, so that they stay exact where the spread is small compared with the level.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
struct Header {
    anchor: f64,
    sum: f64,
    squares: f64,
    /// `ln` of the bound after the latest tick; NaN, which nothing passes, before there is one.
    ln_bound: f64,
    slowdown_s: f64,
    last: Time,
    /// The reading that the newest one displaced from the window.
    displaced: f64,
    readings: u16,
    slot: u8,
    state: State,
    apart: bool,
}

/// The non-contended window of a series whose latest window holds, or lately held, contended readings.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Apart {
    window: Vec<f64>,
    slot: usize,
    /// Clear readings in a row; at `omega` both windows are equal again.
    clear: usize,
    open: Option<Closing>,
}

/// Published model for all series of one metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PublishedBank {
    pub(super) params: Params,
    headers: Vec<Header>,
    /// Logarithms of the latest `omega` readings, `omega` per series.
    windows: Vec<f64>,
    apart: HashMap<u32, Apart>,
}

impl Header {
    fn new(slowdown_s: f64) -> Header {
        Header {
            anchor: 0.0,
            sum: 0.0,
            squares: 0.0,
            ln_bound: f64::NAN,
            slowdown_s,
            last: Time::MIN,
            displaced: 0.0,
            readings: 0,
            slot: 0,
            state: State::Warmup,
            apart: false,
        }
    }
}

impl PublishedBank {
    /// A bank without series.
    pub fn new(params: Params) -> PublishedBank {
        PublishedBank { params, headers: Vec::new(), windows: Vec::new(), apart: HashMap::new() }
    }

    /// Adds a series; its number is the count of those before it.
    pub fn add(&mut self) {
        growth::push(&mut self.headers, Header::new(0.0));
        growth::extend_to(&mut self.windows, self.headers.len() * self.params.window, 0.0);
    }

    /// Makes series `i` one without readings.
    pub fn reset(&mut self, i: usize) {
        let window = self.params.window;
        self.headers[i] = Header::new(0.0);
        self.windows[i * window..(i + 1) * window].fill(0.0);
    }

    /// Series in the bank.
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether the bank has no series.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Takes one reading of series `i`.
    pub fn update(&mut self, i: usize, reading: &Reading) -> ModelEvent {
        if !reading.active {
            return self.idle(i, reading);
        }
        let ln = reading.value.max(self.params.floor).ln();
        let window = self.params.window;
        let header = &mut self.headers[i];
        push(header, &mut self.windows[i * window..(i + 1) * window], ln);
        if header.apart {
            return self.update_apart(i, reading, ln);
        }
        let before = header.last;
        header.last = reading.time;
        if (header.readings as usize) < window {
            header.state = State::Warmup;
            return ModelEvent::Nothing;
        }
        let mean = header.anchor + header.sum / window as f64;
        if passes(self.params.direction, mean, header.ln_bound) {
            return self.begin(i, reading, before);
        }
        header.ln_bound = ln_bound(header, &self.params);
        header.state = State::Clear;
        ModelEvent::Nothing
    }

    /// Forgets everything of series `i` but its accumulated loss; its open episode ends at its last reading.
    pub fn restart(&mut self, i: usize) -> ModelEvent {
        let header = &mut self.headers[i];
        let end = header.last;
        *header = Header::new(header.slowdown_s);
        let closing = self.apart.remove(&(i as u32)).and_then(|apart| apart.open);
        closing.map_or(ModelEvent::Nothing, |c| ModelEvent::Ended(Closing { end, ..c }))
    }

    /// Whether series `i` has no full window yet.
    pub fn awaits_baseline(&self, i: usize) -> bool {
        (self.headers[i].readings as usize) < self.params.window
    }

    /// What is known of series `i`.
    pub fn knowledge(&self, i: usize) -> Knowledge {
        let header = &self.headers[i];
        let nothing = Knowledge {
            mean: f64::NAN,
            baseline: f64::NAN,
            bound: f64::NAN,
            state: header.state,
            slowdown_s: header.slowdown_s,
        };
        if header.readings == 0 {
            return nothing;
        }
        let n = header.readings as f64;
        let mean = (header.anchor + header.sum / n).exp();
        if (header.readings as usize) < self.params.window {
            return Knowledge { mean, ..nothing };
        }
        let baseline = self.ln_baseline(i).exp();
        Knowledge { mean, baseline, bound: header.ln_bound.exp(), ..nothing }
    }

    /// The open episode of series `i`.
    pub fn open_episode(&self, i: usize) -> Option<Closing> {
        self.apart.get(&(i as u32)).and_then(|apart| apart.open)
    }

    /// A tick without activity enters neither window: it shows nothing of contention (DESIGN section 5).
    fn idle(&mut self, i: usize, reading: &Reading) -> ModelEvent {
        let end = self.headers[i].last;
        self.headers[i].last = reading.time;
        self.headers[i].state = State::Idle;
        let open = self.apart.get_mut(&(i as u32)).and_then(|apart| apart.open.take());
        open.map_or(ModelEvent::Nothing, |c| ModelEvent::Ended(Closing { end, ..c }))
    }

    fn begin(&mut self, i: usize, reading: &Reading, before: Time) -> ModelEvent {
        let window = self.params.window;
        let header = &self.headers[i];
        // The window of the tick before: the newest reading exchanged for the one it displaced.
        let newest = (header.slot as usize + window - 1) % window;
        let mut set_aside = self.windows[i * window..(i + 1) * window].to_vec();
        set_aside[newest] = header.displaced;
        let open = Closing { start: before, end: reading.time, ..Closing::default() };
        self.headers[i].apart = true;
        self.apart.insert(i as u32, Apart { window: set_aside, slot: newest, clear: 0, open: Some(open) });
        self.continue_episode(i, reading);
        ModelEvent::Began
    }

    fn update_apart(&mut self, i: usize, reading: &Reading, ln: f64) -> ModelEvent {
        let window = self.params.window;
        let header = &mut self.headers[i];
        let before = header.last;
        header.last = reading.time;
        let mean = header.anchor + header.sum / window as f64;
        if passes(self.params.direction, mean, header.ln_bound) {
            let new = self.apart.get(&(i as u32)).is_some_and(|apart| apart.open.is_none());
            if new && let Some(apart) = self.apart.get_mut(&(i as u32)) {
                apart.open = Some(Closing { start: before, end: reading.time, ..Closing::default() });
            }
            self.continue_episode(i, reading);
            return if new { ModelEvent::Began } else { ModelEvent::Ongoing };
        }
        self.clear_apart(i, before, ln)
    }

    /// A clear tick while the windows differ: the reading joins the non-contended one.
    fn clear_apart(&mut self, i: usize, end: Time, ln: f64) -> ModelEvent {
        let Some(apart) = self.apart.get_mut(&(i as u32)) else {
            return ModelEvent::Nothing;
        };
        apart.window[apart.slot] = ln;
        apart.slot = (apart.slot + 1) % apart.window.len();
        apart.clear += 1;
        let closed = apart.open.take();
        let header = &mut self.headers[i];
        header.state = State::Clear;
        header.ln_bound = ln_bound_of(&apart.window, &self.params);
        if apart.clear >= apart.window.len() {
            self.apart.remove(&(i as u32));
            header.apart = false;
        }
        closed.map_or(ModelEvent::Nothing, |c| ModelEvent::Ended(Closing { end, ..c }))
    }

    fn continue_episode(&mut self, i: usize, reading: &Reading) {
        let params = self.params;
        let header = &mut self.headers[i];
        let mean = (header.anchor + header.sum / params.window as f64).exp();
        let Some(apart) = self.apart.get_mut(&(i as u32)) else {
            return;
        };
        apart.clear = 0;
        let baseline = (apart.window.iter().sum::<f64>() / params.window as f64).exp();
        let seconds = f64::from(reading.span_ticks) * params.tick_s;
        let lost_s = lost_fraction(mean, baseline, params.direction, params.slowdown) * seconds;
        header.slowdown_s += lost_s;
        header.state = State::Contended;
        let Some(open) = apart.open.as_mut() else { return };
        open.loss = LossSums { lost_s: open.loss.lost_s + lost_s, ..open.loss };
        let worse = open.ticks_seen == 0 || passes(params.direction, mean, open.peak);
        open.peak = if worse { mean } else { open.peak };
        open.baseline = baseline;
        open.end = reading.time;
        open.ticks_seen += 1;
        open.ticks_expected += u32::from(reading.span_ticks);
    }

    fn ln_baseline(&self, i: usize) -> f64 {
        let header = &self.headers[i];
        match self.apart.get(&(i as u32)) {
            Some(apart) => apart.window.iter().sum::<f64>() / apart.window.len() as f64,
            None => header.anchor + header.sum / f64::from(header.readings),
        }
    }
}

/// Puts `ln` into the window and the sums.
fn push(header: &mut Header, ring: &mut [f64], ln: f64) {
    let slot = header.slot as usize;
    let old = ring[slot];
    ring[slot] = ln;
    header.displaced = old;
    header.slot = if slot + 1 == ring.len() { 0 } else { slot as u8 + 1 };
    if (header.readings as usize) < ring.len() {
        header.readings += 1;
        resum(header, &ring[..header.readings as usize]);
        return;
    }
    if header.slot == 0 {
        resum(header, ring);
        return;
    }
    let (gone, come) = (old - header.anchor, ln - header.anchor);
    header.sum += come - gone;
    header.squares += come * come - gone * gone;
}

/// Computes the sums again about the window's own mean, so that rounding never builds up.
fn resum(header: &mut Header, window: &[f64]) {
    let anchor = window.iter().sum::<f64>() / window.len() as f64;
    header.anchor = anchor;
    header.sum = window.iter().map(|x| x - anchor).sum();
    header.squares = window.iter().map(|x| (x - anchor).powi(2)).sum();
}

fn passes(direction: Direction, ln_mean: f64, ln_bound: f64) -> bool {
    crate::equations::passes(ln_mean, ln_bound, direction)
}

fn ln_bound(header: &Header, params: &Params) -> f64 {
    let n = params.window as f64;
    let mean = header.sum / n;
    let sigma = (header.squares / n - mean * mean).max(0.0).sqrt();
    header.anchor + mean + signed(params, sigma)
}

fn ln_bound_of(window: &[f64], params: &Params) -> f64 {
    let n = window.len() as f64;
    let mean = window.iter().sum::<f64>() / n;
    let sigma = (window.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    mean + signed(params, sigma)
}

fn signed(params: &Params, sigma: f64) -> f64 {
    match params.direction {
        Direction::Rising => params.eta * sigma,
        Direction::Falling => -params.eta * sigma,
    }
}
