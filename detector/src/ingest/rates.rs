//! A reading of two rows of counters (DESIGN section 5). Pure.

use crate::equations::rate_per_s;
use schemas::{Counts, DropReason, Metric};

/// What the counters of one part show for an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// In the metric's unit.
    pub value: f64,
    /// Whether the part did enough for the value to mean something.
    pub active: bool,
    /// Bytes a second that passed, or were written.
    pub load_bytes_per_s: f64,
    /// What the counters did.
    pub counts: Counts,
}

/// Flits per second of a tile below which only background traffic passes: the report saw 1,000 to 10,000.
const ARIES_ACTIVE_FLITS_PER_S: f64 = 20_000.0;
/// Words per second of a port below which only management traffic passes (100 kB/s).
const IB_ACTIVE_WORDS_PER_S: f64 = 25_000.0;
/// Bytes per second below which a Lustre client is not writing in earnest.
const LUSTRE_ACTIVE_BYTES_PER_S: f64 = 1e6;

/// Highest counts per second that hardware of these kinds can make; what is above is no measurement.
/// An Aries tile clocks below 1 GHz, an InfiniBand port of 400 Gb/s moves 1.25e10 words, a client
/// does not write 1 TB/s.
fn most_per_s(metric: Metric) -> f64 {
    match metric {
        Metric::AriesStallRatio => 1e10,
        Metric::IbWaitRatio => 2e10,
        Metric::LustreWriteRate => 1e12,
    }
}

/// The reading between two rows of one part, `seconds` apart.
///
/// # Errors
/// The reason why the interval cannot be used.
pub fn rate(metric: Metric, before: &[u64], now: &[u64], seconds: f64) -> Result<Rate, DropReason> {
    match metric {
        Metric::AriesStallRatio => aries(before, now, seconds),
        Metric::IbWaitRatio => infiniband(before, now, seconds),
        Metric::LustreWriteRate => lustre(before, now, seconds),
    }
}

/// Stalls per flit of a tile: the flits of its eight virtual channels together.
fn aries(before: &[u64], now: &[u64], seconds: f64) -> Result<Rate, DropReason> {
    let metric = Metric::AriesStallRatio;
    let mut flits = 0;
    for (b, n) in before[1..].iter().zip(&now[1..]) {
        flits += difference(metric, *b, *n, seconds)?;
    }
    let stalls = difference(metric, before[0], now[0], seconds)?;
    Ok(ratio(metric, stalls, flits, seconds, ARIES_ACTIVE_FLITS_PER_S))
}

/// Ticks waited per word sent.
fn infiniband(before: &[u64], now: &[u64], seconds: f64) -> Result<Rate, DropReason> {
    let metric = Metric::IbWaitRatio;
    let words = difference(metric, before[1], now[1], seconds)?;
    // A 32-bit wait counter stops at its maximum and stays there; an interval that reaches it lost counts.
    if now[0] == u64::from(u32::MAX) {
        return Err(DropReason::CounterSaturated);
    }
    let waits = difference(metric, before[0], now[0], seconds)?;
    Ok(ratio(metric, waits, words, seconds, IB_ACTIVE_WORDS_PER_S))
}

fn lustre(before: &[u64], now: &[u64], seconds: f64) -> Result<Rate, DropReason> {
    let value = rate_per_s(difference(Metric::LustreWriteRate, before[0], now[0], seconds)?, seconds);
    let active = value >= LUSTRE_ACTIVE_BYTES_PER_S;
    Ok(Rate { value, active, load_bytes_per_s: value, counts: Counts::NONE })
}

/// Zero flits are idle with ratio 0, never NaN.
fn ratio(metric: Metric, stalls: u64, flits: u64, seconds: f64, active_per_s: f64) -> Rate {
    let flits_per_s = rate_per_s(flits, seconds);
    Rate {
        value: if flits == 0 { 0.0 } else { stalls as f64 / flits as f64 },
        active: flits > 0 && flits_per_s >= active_per_s,
        load_bytes_per_s: flits_per_s * metric.unit_bytes(),
        counts: Counts { passed_per_s: flits_per_s as f32, waited_per_s: rate_per_s(stalls, seconds) as f32 },
    }
}

/// How much a counter grew. A counter that fell wrapped at 32 or 64 bits if that makes a plausible
/// difference, and was reset otherwise.
fn difference(metric: Metric, before: u64, now: u64, seconds: f64) -> Result<u64, DropReason> {
    let plausible = |d: u64| rate_per_s(d, seconds) <= most_per_s(metric);
    if now >= before {
        return if plausible(now - before) { Ok(now - before) } else { Err(DropReason::Implausible) };
    }
    // A wrap comes from the last tenth of the range; a reset may come from anywhere.
    let wrapped_64 = now.wrapping_sub(before);
    if before > u64::MAX / 10 * 9 && plausible(wrapped_64) {
        return Ok(wrapped_64);
    }
    // Only InfiniBand has counters of 32 bits.
    let range_32 = u64::from(u32::MAX);
    if metric == Metric::IbWaitRatio && before <= range_32 && before > range_32 / 10 * 9 {
        let wrapped_32 = now + range_32 + 1 - before;
        if plausible(wrapped_32) {
            return Ok(wrapped_32);
        }
    }
    Err(DropReason::CounterReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aries_row(stalls: u64, flits: u64) -> [u64; 9] {
        let mut row = [flits; 9];
        row[0] = stalls;
        row
    }

    #[test]
    fn tile_ratio_is_stalls_over_flits_of_all_virtual_channels() {
        let rate =
            rate(Metric::AriesStallRatio, &aries_row(0, 0), &aries_row(400_000, 100_000), 2.0).unwrap();
        assert_eq!((rate.value, rate.active), (0.5, true));
        assert_eq!(rate.counts, Counts { passed_per_s: 400_000.0, waited_per_s: 200_000.0 });
    }

    #[test]
    fn zero_flits_are_idle_with_ratio_zero() {
        let rate = rate(Metric::AriesStallRatio, &aries_row(5, 7), &aries_row(9, 7), 1.0).unwrap();
        assert_eq!((rate.value, rate.active), (0.0, false));
        // What its counters did is reported all the same.
        assert_eq!(rate.counts, Counts { passed_per_s: 0.0, waited_per_s: 4.0 });
    }

    #[test]
    fn background_traffic_is_idle_whatever_its_ratio() {
        let rate = rate(Metric::AriesStallRatio, &aries_row(0, 0), &aries_row(90_000, 1_250), 1.0).unwrap();
        assert_eq!((rate.value, rate.active), (9.0, false));
    }

    #[test]
    fn a_rate_divides_by_the_samplers_own_interval() {
        let rate = rate(Metric::LustreWriteRate, &[1_000], &[3_000_001_000], 1.5).unwrap();
        assert_eq!((rate.value, rate.active), (2e9, true));
    }

    #[test]
    fn a_phase_without_writes_is_idle() {
        let rate = rate(Metric::LustreWriteRate, &[77], &[77], 1.0).unwrap();
        assert_eq!((rate.value, rate.active), (0.0, false));
    }

    #[test]
    fn a_64_bit_counter_wraps() {
        let rate = rate(Metric::LustreWriteRate, &[u64::MAX - 499_999_999], &[500_000_000], 1.0).unwrap();
        assert_eq!(rate.value, 1e9);
    }

    #[test]
    fn a_32_bit_counter_wraps() {
        let max = u64::from(u32::MAX);
        let rate = rate(Metric::IbWaitRatio, &[0, max - 999_999], &[500_000, 1_000_000], 1.0).unwrap();
        assert_eq!(rate.value, 0.25);
    }

    #[test]
    fn a_counter_that_falls_otherwise_was_reset() {
        let reset = rate(Metric::LustreWriteRate, &[5_543_888_420_864], &[1_000_000], 1.0);
        assert_eq!(reset, Err(DropReason::CounterReset));
    }

    #[test]
    fn a_lustre_counter_reset_near_32_bits_is_no_wrap() {
        let reset = rate(Metric::LustreWriteRate, &[4_100_000_000], &[1_000_000], 1.0);
        assert_eq!(reset, Err(DropReason::CounterReset));
    }

    #[test]
    fn a_counter_that_falls_by_one_near_its_end_was_reset() {
        let reset = rate(Metric::LustreWriteRate, &[u64::MAX], &[u64::MAX - 1], 1.0);
        assert_eq!(reset, Err(DropReason::CounterReset));
    }

    #[test]
    fn a_saturated_wait_counter_measures_nothing() {
        let max = u64::from(u32::MAX);
        let saturated = rate(Metric::IbWaitRatio, &[max, 0], &[max, 253_000_000], 1.0);
        assert_eq!(saturated, Err(DropReason::CounterSaturated));
    }

    #[test]
    fn a_rate_beyond_the_hardware_is_no_measurement() {
        let absurd = rate(Metric::LustreWriteRate, &[0], &[5_000_000_000_000], 1.0);
        assert_eq!(absurd, Err(DropReason::Implausible));
    }
}
