//! Replacements by Grafana in a query: macros of its PostgreSQL data source and template variables.

use std::collections::BTreeMap;

/// A span of time that a dashboard shows.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Seconds since the epoch.
    pub from_s: i64,
    pub until_s: i64,
}

/// Points of a panel across the whole screen.
const POINTS: i64 = 1_400;

impl Span {
    /// Grafana's `$__interval_ms`: the span over the points of a panel, rounded to a usual step.
    pub fn interval_ms(self) -> i64 {
        let steps =
            [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400];
        let raw = (self.until_s - self.from_s) / POINTS;
        steps.into_iter().rev().find(|step| *step <= raw.max(1)).unwrap_or(1) * 1_000
    }
}

/// Values of the variables; several only if several may be selected.
pub type Values = BTreeMap<String, Vec<String>>;

/// The query as it reaches the database.
pub fn expanded(sql: &str, span: Span, values: &Values) -> String {
    let mut text = sql
        .replace("$__timeFrom()", &format!("'{}'", stamp(span.from_s)))
        .replace("$__timeTo()", &format!("'{}'", stamp(span.until_s)))
        .replace("$__interval_ms", &span.interval_ms().to_string());
    for (name, chosen) in values {
        text = text.replace(&format!("${{{name}:sqlstring}}"), &quoted(chosen));
    }
    text
}

/// The format `sqlstring`: quoted, quotes doubled, commas between several.
fn quoted(chosen: &[String]) -> String {
    let each: Vec<String> = chosen.iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect();
    each.join(",")
}

/// `2026-10-15T00:00:00Z`, as the data source writes times.
fn stamp(seconds: i64) -> String {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Howard Hinnant's civil_from_days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (year_of_era + era * 400, if month < 10 { month + 3 } else { month - 9 });
    let year = if month <= 2 { year + 1 } else { year };
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[test]
fn times_and_variables_are_put_in_as_grafana_does() {
    let values = Values::from([("job".to_string(), vec!["a'b".to_string(), "c".to_string()])]);
    let span = Span { from_s: 1_792_022_400, until_s: 1_792_108_800 };
    let text = expanded("$__timeFrom() $__timeTo() $__interval_ms ${job:sqlstring}", span, &values);
    assert_eq!(text, "'2026-10-15T00:00:00Z' '2026-10-16T00:00:00Z' 60000 'a''b','c'");
}
