//! Numbers and times as a person reads them.

use schemas::{Metric, Time};

/// A time as ISO 8601 in UTC, to the second.
pub(crate) fn utc(time: Time) -> String {
    let second = jiff::Timestamp::from_second(time.0.div_euclid(1_000_000));
    format!("{:.0}", second.unwrap_or_default())
}

/// Time since the start of the run: `+1:40`, `+2:03:40`; before it: `-0:05`.
pub(crate) fn offset(seconds: f64) -> String {
    let sign = if seconds < 0.0 { '-' } else { '+' };
    let total = seconds.abs().round() as u64;
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    if hours > 0 {
        format!("{sign}{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{sign}{minutes}:{seconds:02}")
    }
}

/// A share as a percentage that claims nothing by rounding: less than all is never 100%, more than none never 0%.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (share * 100.0).round();
    match share {
        s if s > 0.0 && rounded < 1.0 => "<1%".to_string(),
        s if s < 1.0 && rounded >= 100.0 => ">99%".to_string(),
        _ => format!("{rounded}%"),
    }
}

/// A windowed mean with its unit.
pub(crate) fn figure(metric: Option<Metric>, value: f64) -> String {
    match metric {
        Some(metric) if metric.unit() == "bytes/s" => bytes_a_second(value),
        Some(metric) => format!("{} {}", three_digits(value), metric.unit()),
        None => three_digits(value),
    }
}

/// From one mean to another; a unit that both have is written once.
pub(crate) fn change(metric: Option<Metric>, from: f64, to: f64) -> String {
    let (from, to) = (figure(metric, from), figure(metric, to));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_string());
    match from.split_once(' ') {
        Some((bare, _)) if unit(&from) == unit(&to) => format!("{bare} -> {to}"),
        _ => format!("{from} -> {to}"),
    }
}

fn bytes_a_second(value: f64) -> String {
    let units = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")];
    match units.iter().find(|(size, _)| value >= *size) {
        Some((size, unit)) => format!("{} {unit}", three_digits(value / size)),
        None => format!("{value:.0} B/s"),
    }
}

/// Three significant digits, as far as the figure has them before or after the point.
fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = match magnitude {
        m if m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        m if m >= 0.1 || m == 0.0 => 2,
        m if m >= 0.01 => 3,
        _ => return format!("{value:.2e}"),
    };
    format!("{value:.decimals$}")
}

/// `1 series`, `2 resources`: `noun` in the plural unless there is one.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_utc() {
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_217_419, "2026-11-20T23:30:19Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(Time(seconds * 1_000_000)), want);
        }
    }

    #[test]
    fn offsets() {
        let texts = [0.0, 99.6, 7_419.0, -5.0].map(offset);
        assert_eq!(texts, ["+0:00", "+1:40", "+2:03:39", "-0:05"]);
    }

    #[test]
    fn percentages_never_round_to_all_or_nothing() {
        let texts = [0.0, 0.001, 0.45, 0.999, 1.0].map(percent);
        assert_eq!(texts, ["0%", "<1%", "45%", ">99%", "100%"]);
    }

    #[test]
    fn figures_with_units() {
        let write = |v| figure(Some(Metric::from_name("lustre_write_rate").unwrap()), v);
        assert_eq!([write(1.5e9), write(2.34e7), write(12.0)], ["1.50 GB/s", "23.4 MB/s", "12 B/s"]);
        assert_eq!(
            figure(Some(Metric::from_name("aries_stall_ratio").unwrap()), 0.0312),
            "0.031 stalls/flit"
        );
        assert_eq!(
            change(Some(Metric::from_name("lustre_write_rate").unwrap()), 1.5e9, 2e8),
            "1.50 GB/s -> 200 MB/s"
        );
        assert_eq!(
            change(Some(Metric::from_name("ib_wait_ratio").unwrap()), 0.3, 6.0),
            "0.30 -> 6.00 ticks/word"
        );
    }
}
