//! Numbers as a person reads them.

/// `5.2 s`, `3 min`, `2.5 h`, `4 days`.
pub fn span(seconds: f64) -> String {
    let s = seconds.abs();
    match s {
        _ if !s.is_finite() => "unknown time".to_string(),
        _ if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        _ if s < 10.0 => format!("{s:.1} s"),
        _ if s < 120.0 => format!("{s:.0} s"),
        _ if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        _ if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        _ => format!("{:.0} days", s / 86_400.0),
    }
}

/// `12 kB`, `3.4 GB`; decimal units.
pub fn bytes(count: i64) -> String {
    let b = count as f64;
    match b {
        _ if b < 1e3 => format!("{b:.0} B"),
        _ if b < 1e6 => format!("{:.0} kB", b / 1e3),
        _ if b < 1e9 => format!("{:.1} MB", b / 1e6),
        _ if b < 1e12 => format!("{:.1} GB", b / 1e9),
        _ => format!("{:.1} TB", b / 1e12),
    }
}

/// `1 message`, `12 messages`.
pub fn many(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}

/// The first few of many, and how many more there are.
pub fn few<N>(names: N, most: usize) -> String
where
    N: IntoIterator<Item: AsRef<str>, IntoIter: ExactSizeIterator>,
{
    let names = names.into_iter();
    let more = names.len().saturating_sub(most);
    let shown: Vec<String> = names.take(most).map(|name| name.as_ref().to_string()).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A share in percent that is 0 or 100 only if it is so.
pub fn percent(part: usize, whole: usize) -> String {
    match (part, whole) {
        (0, _) => "0 %".to_string(),
        (part, whole) if part >= whole => "100 %".to_string(),
        (part, whole) => format!("{:.1} %", (100.0 * part as f64 / whole as f64).clamp(0.1, 99.9)),
    }
}

/// The median; `None` of nothing.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_nothing_or_all_only_if_it_is_so() {
        assert_eq!(percent(1, 100_000), "0.1 %");
        assert_eq!(percent(99_999, 100_000), "99.9 %");
        assert_eq!((percent(0, 5), percent(5, 5)), ("0 %".into(), "100 %".into()));
    }

    #[test]
    fn spans_have_fitting_units() {
        assert_eq!(
            [0.25, 5.21, 100.0, 600.0, 9_000.0, 864_000.0].map(span).join(" "),
            "250 ms 5.2 s 100 s 10 min 2.5 h 10 days"
        );
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }
}
