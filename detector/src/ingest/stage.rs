//! One source at work: its rows, in order, to readings of the parts it owns.

use super::SeriesReading;
use super::component::Component;
use super::rates::{Rate, rate};
use crate::settings::StreamSettings;
use schemas::{DropCounts, Time};

/// Rows a source keeps behind the watermark; enough for silence and lateness together.
const ROWS_KEPT: usize = 12;

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
        for part in 0..self.component.reporters[self.place].parts.len() {
            let part = self.component.reporters[self.place].parts[part] as usize;
            if self.owns(part) {
                self.catch_up(part);
            }
        }
        self.forget_used();
    }

    /// Whether this source makes the part's readings; a better one takes it as soon as it can go on from
    /// the last reading.
    fn owns(&mut self, part: usize) -> bool {
        let place = self.place as u16;
        let reporters = &self.component.reporters;
        let state = &self.component.parts[part];
        let better = match state.owner {
            None => true,
            Some(owner) if owner == place => return true,
            Some(owner) => {
                let can_go_on =
                    |last: Time| reporters[self.place].rows.front().is_some_and(|r| r.0 <= last + 500_000);
                reporters[self.place].rank < reporters[owner as usize].rank
                    && !state.passed_over.contains(&place)
                    && state.last.is_some_and(can_go_on)
            }
        };
        if better {
            let state = &mut self.component.parts[part];
            state.owner = Some(place);
            state.used = state.last;
        }
        better
    }

    /// Makes readings of the rows after the last one that was used.
    pub(super) fn catch_up(&mut self, part: usize) {
        let half_tick = (self.settings.tick_s * 5e5) as i64;
        let rows = &self.component.reporters[self.place].rows;
        let (used, count) = (self.component.parts[part].used, rows.len());
        let first =
            used.map_or(count - 1, |used| rows.partition_point(|(time, _)| *time <= used + half_tick));
        for row in first..count {
            self.reading(part, row);
        }
    }

    /// The reading that ends at `row`, from the row before it; or the news that there is none.
    fn reading(&mut self, part: usize, row: usize) {
        let reporter = &self.component.reporters[self.place];
        let time = reporter.rows[row].0;
        let state = &mut self.component.parts[part];
        let last = *state.last.get_or_insert(time);
        state.used = Some(time);
        let longest_s = self.settings.gap_s + self.settings.tick_s / 2.0;
        let gap_since = Some(last).filter(|last| time.seconds_since(*last) > longest_s);
        let empty =
            SeriesReading { series: state.series, time, value: 0.0, active: false, span_ticks: 0, gap_since };
        let before = row.checked_sub(1).map(|before| reporter.rows[before].0);
        let reading = match before.map(|before| time.seconds_since(before)).filter(|s| *s <= longest_s) {
            Some(seconds) => self.rate_at(part, row, seconds).map(|rate| SeriesReading {
                value: rate.value,
                active: rate.active,
                span_ticks: (seconds / self.settings.tick_s).round().clamp(1.0, 255.0) as u8,
                ..empty
            }),
            None => gap_since.map(|_| empty),
        };
        if let Some(reading) = reading {
            self.component.parts[part].last = Some(time);
            self.tell(part, reading);
        }
    }

    /// The rate of `part` between `row` and the one before; an interval that cannot be used is counted.
    fn rate_at(&mut self, part: usize, row: usize, seconds: f64) -> Option<Rate> {
        let reporter = &self.component.reporters[self.place];
        let columns = self.component.metric.columns();
        let place = reporter.parts.iter().position(|p| *p as usize == part)?;
        let of_part = place * columns..(place + 1) * columns;
        let (before, now) = (&reporter.rows[row - 1].1[of_part.clone()], &reporter.rows[row].1[of_part]);
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
        let is_network_tile = !self.component.parts[part].name.as_str().starts_with("r5");
        if let Some(whole) = self.component.whole.as_mut().filter(|_| is_network_tile) {
            whole.add(&reading, self.settings, self.out);
        }
    }

    /// Drops the rows that every part has used, but for the last: it is the base of the next reading.
    fn forget_used(&mut self) {
        let parts = &self.component.parts;
        let reporter = &mut self.component.reporters[self.place];
        let Some(newest) = reporter.rows.back().map(|(time, _)| *time) else {
            return;
        };
        let used =
            reporter.parts.iter().map(|p| parts[*p as usize].last.unwrap_or(newest)).min().unwrap_or(newest);
        while reporter.rows.len() > 1 && reporter.rows[1].0 <= used + 1 {
            reporter.rows.pop_front();
        }
    }
}
