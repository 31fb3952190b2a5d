//! How well ticks keep their time.

use std::fmt;

/// Lateness and length of ticks, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickStatistics {
    late_us: Vec<i64>,
    took_us: Vec<i64>,
}

/// Median, 99th percentile and greatest of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Median.
    pub p50: i64,
    /// The value that 99 of 100 do not exceed.
    pub p99: i64,
    /// Greatest.
    pub max: i64,
}

impl TickStatistics {
    /// Notes a tick that began `late_us` after its time and took `took_us`.
    pub fn note(&mut self, late_us: i64, took_us: i64) {
        self.late_us.push(late_us);
        self.took_us.push(took_us);
    }

    /// Ticks noted.
    pub fn ticks(&self) -> usize {
        self.late_us.len()
    }

    /// Jitter: from the instant of the schedule to the begin of the sample.
    pub fn jitter_us(&self) -> Spread {
        spread(&self.late_us)
    }

    /// From the begin of a sample to its end, all sets together.
    pub fn took_us(&self) -> Spread {
        spread(&self.took_us)
    }
}

/// By nearest rank.
fn spread(values: &[i64]) -> Spread {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied();
    Spread {
        p50: rank(50).unwrap_or_default(),
        p99: rank(99).unwrap_or_default(),
        max: rank(100).unwrap_or_default(),
    }
}

impl fmt::Display for TickStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |us: i64| us as f64 / 1e3;
        let (jitter, took) = (self.jitter_us(), self.took_us());
        writeln!(f, "ticks               {}", self.ticks())?;
        let mut line = |name: &str, of: Spread| {
            writeln!(f, "{name} p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms", ms(of.p50), ms(of.p99), ms(of.max))
        };
        line("jitter             ", jitter)?;
        line("sampling           ", took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut statistics = TickStatistics::default();
        assert_eq!(statistics.jitter_us(), Spread::default());
        for late in (1..=100).rev() {
            statistics.note(late, 0);
        }
        assert_eq!(statistics.jitter_us(), Spread { p50: 50, p99: 99, max: 100 });
        let mut few = TickStatistics::default();
        few.note(7, 3);
        assert_eq!((few.jitter_us(), few.took_us().max), (Spread { p50: 7, p99: 7, max: 7 }, 3));
    }
}
