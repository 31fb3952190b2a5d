//! Slurm's times: `2026-11-21T05:30:00`, UTC without a mark.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use schemas::Time;

/// The time of `text`, between 2000 and 2255; a `Z` at its end changes nothing.
pub(super) fn parse(text: &str) -> Option<Time> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    // Other forms of a time are nothing that Slurm writes.
    let plain = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        10 => *byte == b'T',
        13 | 16 => *byte == b':',
        _ => byte.is_ascii_digit(),
    };
    if text.len() != 19 || !text.as_bytes().iter().enumerate().all(plain) {
        return None;
    }
    let civil: DateTime = text.parse().ok()?;
    let known = (2000..2255).contains(&civil.year());
    let zoned = civil.to_zoned(TimeZone::UTC).ok().filter(|_| known)?;
    Some(Time(zoned.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let seconds = |text| parse(text).map(|time| time.0 / 1_000_000);
        assert_eq!(seconds("2000-01-01T00:00:00"), Some(946_684_800));
        assert_eq!(seconds("2024-02-29T12:34:56"), Some(1_709_210_096));
        assert_eq!(seconds("2026-11-21T05:30:00Z"), Some(1_795_239_000));
        assert_eq!(seconds("2100-03-01T00:00:00"), Some(4_107_542_400));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "Unknown",
            "2026-02-29T00:00:00",
            "2026-11-21 05:30:00",
            "2026-13-01T00:00:00",
            "1970-01-01T00:00:00",
            "2026-11-21T05:30:0é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
