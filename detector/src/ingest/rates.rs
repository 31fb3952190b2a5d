//! A reading of two rows of counters (DESIGN section 5). Pure.

use crate::equations::rate_per_s;
use schemas::metric::{GAUGE_UNITS, ReadingPlan};
use schemas::{Counts, DropReason, Metric, NOT_MEASURED};

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

/// The reading between two rows of one part, `seconds` apart.
///
/// # Errors
/// The reason why the interval cannot be used.
pub fn rate(metric: Metric, before: &[u64], now: &[u64], seconds: f64) -> Result<Rate, DropReason> {
    let plan = metric.reading();
    if plan.gauge {
        return gauge(plan, now);
    }
    let (waited_before, passed_before) = before.split_at(plan.waited);
    let (waited_now, passed_now) = now.split_at(plan.waited);
    // An interval that reaches the maximum lost counts: traffic that is not counted any more would look idle.
    if plan.saturated.is_some_and(|most| now.contains(&most)) {
        return Err(DropReason::CounterSaturated);
    }
    let passed = grown(plan, plan.waited, passed_before, passed_now, seconds)?;
    let waited = grown(plan, 0, waited_before, waited_now, seconds)?;
    Ok(reading(plan, waited, passed, seconds))
}

/// The value of a gauge stands for the interval that ends with it.
fn gauge(plan: &ReadingPlan, now: &[u64]) -> Result<Rate, DropReason> {
    let value = now.iter().sum::<u64>() as f64 / GAUGE_UNITS;
    if value > plan.most_per_s {
        return Err(DropReason::Implausible);
    }
    Ok(Rate { value, active: true, load_bytes_per_s: 0.0, counts: Counts::NONE })
}

/// How much counters grew together, the first of which is number `first`; those that both rows have.
fn grown(
    plan: &ReadingPlan,
    first: usize,
    before: &[u64],
    now: &[u64],
    seconds: f64,
) -> Result<u64, DropReason> {
    let mut sum = 0;
    for (at, (before, now)) in (first..).zip(before.iter().zip(now)) {
        let may_lack = plan.may_lack & (1 << at) != 0;
        if may_lack && (*before == NOT_MEASURED || *now == NOT_MEASURED) {
            continue;
        }
        sum += difference(plan, *before, *now, seconds)?;
    }
    Ok(sum)
}

/// Nothing that passed is idle with ratio 0, never NaN. Where only waits are counted, none of them is quiet, not idle.
fn reading(plan: &ReadingPlan, waited: u64, passed: u64, seconds: f64) -> Rate {
    if plan.passed == 0 {
        let value = rate_per_s(waited, seconds);
        return Rate { value, active: true, load_bytes_per_s: 0.0, counts: Counts::NONE };
    }
    let passed_per_s = rate_per_s(passed, seconds);
    let load_bytes_per_s = passed_per_s * plan.bytes_per_count;
    let active = passed > 0 && passed_per_s >= plan.active_per_s;
    if plan.waited == 0 {
        return Rate { value: passed_per_s, active, load_bytes_per_s, counts: Counts::NONE };
    }
    Rate {
        value: if passed == 0 { 0.0 } else { waited as f64 / passed as f64 },
        active,
        load_bytes_per_s,
        counts: Counts {
            passed_per_s: passed_per_s as f32,
            waited_per_s: rate_per_s(waited, seconds) as f32,
        },
    }
}

/// How much a counter grew. A counter that fell wrapped at 64 bits or a width of the plan if that makes a plausible
/// difference, and was reset otherwise.
fn difference(plan: &ReadingPlan, before: u64, now: u64, seconds: f64) -> Result<u64, DropReason> {
    let plausible = |d: u64| rate_per_s(d, seconds) <= plan.most_per_s;
    if now >= before {
        return if plausible(now - before) { Ok(now - before) } else { Err(DropReason::Implausible) };
    }
    let mut widths = (8..u64::BITS).filter(|width| plan.wraps_at >> width & 1 == 1).chain([u64::BITS]);
    let wrapped_at = |width: u32| {
        let most = u64::MAX >> (u64::BITS - width);
        // A wrap comes from the last tenth of the range; a reset may come from anywhere.
        let near_the_end = before <= most && before > most / 10 * 9;
        Some(now.wrapping_sub(before) & most).filter(|wrapped| near_the_end && plausible(*wrapped))
    };
    widths.find_map(wrapped_at).ok_or(DropReason::CounterReset)
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
        let rate = rate(
            Metric::from_name("aries_stall_ratio").unwrap(),
            &aries_row(0, 0),
            &aries_row(400_000, 100_000),
            2.0,
        )
        .unwrap();
        assert_eq!((rate.value, rate.active), (0.5, true));
        assert_eq!(rate.counts, Counts { passed_per_s: 400_000.0, waited_per_s: 200_000.0 });
    }

    #[test]
    fn zero_flits_are_idle_with_ratio_zero() {
        let rate =
            rate(Metric::from_name("aries_stall_ratio").unwrap(), &aries_row(5, 7), &aries_row(9, 7), 1.0)
                .unwrap();
        assert_eq!((rate.value, rate.active), (0.0, false));
        // What its counters did is reported all the same.
        assert_eq!(rate.counts, Counts { passed_per_s: 0.0, waited_per_s: 4.0 });
    }

    #[test]
    fn background_traffic_is_idle_whatever_its_ratio() {
        let rate = rate(
            Metric::from_name("aries_stall_ratio").unwrap(),
            &aries_row(0, 0),
            &aries_row(90_000, 1_250),
            1.0,
        )
        .unwrap();
        assert_eq!((rate.value, rate.active), (9.0, false));
    }

    #[test]
    fn a_rate_divides_by_the_samplers_own_interval() {
        let rate =
            rate(Metric::from_name("lustre_write_rate").unwrap(), &[1_000], &[3_000_001_000], 1.5).unwrap();
        assert_eq!((rate.value, rate.active), (2e9, true));
    }

    #[test]
    fn a_phase_without_writes_is_idle() {
        let rate = rate(Metric::from_name("lustre_write_rate").unwrap(), &[77], &[77], 1.0).unwrap();
        assert_eq!((rate.value, rate.active), (0.0, false));
    }

    #[test]
    fn no_waits_are_quiet_where_only_waits_are_counted() {
        let metric = Metric::from_name("slingshot_congestion_rate").unwrap();
        for (before, now, value) in [(7, 7, 0.0), (7, 4_000_007, 2e6)] {
            let rate = rate(metric, &[before], &[now], 2.0).unwrap();
            assert_eq!((rate.value, rate.active, rate.load_bytes_per_s), (value, true, 0.0));
        }
    }

    #[test]
    fn gauge_is_its_own_reading() {
        let metric = Metric::from_name("slingshot_blocked_percent").unwrap();
        for (before, now, reading) in [
            (90_000, 12_500, Ok(12.5)),
            (12_500, 0, Ok(0.0)),
            // Seen at Frontier: 187096%.
            (12_500, 187_096_000, Err(DropReason::Implausible)),
        ] {
            let found = rate(metric, &[before], &[now], 2.0).map(|rate| {
                assert!(rate.active && rate.load_bytes_per_s == 0.0);
                rate.value
            });
            assert_eq!(found, reading);
        }
    }

    #[test]
    fn counter_that_is_new_in_a_row_makes_no_reading() {
        let mut rows = [[NOT_MEASURED; 16]; 2];
        rows[0][..2].copy_from_slice(&[10, 20]);
        rows[1][..3].copy_from_slice(&[310, 420, 5_000_000]);
        let metric = Metric::from_name("lustre_metadata_rate").unwrap();
        assert!(rows.iter().all(|row| metric.reading().is_measured(row)));
        let rate = rate(metric, &rows[0], &rows[1], 1.0).unwrap();
        assert_eq!((rate.value, rate.active), (700.0, true));
    }

    #[test]
    fn a_64_bit_counter_wraps() {
        let rate = rate(
            Metric::from_name("lustre_write_rate").unwrap(),
            &[u64::MAX - 499_999_999],
            &[500_000_000],
            1.0,
        )
        .unwrap();
        assert_eq!(rate.value, 1e9);
    }

    #[test]
    fn a_32_bit_counter_wraps() {
        let max = u64::from(u32::MAX);
        let rate = rate(
            Metric::from_name("ib_wait_ratio").unwrap(),
            &[0, max - 999_999],
            &[500_000, 1_000_000],
            1.0,
        )
        .unwrap();
        assert_eq!(rate.value, 0.25);
    }

    #[test]
    fn a_counter_that_falls_otherwise_was_reset() {
        let reset =
            rate(Metric::from_name("lustre_write_rate").unwrap(), &[5_543_888_420_864], &[1_000_000], 1.0);
        assert_eq!(reset, Err(DropReason::CounterReset));
    }

    #[test]
    fn a_lustre_counter_reset_near_32_bits_is_no_wrap() {
        let reset =
            rate(Metric::from_name("lustre_write_rate").unwrap(), &[4_100_000_000], &[1_000_000], 1.0);
        assert_eq!(reset, Err(DropReason::CounterReset));
    }

    #[test]
    fn a_counter_that_falls_by_one_near_its_end_was_reset() {
        let reset = rate(Metric::from_name("lustre_write_rate").unwrap(), &[u64::MAX], &[u64::MAX - 1], 1.0);
        assert_eq!(reset, Err(DropReason::CounterReset));
    }

    #[test]
    fn a_saturated_counter_measures_nothing() {
        let max = u64::from(u32::MAX);
        let metric = Metric::from_name("ib_wait_ratio").unwrap();
        for (before, now) in
            [([max, 0], [max, 253_000_000]), ([7, max - 9_000_000], [7, max]), ([7, max], [900_007, max])]
        {
            assert_eq!(rate(metric, &before, &now, 1.0), Err(DropReason::CounterSaturated));
        }
    }

    #[test]
    fn a_rate_beyond_the_hardware_is_no_measurement() {
        let absurd = rate(Metric::from_name("lustre_write_rate").unwrap(), &[0], &[5_000_000_000_000], 1.0);
        assert_eq!(absurd, Err(DropReason::Implausible));
    }
}
