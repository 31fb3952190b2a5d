//! Lives of the links whose ports report a failure or errors: rarely any.
//!
//! A port whose counters do not change needs no life: its link works. One begins with the first count that rose, continues
//! with every reading of the port, and is forgotten when the link has long been up again. What carries anything works;
//! but for the tick in which it failed, since it may have carried that before.

use super::lifecycle::{LinkEvent, LinkLife, PortReading};
use super::tick::tick_of;
use crate::ingest::PortCounts;
use schemas::{SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Links that are not known to be up and well, with the tick that was read last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ports {
    lives: BTreeMap<SeriesIndex, (i64, LinkLife)>,
}

impl Ports {
    /// Forgets the link of a series.
    pub(super) fn forget(&mut self, series: SeriesIndex) {
        self.lives.remove(&series);
    }

    /// Counters of a port changed; what became of its link.
    pub(super) fn counted(&mut self, port: &PortCounts, tick_s: f64) -> Option<LinkEvent> {
        let (tick, [before, now]) = (tick_of(port.time, tick_s), port.counts);
        let rose = before.iter().zip(&now).any(|(before, now)| before.is_some() && now > before);
        if !rose && !self.lives.contains_key(&port.series) {
            return None;
        }
        let works = PortReading { carries: true, ..PortReading::default() };
        let (last, life) = self.lives.entry(port.series).or_insert_with(|| {
            let mut life = LinkLife::default();
            life.read(&works, tick - 1);
            (tick - 1, life)
        });
        life.count_from(before[0], before[1]);
        *last = tick;
        let reading = PortReading { link_downed: now[0], errors: now[1], ..PortReading::default() };
        let event = life.read(&reading, tick)?;
        Some(LinkEvent { series: port.series, tick, event })
    }

    /// A port was read, and carried something or not; what became of its link.
    #[inline]
    pub(super) fn was_read(
        &mut self,
        series: SeriesIndex,
        carries: bool,
        time: Time,
        tick_s: f64,
    ) -> Option<LinkEvent> {
        if self.lives.is_empty() {
            return None;
        }
        let (last, life) = self.lives.get_mut(&series)?;
        let tick = tick_of(time, tick_s);
        if tick <= *last {
            return None;
        }
        *last = tick;
        let event = life.read(&PortReading { carries, ..PortReading::default() }, tick);
        if life.is_over(tick) {
            self.lives.remove(&series);
        }
        Some(LinkEvent { series, tick, event: event? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::lifecycle::LifeEvent;
    use super::*;

    const SERIES: SeriesIndex = SeriesIndex(7);

    fn counted(ports: &mut Ports, tick: i64, from: u64, to: u64) -> Option<LifeEvent> {
        let counts = [[Some(from), None], [Some(to), None]];
        let time = Time::from_seconds(tick as f64);
        ports.counted(&PortCounts { series: SERIES, time, counts, after: 0 }, 1.0).map(|event| event.event)
    }

    /// What becomes of the link while the port carries something, or nothing.
    fn read(ports: &mut Ports, ticks: std::ops::Range<i64>, carries: bool) -> Vec<(i64, LifeEvent)> {
        let read = |tick: i64| ports.was_read(SERIES, carries, Time::from_seconds(tick as f64), 1.0);
        ticks.filter_map(read).map(|event| (event.tick, event.event)).collect()
    }

    #[test]
    fn a_link_is_down_from_the_count_until_it_carries_again() {
        let mut ports = Ports::default();
        assert_eq!(counted(&mut ports, 10, 3, 4), Some(LifeEvent::Down));
        // The last traffic before the failure is in the same reading.
        assert_eq!(read(&mut ports, 10..11, true), []);
        assert_eq!(read(&mut ports, 11..40, false), []);
        assert_eq!(read(&mut ports, 40..50, true), [(45, LifeEvent::Recovered)]);
    }

    #[test]
    fn a_link_that_has_long_been_up_again_is_forgotten() {
        let mut ports = Ports::default();
        counted(&mut ports, 10, 3, 4);
        read(&mut ports, 11..100, true);
        assert!(ports.lives.is_empty());
    }

    #[test]
    fn a_counter_that_is_reset_begins_no_life_and_ends_none() {
        let mut ports = Ports::default();
        assert_eq!(counted(&mut ports, 10, 9, 0), None);
        assert!(ports.lives.is_empty());
        assert_eq!(counted(&mut ports, 20, 0, 1), Some(LifeEvent::Down));
        assert_eq!(counted(&mut ports, 30, 1, 0), None);
        assert_eq!(read(&mut ports, 31..40, true), [(36, LifeEvent::Recovered)]);
        assert_eq!(counted(&mut ports, 50, 0, 1), Some(LifeEvent::Down));
    }

    #[test]
    fn recoveries_from_errors_in_a_row_degrade_the_link() {
        let mut ports = Ports::default();
        let mut errs = |tick: i64| {
            let counts = [[None, Some(tick as u64)], [None, Some(tick as u64 + 1)]];
            let time = Time::from_seconds(tick as f64);
            ports
                .counted(&PortCounts { series: SERIES, time, counts, after: 0 }, 1.0)
                .map(|event| event.event)
        };
        assert_eq!([10, 11, 12].map(&mut errs), [None, None, Some(LifeEvent::Degraded)]);
    }
}
