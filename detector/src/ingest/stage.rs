//! One source at work: its rows, in order, to readings of the parts it owns.

use super::SeriesReading;
use super::component::Component;
use super::rates::{Rate, rate};
use crate::settings::StreamSettings;
use schemas::{DropCounts, Time};

/// Rows a source keeps behind the watermark; enough for silence and lateness together.
const ROWS_KEPT: usize = 12;
/// Part of a tick that a reading covers at least: samples that come faster are taken together.
const LEAST_TICK: f64 = 0.9;

/// A source at work on its component.
pub(super) struct Stage<'a> {
    pub(super) component: &'a mut Component,
    pub(super) place: usize,
    pub(super) settings: &'a StreamSettings,
    pub(super) drops: &'a mut DropCounts,
    pub(super) out: &'a mut Vec<SeriesReading>,
}

impl Stage<'_> {
    /// Uses the next row of the source.
    pub(super) fn ordered(&mut self, time: Time, counters: &[u64]) {
        if self.component.reporters[self.place].accepted == 0 {
            self.introduce(time);
        }
        self.keep(time, counters);
        for at in 0..self.component.reporters[self.place].parts.len() {
            let part = self.component.reporters[self.place].parts[at] as usize;
            if self.component.parts[part].owner_at(time) == Some(self.place as u16) {
                self.assume(part);
                if !self.hand_over(part, time) {
                    self.catch_up(part);
                }
            }
        }
        self.forget_used();
    }

    /// An owner that comes back after a silence finds its part taken, if another source has rows of that
    /// time: so it does not matter whether the silence was noticed before.
    fn hand_over(&mut self, part: usize, time: Time) -> bool {
        let silence_s = self.settings.silence_s + self.settings.tick_s / 2.0;
        let Some(last) = self.component.parts[part].last else { return false };
        if time.seconds_since(last) <= silence_s {
            return false;
        }
        let Some(successor) = self.component.successor(part, last) else { return false };
        let rows = &self.component.reporters[successor as usize].rows;
        if !rows.iter().any(|(row, _)| *row > last && *row < time) {
            return false;
        }
        let state = &mut self.component.parts[part];
        (state.owner, state.next, state.used) = (Some(successor), None, Some(last));
        let place = std::mem::replace(&mut self.place, successor as usize);
        self.catch_up(part);
        self.place = place;
        true
    }

    /// A source that is new takes the parts that nobody owns, and from the watermark on those whose owner
    /// is worse than itself.
    fn introduce(&mut self, time: Time) {
        let place = self.place as u16;
        let from = time.plus_seconds(self.settings.lateness_s + 1.5 * self.settings.tick_s);
        let rank = self.component.reporters[self.place].rank();
        for at in 0..self.component.reporters[self.place].parts.len() {
            let part = self.component.reporters[self.place].parts[at] as usize;
            let heir = self.component.parts[part].owner_at(Time(i64::MAX));
            let better = heir.is_none_or(|heir| rank < self.component.reporters[heir as usize].rank());
            let state = &mut self.component.parts[part];
            match state.owner {
                None => state.owner = Some(place),
                Some(_) if better => state.next = Some((place, from)),
                Some(_) => {}
            }
        }
    }

    /// Makes an heir the owner.
    fn assume(&mut self, part: usize) {
        let state = &mut self.component.parts[part];
        if state.owner != Some(self.place as u16) {
            (state.owner, state.next, state.used) = (Some(self.place as u16), None, state.last);
        }
    }

    /// Keeps a row, in the memory of one that is not needed any more where there is one.
    fn keep(&mut self, time: Time, counters: &[u64]) {
        let reporter = &mut self.component.reporters[self.place];
        reporter.accepted += 1;
        let reused = if reporter.rows.len() >= ROWS_KEPT { reporter.rows.pop_front() } else { None };
        let row = match reused {
            Some((_, mut old)) if old.len() == counters.len() => {
                old.copy_from_slice(counters);
                old
            }
            _ => counters.into(),
        };
        reporter.rows.push_back((time, row));
    }

    /// Makes readings of the rows after the last one that was used.
    pub(super) fn catch_up(&mut self, part: usize) {
        while let Some((before, row)) = self.next_interval(part) {
            self.reading(part, before, row);
        }
    }

    /// The next interval of the part: from the row nearest to the last one used, so that a successor whose
    /// clock is skewed begins beside the owner's end, to the first row a tick later.
    fn next_interval(&mut self, part: usize) -> Option<(usize, usize)> {
        let rows = &self.component.reporters[self.place].rows;
        let Some(used) = self.component.parts[part].used else {
            let time = rows.back()?.0;
            let state = &mut self.component.parts[part];
            state.used = Some(time);
            state.last.get_or_insert(time);
            return None;
        };
        let after = rows.partition_point(|(time, _)| *time < used);
        let distance = |at: usize| rows.get(at).map_or(i64::MAX, |(time, _)| (*time - used).abs());
        let before = if after > 0 && distance(after - 1) <= distance(after) { after - 1 } else { after };
        let due = rows.get(before)?.0.plus_seconds(LEAST_TICK * self.settings.tick_s);
        let row = rows.partition_point(|(time, _)| *time < due);
        (row < rows.len()).then_some((before, row))
    }

    /// The reading between two rows; or the news that there is none after a gap.
    fn reading(&mut self, part: usize, before: usize, row: usize) {
        let reporter = &self.component.reporters[self.place];
        let (begin, time) = (reporter.rows[before].0, reporter.rows[row].0);
        let state = &mut self.component.parts[part];
        let last = *state.last.get_or_insert(begin);
        state.used = Some(time);
        let longest_s = self.settings.longest_interval_s();
        let gap_since = Some(last).filter(|last| time.seconds_since(*last) > longest_s);
        let empty = SeriesReading {
            series: state.series,
            time,
            value: 0.0,
            active: false,
            span_ticks: 0,
            gap_since,
            anew: false,
        };
        let seconds = time.seconds_since(begin);
        let reading = if seconds <= longest_s {
            self.rate_between(part, before, row, seconds).map(|rate| SeriesReading {
                value: rate.value,
                active: rate.active,
                span_ticks: (seconds / self.settings.tick_s).round().clamp(1.0, 255.0) as u8,
                ..empty
            })
        } else {
            gap_since.map(|_| empty)
        };
        if let Some(reading) = reading {
            self.component.parts[part].last = Some(time);
            self.tell(part, reading);
        }
    }

    /// The rate of `part` between two rows; an interval that cannot be used is counted.
    fn rate_between(&mut self, part: usize, before: usize, row: usize, seconds: f64) -> Option<Rate> {
        let reporter = &self.component.reporters[self.place];
        let columns = self.component.metric.columns();
        let place = match reporter.parts.get(part) {
            Some(same) if *same as usize == part => part,
            _ => reporter.parts.iter().position(|p| *p as usize == part)?,
        };
        let of_part = place * columns..(place + 1) * columns;
        let (before, now) = (&reporter.rows[before].1[of_part.clone()], &reporter.rows[row].1[of_part]);
        match rate(self.component.metric, before, now, seconds) {
            Ok(rate) => Some(rate),
            Err(reason) => {
                self.drops.count(reason);
                None
            }
        }
    }

    fn tell(&mut self, part: usize, reading: SeriesReading) {
        self.out.push(reading);
        // Row 5 holds the processor tiles: no links.
        let is_network_tile = !self.component.parts[part].name.as_str().starts_with("r5");
        if let Some(whole) = self.component.whole.as_mut().filter(|_| is_network_tile) {
            whole.add(&reading, self.settings);
        }
    }

    /// Drops the rows that every part has used, but for the last: it is the base of the next reading.
    fn forget_used(&mut self) {
        let place = Some(self.place as u16);
        let parts = &self.component.parts;
        let reporter = &mut self.component.reporters[self.place];
        let Some(newest) = reporter.rows.back().map(|(time, _)| *time) else { return };
        let needed = |at: &u16| {
            let part = &parts[*at as usize];
            if part.owner == place { part.used } else { part.last }.unwrap_or(newest)
        };
        let used = reporter.parts.iter().map(needed).min().unwrap_or(newest);
        while reporter.rows.len() > 1 && reporter.rows[1].0 <= used {
            reporter.rows.pop_front();
        }
    }
}
