//! A clock that was ahead and is right again: the component begins again at the earlier time, within three rows.
//!
//! Late rows look alike, but their counters lie behind. A clock has stepped back where the counters are ahead of the latest
//! row's, or where rows fall, one after the other, into the time that a leap passed over. Where others report, their time
//! decides which of the two clocks is wrong.

use super::clock::JUMP_S;
use super::component::Component;
use super::order::Row;
use super::reporter::Reporter;
use schemas::{DropCounts, DropReason, Name, Time};

/// Seconds behind the component's newest row from which on a row may show that a clock stepped back; less passes by itself.
const BACK_S: f64 = 10.0;
/// Rows in a row that show it.
const CONFIRMED: usize = 3;
/// Rows in a row, within the time that a leap passed over, that show it whatever their counters are.
const CONFIRMED_BY_TIME: u32 = 60;
/// Rows in a row by which one source shows a leap ahead while others of its component were not ahead.
const DOUBTS: u8 = 3;

impl Component {
    /// Looks whether a row shows that the clock stepped back. `None`: it does not; else the rows that are used now, which
    /// are none until enough of them came.
    pub(super) fn steps_back(
        &mut self,
        slot: usize,
        time: Time,
        counters: &[u64],
        drops: &mut DropCounts,
    ) -> Option<Vec<Row>> {
        let newest = self.newest?;
        if newest.seconds_since(time) <= BACK_S {
            if newest.seconds_since(time) >= -JUMP_S && !self.clocks_agree {
                self.reporters.iter_mut().for_each(|reporter| reporter.forget_back(drops));
            }
            return None;
        }
        self.clocks_agree = false;
        let is_passed_over = self.is_passed_over(time);
        let is_worse = self.others.is_some_and(|now| (time - now).abs() > (newest - now).abs());
        let reporter = &mut self.reporters[slot];
        reporter.back_run = if is_passed_over { reporter.back_run.saturating_add(1) } else { 0 };
        let is_shown = reporter.is_behind(counters) || reporter.back_run >= CONFIRMED_BY_TIME;
        if is_worse || !is_shown {
            let run = reporter.back_run;
            reporter.forget_back(drops);
            reporter.back_run = run;
            return None;
        }
        let follows = |(last, _): &Row| time > *last && time.seconds_since(*last) <= JUMP_S;
        if !reporter.back.last().is_none_or(follows) {
            reporter.forget_back(drops);
        }
        reporter.back.push((time, counters.into()));
        if reporter.back.len() < CONFIRMED {
            return Some(Vec::new());
        }
        let rows = std::mem::take(&mut reporter.back);
        self.restart_at(rows[0].0, drops);
        Some(rows)
    }

    /// Whether `time` lies where the component's time leapt.
    fn is_passed_over(&self, time: Time) -> bool {
        self.leapt.is_some_and(|(from, to)| time < to && from.is_none_or(|from| time > from))
    }

    /// Begins again at `time`. Rows that were ahead are counted.
    fn restart_at(&mut self, time: Time, drops: &mut DropCounts) {
        let held: usize = self.reporters.iter_mut().map(|reporter| reporter.order.restart()).sum();
        let ahead = match self.is_passed_over(time) {
            true => self.since_leap.saturating_sub(self.counted_ahead),
            false => held as u64,
        };
        (0..ahead).for_each(|_| drops.count(DropReason::ClockAhead));
        self.counted_ahead += ahead;
        (self.newest, self.quiet_until) = (Some(time), None);
        (self.leapt, self.since_leap) = (None, 0);
        for reporter in &mut self.reporters {
            reporter.rows.clear();
            reporter.back_run = 0;
            if reporter.doubted.take().is_some() {
                drops.count(DropReason::ClockJump);
            }
        }
        for part in &mut self.parts {
            part.last = part.last.map(|_| time);
            part.used = part.used.map(|_| time);
            (part.next, part.deferred, part.tried, part.is_other) = (None, None, 0, true);
        }
        self.unowned = self.unowned.map(|_| time);
        if let Some(whole) = self.whole.as_mut() {
            whole.restart();
        }
    }

    /// Notes a row that is used, at `time`.
    pub(super) fn note_leap(&mut self, time: Time) {
        let leaps = self.newest.is_none_or(|newest| time.seconds_since(newest) > JUMP_S);
        if leaps {
            (self.leapt, self.since_leap, self.counted_ahead) = (Some((self.newest, time)), 0, 0);
        }
        self.since_leap += 1;
    }

    /// Counts a row that is ahead of the other components. How many rows that makes to report: a single one may be the first of
    /// a leap of all.
    pub(super) fn count_ahead(&mut self) -> u64 {
        let rows =
            if self.since_leap > 1 { self.since_leap - self.counted_ahead.min(self.since_leap) } else { 0 };
        self.counted_ahead += rows;
        rows
    }

    /// The producer of a source.
    pub(super) fn producer(&self, slot: usize) -> &Name {
        &self.reporters[slot].source.producer
    }

    /// Whether a source whose clock leapt ahead, and whose row confirms it, may take the component along: at once where it
    /// is the only one, else once the others were not seen meanwhile.
    pub(super) fn is_doubted_enough(&self, slot: usize) -> bool {
        let Some(newest) = self.newest else { return true };
        let is_there = |time: Time| newest.seconds_since(time) <= JUMP_S;
        let others = self.reporters.iter().enumerate().filter(|(at, _)| *at != slot);
        let contradicted = others.filter_map(|(_, r)| r.order.newest_row()).any(is_there);
        !contradicted || self.reporters[slot].doubts >= DOUBTS
    }
}

impl Reporter {
    /// Whether its latest row's counters lie behind these.
    fn is_behind(&self, counters: &[u64]) -> bool {
        let counters = &counters[..self.source.counters().min(counters.len())];
        let latest = self.order.last_held().or(self.rows.back());
        latest.is_some_and(|(_, latest)| {
            let latest = &latest[..counters.len().min(latest.len())];
            latest != counters && latest.iter().zip(counters).all(|(l, c)| c >= l)
        })
    }

    /// Rows that seemed to show that the clock stepped back were merely late.
    pub(super) fn forget_back(&mut self, drops: &mut DropCounts) {
        self.back_run = 0;
        if !self.back.is_empty() {
            self.back.drain(..).for_each(|_| drops.count(DropReason::Late));
        }
    }
}
