//! Order of the rows of one source.
//!
//! A row that follows the one before by a tick is used at once. A row that leaves a hole waits until the
//! hole can no longer be filled: until the component's watermark, its newest timestamp less the lateness,
//! has passed it. So disorder costs time only where there is disorder.

use super::silence::{SILENT_INTERVALS, SilenceWatch};
use crate::settings::StreamSettings;
use schemas::{DropReason, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Rows kept ahead of a hole; at 1 Hz far more than any lateness needs.
const HELD_MAX: usize = 64;
/// Timestamps remembered to distinguish a repeated row from a late one.
const REMEMBERED: usize = 16;
/// Equal intervals after which a source is known to be slower than the tick.
const STEADY: u8 = 8;

/// A row: its time and counters.
pub type Row = (Time, Box<[u64]>);

/// State of one source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    last: Option<Time>,
    held: VecDeque<Row>,
    remembered: VecDeque<Time>,
    /// Interval of the latest rows and how often in a row it came.
    interval_us: i64,
    steady: u8,
    silence: SilenceWatch,
}

impl Order {
    /// Takes a row. It is used at once (`used` is called), held until [`Order::use_first_held`], or refused with a
    /// reason.
    pub fn offer(
        &mut self,
        time: Time,
        counters: &[u64],
        watermark: Time,
        settings: &StreamSettings,
        mut used: impl FnMut(Time, &[u64]),
    ) -> Result<(), DropReason> {
        self.refuse(time, watermark)?;
        let at_once = self.held.is_empty() && self.follows(time, settings);
        self.silence.note_row(time);
        if at_once {
            self.use_row(time, settings);
            used(time, counters);
            return Ok(());
        }
        let at = self.held.partition_point(|(held, _)| *held < time);
        if self.held.get(at).is_some_and(|(held, _)| *held == time) {
            return Err(DropReason::Duplicate);
        }
        self.held.insert(at, (time, counters.into()));
        Ok(())
    }

    /// Time of the first row that is held.
    pub fn first_held(&self) -> Option<Time> {
        self.held.front().map(|(time, _)| *time)
    }

    /// Whether the first row that is held follows the last one that was used, or too many are held.
    pub fn continues(&self, settings: &StreamSettings) -> bool {
        self.first_held().is_some_and(|time| self.held.len() > HELD_MAX || self.follows(time, settings))
    }

    /// The latest row that is held.
    pub fn last_held(&self) -> Option<&Row> {
        self.held.back()
    }

    /// Begins again at an earlier time; how many rows were held.
    pub fn restart(&mut self) -> usize {
        let held = self.held.len();
        self.silence.restart();
        *self = Order { silence: std::mem::take(&mut self.silence), ..Order::default() };
        held
    }

    /// The first row that is held, which is used now.
    pub fn use_first_held(&mut self, settings: &StreamSettings) -> Option<Row> {
        let (time, counters) = self.held.pop_front()?;
        if self.held.is_empty() {
            // Rows in order need none.
            self.held = VecDeque::new();
        }
        self.use_row(time, settings);
        Some((time, counters))
    }

    fn refuse(&self, time: Time, watermark: Time) -> Result<(), DropReason> {
        let passed = self.last.is_some_and(|last| time <= last);
        if !passed && time >= watermark {
            return Ok(());
        }
        let seen = self.remembered.contains(&time);
        Err(if seen { DropReason::Duplicate } else { DropReason::Late })
    }

    /// Whether no row can lie between the last one and `time`. Nothing follows the unknown: the first row
    /// waits, since an earlier one may still come.
    fn follows(&self, time: Time, settings: &StreamSettings) -> bool {
        let tick_us = (settings.tick_s * 1e6) as i64;
        let usual_us = (self.usual_s(settings) * 1e6) as i64;
        self.last.is_some_and(|last| time - last <= usual_us + tick_us / 2)
    }

    /// Seconds between two rows of the source.
    fn usual_s(&self, settings: &StreamSettings) -> f64 {
        let interval_s = self.interval_us as f64 / 1e6;
        if self.steady >= STEADY { interval_s.max(settings.tick_s) } else { settings.tick_s }
    }

    /// Looks whether the source is silent, the stream being read up to `now`; rows take `delay_s` to come.
    pub fn look(&mut self, now: Time, delay_s: f64, settings: &StreamSettings) {
        self.silence.look(now, self.silent_after_s(delay_s, settings));
    }

    /// Whether a look would find it silent.
    pub fn is_overdue(&self, now: Time, delay_s: f64, settings: &StreamSettings) -> bool {
        self.silence.is_overdue(now, self.silent_after_s(delay_s, settings))
    }

    fn silent_after_s(&self, delay_s: f64, settings: &StreamSettings) -> f64 {
        delay_s + SILENT_INTERVALS * self.usual_s(settings)
    }

    /// Time of the latest row that came, in whatever order.
    pub fn newest_row(&self) -> Option<Time> {
        self.silence.newest_row()
    }

    /// Time of the latest row in order.
    pub fn last(&self) -> Option<Time> {
        self.last
    }

    /// Another source replaces it at `time`.
    pub fn succeeded(&mut self, time: Time, settings: &StreamSettings) {
        if let Some(last) = self.last.filter(|last| *last < time) {
            self.silence.follow(last, time, self.usual_s(settings));
        }
    }

    /// Whether the source is silent now.
    pub fn is_silent(&self) -> bool {
        self.silence.is_silent()
    }

    /// When it was silent.
    pub fn silence(&mut self) -> &mut SilenceWatch {
        &mut self.silence
    }

    fn use_row(&mut self, time: Time, settings: &StreamSettings) {
        if let Some(last) = self.last {
            self.silence.follow(last, time, self.usual_s(settings));
            let interval = time - last;
            let like_before = (interval - self.interval_us).abs() * 10 < self.interval_us;
            self.steady = if like_before { self.steady.saturating_add(1) } else { 0 };
            self.interval_us = interval;
        }
        self.last = Some(time);
        if self.remembered.len() == REMEMBERED {
            self.remembered.pop_front();
        }
        self.remembered.push_back(time);
    }
}
