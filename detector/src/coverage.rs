//! Which ticks of a series were seen: completeness for every answer.

use schemas::{SeriesIndex, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Holes remembered per series; older ones are forgotten first.
const HOLES_KEPT: usize = 128;

/// Stretches without readings, per series.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    series: Vec<Seen>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seen {
    first: Time,
    last: Time,
    last_active: Option<Time>,
    holes: VecDeque<Hole>,
}

/// `missing_s` seconds without a reading between two times.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Hole {
    from: Time,
    to: Time,
    missing_s: f64,
}

impl Coverage {
    /// A reading of `series` that ends at `time` and covers `span_ticks` of `tick_s`; 0 ends a gap.
    pub fn saw(&mut self, series: SeriesIndex, time: Time, span_ticks: u8, active: bool, tick_s: f64) {
        let at = series.at();
        let new = Seen { first: time, last: time, last_active: None, holes: VecDeque::new() };
        if self.series.len() <= at {
            let begin = time.plus_seconds(-f64::from(span_ticks) * tick_s);
            self.series.resize(at + 1, Seen { first: begin, ..new });
        }
        let seen = &mut self.series[at];
        let missing_s = time.seconds_since(seen.last) - tick_s;
        if missing_s > tick_s / 2.0 {
            if seen.holes.len() == HOLES_KEPT {
                seen.holes.pop_front();
            }
            seen.holes.push_back(Hole { from: seen.last, to: time, missing_s });
        }
        seen.last = seen.last.max(time);
        if active {
            seen.last_active = Some(time);
        }
    }

    /// Ticks of `series` seen over ticks expected between two times, 0 to 1.
    pub fn completeness(&self, series: SeriesIndex, from: Time, to: Time, tick_s: f64) -> f64 {
        let expected_s = to.seconds_since(from);
        let Some(seen) = self.series.get(series.at()).filter(|_| expected_s > 0.0) else {
            return 0.0;
        };
        let before = seen.first.seconds_since(from).clamp(0.0, expected_s);
        let after = (to.seconds_since(seen.last) - tick_s).clamp(0.0, expected_s);
        let holes: f64 = seen.holes.iter().map(|hole| hole.missing_between(from, to)).sum();
        (1.0 - (before + after + holes) / expected_s).clamp(0.0, 1.0)
    }

    /// Latest reading of `series`.
    pub fn last(&self, series: SeriesIndex) -> Option<Time> {
        self.series.get(series.at()).map(|seen| seen.last)
    }

    /// Whether `series` was active at or after `from`.
    pub fn was_active_since(&self, series: SeriesIndex, from: Time) -> bool {
        self.series.get(series.at()).and_then(|seen| seen.last_active).is_some_and(|active| active > from)
    }
}

impl Hole {
    fn missing_between(&self, from: Time, to: Time) -> f64 {
        let overlap = self.to.min(to).seconds_since(self.from.max(from)).max(0.0);
        let length = self.to.seconds_since(self.from);
        if length > 0.0 { self.missing_s * overlap / length } else { 0.0 }
    }
}
