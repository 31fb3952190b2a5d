//! Slurm's times: `2026-11-21T05:30:00`, UTC without saying so.

use schemas::Time;

/// The time of `text`, between 2000 and 2255; a `Z` at its end changes nothing.
pub(super) fn parse(text: &str) -> Option<Time> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let digits = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = text.get(range).filter(|part| part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse().ok()
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if text.len() != 19 || marks.iter().any(|(at, mark)| text.as_bytes()[*at] != *mark) {
        return None;
    }
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let (hour, minute, second) = (digits(11..13)?, digits(14..16)?, digits(17..19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(usize::try_from(month - 1).ok()?)?;
    let valid = (2000..2255).contains(&year) && (1..=length).contains(&day);
    if !valid || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let years = year - 1970;
    let leap_days = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 477;
    let days = years * 365 + leap_days + lengths[..month as usize - 1].iter().sum::<i64>() + day - 1;
    Some(Time((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000))
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
