//! Numbers read from text without rounding and, for counters, eight digits at a time.

use schemas::metric::GAUGE_UNITS;
use schemas::{DropReason, Time};

const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// Whole numbers up to it are exact in floating point.
const EXACT_MAX: f64 = 9_007_199_254_740_991.0;
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// 2000-01-01 and 2255-01-01 in seconds since the epoch: earlier is a clock that was never set,
/// later is no longer exact to the microsecond as a JSON number.
const SECONDS_MIN: u64 = 946_684_800;
const SECONDS_END: u64 = 8_993_721_600;

/// Leading ASCII digits among eight bytes.
fn digits_in(word: u64) -> usize {
    let digits = word ^ ASCII_ZEROS;
    let flags = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    flags.trailing_zeros() as usize / 8
}

/// The value of eight ASCII digits, the first in the lowest byte.
fn eight_digits(word: u64) -> u64 {
    let ones = word & 0x0f0f_0f0f_0f0f_0f0f;
    let tens = (ones.wrapping_mul(10).wrapping_add(ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let thousands = (tens.wrapping_mul(100).wrapping_add(tens >> 16)) & 0x0000_ffff_0000_ffff;
    thousands.wrapping_mul(10_000).wrapping_add(thousands >> 32) & 0xffff_ffff
}

/// The number that `bytes` begin with and how many digits it has; `None` without a digit or beyond 2^64-1.
#[inline]
pub(crate) fn leading_u64(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let digits = digits_in(word);
        if digits == 8 {
            value = value.checked_mul(100_000_000)?.checked_add(eight_digits(word))?;
            at += 8;
            continue;
        }
        if digits > 0 {
            let aligned = (word << (64 - 8 * digits)) | (ASCII_ZEROS >> (8 * digits));
            value = value.checked_mul(POWERS[digits])?.checked_add(eight_digits(aligned))?;
        }
        at += digits;
        return (at > 0).then_some((value, at));
    }
    for byte in &bytes[at..] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        at += 1;
    }
    (at > 0).then_some((value, at))
}

/// `bytes` as a whole as a counter.
///
/// # Errors
/// [`DropReason::NegativeCounter`] for `-5`, [`DropReason::BadValue`] for everything else that is no plain number.
pub(crate) fn counter(bytes: &[u8]) -> Result<u64, DropReason> {
    match leading_u64(bytes) {
        Some((value, digits)) if digits == bytes.len() => Ok(value),
        _ => Err(not_a_counter(bytes)),
    }
}

/// `bytes` as a whole as a gauge, in units of 1 / [`GAUGE_UNITS`].
///
/// # Errors
/// [`DropReason::NegativeCounter`] for `-5`, [`DropReason::BadValue`] for everything else that is no number.
pub(crate) fn gauge(bytes: &[u8]) -> Result<u64, DropReason> {
    let text = std::str::from_utf8(bytes).map_err(|_| DropReason::BadValue)?;
    gauge_of(text.parse().map_err(|_| DropReason::BadValue)?)
}

/// A number as a gauge.
///
/// # Errors
/// As [`gauge`].
pub(crate) fn gauge_of(value: f64) -> Result<u64, DropReason> {
    match value * GAUGE_UNITS {
        units if (0.0..=EXACT_MAX).contains(&units) => Ok(units.round() as u64),
        units if units < 0.0 => Err(DropReason::NegativeCounter),
        _ => Err(DropReason::BadValue),
    }
}

fn not_a_counter(bytes: &[u8]) -> DropReason {
    let negative = bytes
        .split_first()
        .is_some_and(|(sign, rest)| *sign == b'-' && !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
    if negative { DropReason::NegativeCounter } else { DropReason::BadValue }
}

/// The timestamp that `bytes` begin with, `seconds[.fraction]` or whole milli-, micro- or nanoseconds, and its length;
/// digits beyond the microsecond are cut off. The unit follows from the size: the believed years do not overlap.
/// `None` if there is none or it lies outside the years 2000 to 2254.
#[inline]
pub(crate) fn leading_time(bytes: &[u8]) -> Option<(Time, usize)> {
    let (whole, digits) = leading_u64(bytes)?;
    let (fraction, length) = match bytes.get(digits) {
        Some(b'.') => {
            let (micros, length) = leading_micros(&bytes[digits + 1..])?;
            (micros, digits + 1 + length)
        }
        _ => (0, digits),
    };
    let believed =
        |ticks_a_second: u64| (SECONDS_MIN * ticks_a_second..SECONDS_END * ticks_a_second).contains(&whole);
    let micros = if believed(1) {
        whole * 1_000_000 + fraction
    } else if believed(1_000) {
        whole * 1_000 + fraction / 1_000
    } else if believed(1_000_000) {
        whole
    } else if believed(1_000_000_000) {
        whole / 1_000
    } else {
        return None;
    };
    Some((Time(micros as i64), length))
}

fn leading_micros(fraction: &[u8]) -> Option<(u64, usize)> {
    let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
    let kept = digits.min(6);
    let (value, _) = leading_u64(&fraction[..kept])?;
    Some((value * POWERS[6 - kept], digits))
}

/// `bytes` as a whole as a timestamp: a number, quoted or not; an exponent is understood, but rounds.
pub(crate) fn time(bytes: &[u8]) -> Option<Time> {
    let inside = bytes.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let bytes = inside.unwrap_or(bytes);
    match leading_time(bytes) {
        Some((time, length)) if length == bytes.len() => return Some(time),
        _ => {}
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.contains(['e', 'E']) {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    let plausible = (SECONDS_MIN as f64..SECONDS_END as f64).contains(&seconds);
    plausible.then(|| Time::from_seconds(seconds))
}

/// Whole seconds since the epoch, as job rows give them.
pub(crate) fn time_of_seconds(seconds: u64) -> Option<Time> {
    (SECONDS_MIN..SECONDS_END).contains(&seconds).then(|| Time((seconds * 1_000_000) as i64))
}

/// Microseconds since the epoch, if they lie in the years that are believed.
pub(crate) fn time_of_micros(micros: i64) -> Option<Time> {
    let seconds = u64::try_from(micros).ok()? / 1_000_000;
    (SECONDS_MIN..SECONDS_END).contains(&seconds).then_some(Time(micros))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_timestamp_is_exact_to_the_microsecond() {
        assert_eq!(time(b"1795217419.001813"), Some(Time(1_795_217_419_001_813)));
        assert_eq!(time(b"1795217419"), Some(Time(1_795_217_419_000_000)));
        assert_eq!(time(b"1795217419.5"), Some(Time(1_795_217_419_500_000)));
        assert_eq!(time(b"1795217419.0018139"), Some(Time(1_795_217_419_001_813)));
        assert_eq!(time(b"1.795217419e9"), Some(Time(1_795_217_419_000_000)));
    }

    #[test]
    fn the_unit_of_a_time_follows_from_its_size() {
        for text in ["1795217419001.813", "1795217419001813", "1795217419001813999", "\"1795217419.001813\""]
        {
            assert_eq!(time(text.as_bytes()), Some(Time(1_795_217_419_001_813)), "{text}");
        }
        assert_eq!(time(b"1795217419001"), Some(Time(1_795_217_419_001_000)));
        assert_eq!(time(b"\"2026-11-20 23:30:19\""), None, "a date without its offset from UTC");
    }

    #[test]
    fn what_is_no_time_between_2000_and_2255_is_refused() {
        for text in [
            "",
            "0",
            "946684799.9",
            "8993721600",
            "1795217419.",
            "1795217419.x",
            "-1795217419",
            "nan",
            "1e99",
        ] {
            assert_eq!(time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn seconds_of_jobs_may_be_any_number() {
        assert_eq!(time_of_seconds(1_795_217_430), Some(Time(1_795_217_430_000_000)));
        assert_eq!(time_of_seconds(u64::MAX), None);
        assert_eq!(time_of_seconds(0), None);
    }

    #[test]
    fn counters_are_plain_digits_up_to_64_bits() {
        assert_eq!(counter(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(counter(b"18446744073709551616"), Err(DropReason::BadValue));
        assert_eq!(counter(b"-1"), Err(DropReason::NegativeCounter));
        for text in ["", "-", "1.0", "1e3", "nan", "\"7\"", "7 ", "0x7"] {
            assert_eq!(counter(text.as_bytes()), Err(DropReason::BadValue), "{text}");
        }
    }

    #[test]
    fn gauges_are_thousandths() {
        for (text, units) in [("12.5", 12_500), ("0", 0), ("1e-1", 100), ("3.14159", 3_142), ("-0.0", 0)] {
            assert_eq!(gauge(text.as_bytes()), Ok(units), "{text}");
        }
        assert_eq!(gauge(b"-2.5"), Err(DropReason::NegativeCounter));
        for text in ["", "nan", "inf", "1e300", "12,5", "12.5%", "\"7\""] {
            assert_eq!(gauge(text.as_bytes()), Err(DropReason::BadValue), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_number_survives(value: u64, tail in "[^0-9]?.{0,12}") {
            prop_assume!(!tail.starts_with(|c: char| c.is_ascii_digit()));
            let text = format!("{value}{tail}");
            let length = value.to_string().len();
            prop_assert_eq!(leading_u64(text.as_bytes()), Some((value, length)));
        }

        #[test]
        fn arbitrary_bytes_agree_with_the_standard_parser(bytes in proptest::collection::vec(any::<u8>(), 0..30)) {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let expected = std::str::from_utf8(&bytes[..digits]).unwrap().parse::<u64>().ok();
            prop_assert_eq!(leading_u64(&bytes), expected.map(|value| (value, digits)));
        }
    }
}
