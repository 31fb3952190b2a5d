//! One source at work: its rows, in order, to readings of the parts it owns.

use super::adding::ROWS_TO_KNOW;
use super::component::Component;
use super::order::Row;
use super::rates::{Rate, rate};
use super::{Found, PortCounts, SeriesReading};
use crate::settings::StreamSettings;
use schemas::{Counts, DropCounts, LINK_COLUMNS, NOT_MEASURED, Time};
use std::collections::VecDeque;

/// Rows a source keeps behind the watermark; enough for silence and lateness together.
const ROWS_KEPT: usize = 12;
/// Rows that a source has in turn once it is known, at most: those of a standby.
const ROWS_IN_TURN: usize = 4;
/// Part of a tick that a reading covers at least: samples that come faster are taken together.
const LEAST_TICK: f64 = 0.9;

/// A source at work on its component.
pub(super) struct Stage<'a> {
    pub(super) component: &'a mut Component,
    pub(super) slot: usize,
    /// Nothing can come before rows up to this time any more.
    pub(super) settled: Time,
    pub(super) settings: &'a StreamSettings,
    pub(super) drops: &'a mut DropCounts,
    pub(super) out: &'a mut Found,
}

impl Stage<'_> {
    /// Uses the next row of the source.
    pub(super) fn ordered(&mut self, time: Time, counters: &[u64]) {
        if self.component.reporters[self.slot].accepted == 0 {
            self.introduce(time);
            self.component.succeed(self.slot, time, self.settings);
        }
        self.keep(time, counters);
        self.component.find_adding(self.slot, self.settings);
        for at in 0..self.component.reporters[self.slot].parts.len() {
            let part = self.component.reporters[self.slot].parts[at] as usize;
            if self.component.parts[part].owner == Some(self.slot as u16) {
                self.catch_up(part);
            }
        }
        self.forget_used();
    }

    /// Of parts without an owner the best source becomes the owner, once all that begin in this tick are there; a source
    /// that is new later takes those whose owner is worse than itself from the watermark on.
    fn introduce(&mut self, time: Time) {
        let slot = self.slot as u16;
        let from = time.plus_seconds(self.settings.lateness_s + 1.5 * self.settings.tick_s);
        let rank = self.component.reporters[self.slot].rank();
        for at in 0..self.component.reporters[self.slot].parts.len() {
            let part = self.component.reporters[self.slot].parts[at] as usize;
            let heir = self.component.parts[part].heir();
            let better = heir.is_none_or(|heir| rank < self.component.reporters[heir as usize].rank());
            let state = &mut self.component.parts[part];
            match state.owner {
                None => {
                    let first = *state.last.get_or_insert(time);
                    let unowned = &mut self.component.unowned;
                    *unowned = Some(unowned.map_or(first, |known| known.min(first)));
                    self.component.quiet_until = None;
                }
                Some(owner) if better => {
                    // Rows that were another heir's are the owner's again.
                    self.component.quiet_until = None;
                    if state.next.replace((slot, from)).is_some() {
                        let slot = std::mem::replace(&mut self.slot, owner as usize);
                        self.catch_up(part);
                        self.slot = slot;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Keeps a row, in the memory of one that is not needed any more where there is one.
    fn keep(&mut self, time: Time, counters: &[u64]) {
        let reporter = &mut self.component.reporters[self.slot];
        let spare = &mut self.out.spare_rows;
        reporter.accepted += 1;
        if reporter.rows.len() >= ROWS_KEPT
            && let Some((_, old)) = reporter.rows.pop_front()
        {
            spare.keep(old);
        }
        reporter.rows.push_back((time, spare.filled(counters)));
    }

    /// Makes readings of the rows after the last one that was used.
    pub(super) fn catch_up(&mut self, part: usize) {
        while let Some((before, row)) = self.next_interval(part) {
            self.reading(part, before, row);
        }
    }

    /// The next interval of the part that is the owner's to read.
    fn next_interval(&mut self, part: usize) -> Option<(usize, usize)> {
        let rows = &self.component.reporters[self.slot].rows;
        let state = &mut self.component.parts[part];
        let (before, row) = interval_after(state.used?, state.owned_until(), rows, self.settings)?;
        if self.component.reporters.len() > 1 && rows[row].0 > self.settled {
            // Whether the owner was silent is known when nothing can come before its row any more.
            let silence_s = self.settings.silence_s + 0.5 * self.settings.tick_s;
            if state.last.is_some_and(|last| rows[row].0.seconds_since(last) > silence_s) {
                state.deferred = Some(rows[row].0);
                self.component.quiet_until = None;
                return None;
            }
        }
        state.deferred = None;
        Some((before, row))
    }

    /// The reading between two rows; or a notice that there is none after a gap.
    fn reading(&mut self, part: usize, before: usize, row: usize) {
        self.compare_ports(part, before, row);
        let reporter = &self.component.reporters[self.slot];
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
            restarts: false,
            load_bytes_per_s: 0.0,
            counts: Counts::NONE,
        };
        let seconds = time.seconds_since(begin);
        let reading = if seconds <= longest_s {
            self.rate_between(part, before, row, seconds).map(|rate| SeriesReading {
                value: rate.value,
                active: rate.active,
                load_bytes_per_s: rate.load_bytes_per_s,
                counts: rate.counts,
                span_ticks: (seconds / self.settings.tick_s).round().clamp(1.0, 255.0) as u8,
                ..empty
            })
        } else {
            gap_since.map(|_| empty)
        };
        if let Some(reading) = reading {
            let state = &mut self.component.parts[part];
            if state.tried > 0 {
                self.component.quiet_until = None;
            }
            (state.last, state.tried) = (Some(time), 0);
            let restarts = std::mem::take(&mut state.is_other);
            self.push_reading(part, SeriesReading { restarts, ..reading });
        }
    }

    /// The rate of `part` between two rows; an interval that cannot be used is counted.
    fn rate_between(&mut self, part: usize, before: usize, row: usize, seconds: f64) -> Option<Rate> {
        let reporter = &self.component.reporters[self.slot];
        let of_part = reporter.source.columns_of(reporter.index_of(part)?);
        let (before, now) = (&reporter.rows[before].1[of_part.clone()], &reporter.rows[row].1[of_part]);
        let metric = self.component.parts[part].metric;
        let plan = metric.reading();
        if !(plan.is_measured(before) && plan.is_measured(now)) {
            return None;
        }
        match rate(metric, before, now, seconds) {
            Ok(rate) => Some(rate),
            Err(reason) => {
                self.drops.count(reason);
                None
            }
        }
    }

    /// Reports counters of the part's link that changed between two rows. Most rows have none, and they rarely change.
    fn compare_ports(&mut self, part: usize, before: usize, row: usize) {
        let reporter = &self.component.reporters[self.slot];
        let rates = reporter.source.counters();
        let (time, now) = (reporter.rows[row].0, &reporter.rows[row].1[..]);
        let before = &reporter.rows[before].1[..];
        if now.len() <= rates || before.len() != now.len() {
            return;
        }
        // Links' columns belong to the metric that seconds lost follow from: its series are those of links.
        let (source, Some(index)) = (&reporter.source, reporter.index_of(part)) else { return };
        let of_links = source.metrics.iter().position(|metric| metric.costs()).unwrap_or(0);
        let (metric, slot) = (index / source.parts.len(), index % source.parts.len());
        if metric != of_links {
            return;
        }
        let at = rates + slot * LINK_COLUMNS;
        let of_part = |row: &[u64]| row.get(at..at + LINK_COLUMNS).map(<[u64; LINK_COLUMNS]>::try_from);
        if matches!((of_part(before), of_part(now)), (Some(Ok(b)), Some(Ok(n))) if b == n) {
            return;
        }
        if before[source.columns_of(index)].iter().all(|count| *count == 0) {
            // A file that cannot be read gives 0 in LDMS: what comes after it did not happen then.
            return;
        }
        let counts = [before, now].map(|row| {
            std::array::from_fn(|slot| row.get(at + slot).copied().filter(|count| *count != NOT_MEASURED))
        });
        if counts[0] != counts[1] {
            let (series, after) = (self.component.parts[part].series, self.out.readings.len());
            self.out.ports.push(PortCounts { series, time, counts, after });
        }
    }

    fn push_reading(&mut self, part: usize, reading: SeriesReading) {
        self.out.readings.push(reading);
        let is_of_whole = self.component.parts[part].is_of_whole;
        if let Some(whole) = self.component.whole.as_mut().filter(|_| is_of_whole) {
            whole.add(&reading, self.settings);
        }
    }

    /// Drops the rows that every part has used, but for the last: it is the base of the next reading.
    fn forget_used(&mut self) {
        let slot = Some(self.slot as u16);
        let parts = &self.component.parts;
        let reporter = &mut self.component.reporters[self.slot];
        let Some(newest) = reporter.rows.back().map(|(time, _)| *time) else { return };
        if reporter.accepted <= 2 * ROWS_TO_KNOW {
            return;
        }
        let needed = |at: &u16| {
            let part = &parts[*at as usize];
            if part.owner == slot { part.used } else { part.last }.unwrap_or(newest)
        };
        let used = reporter.parts.iter().map(needed).min().unwrap_or(newest);
        while reporter.rows.len() > 1
            && reporter.rows[1].0 <= used
            && let Some((_, old)) = reporter.rows.pop_front()
        {
            self.out.spare_rows.keep(old);
        }
        if reporter.rows.len() == 1 && reporter.rows.capacity() > ROWS_IN_TURN {
            // More came while it was not known whether others add to it.
            reporter.rows.shrink_to(2);
        }
    }
}

/// The next interval after `used`: from the row nearest to it, so that a successor whose clock is skewed begins beside the
/// owner's end, to the first row a tick later, if that is not after `until`.
#[inline]
pub(super) fn interval_after(
    used: Time,
    until: Time,
    rows: &VecDeque<Row>,
    settings: &StreamSettings,
) -> Option<(usize, usize)> {
    let newest = rows.back()?.0;
    let least = LEAST_TICK * settings.tick_s;
    if newest <= used {
        return None;
    }
    // Nearly always the last row but one was used, and one came.
    let last = rows.len() - 1;
    if last > 0 && rows[last - 1].0 == used && newest >= used.plus_seconds(least) {
        return (newest <= until).then_some((last - 1, last));
    }
    let after = rows.partition_point(|(time, _)| *time < used);
    let distance = |at: usize| rows.get(at).map_or(i64::MAX, |(time, _)| (*time - used).abs());
    let before = if after > 0 && distance(after - 1) <= distance(after) { after - 1 } else { after };
    let due = rows.get(before)?.0.plus_seconds(least);
    let row = rows.partition_point(|(time, _)| *time < due);
    rows.get(row).filter(|(time, _)| *time <= until).map(|_| (before, row))
}
