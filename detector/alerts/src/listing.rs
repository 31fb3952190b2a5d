//! Incidents, deliveries and silences as text, as `tailback alerts` prints them.

use crate::receivers::alertmanager::rfc3339;
use schemas::AlertSilence;
use schemas::{Advice, Notice, NoticeKind};
use std::fmt::Write;
use store::outbox::{Delivery, Undelivered};

/// Names that are shown of a list.
const SHOWN: usize = 8;

/// A time as people read it, in UTC.
pub fn time(seconds: f64) -> String {
    let text = rfc3339(seconds);
    text.get(..19).unwrap_or_default().replace('T', " ") + " UTC"
}

/// Text of other programs must neither control a terminal nor break a line.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Incidents, what was not delivered, silences.
pub fn list(incidents: &[Notice], undelivered: &[Undelivered], silences: &[AlertSilence]) -> String {
    let mut text = String::new();
    if incidents.is_empty() {
        text.push_str("no incident fires\n");
    }
    incidents.iter().for_each(|notice| text.push_str(&incident_lines(notice)));
    for left in undelivered {
        let why = match left.last_error.as_str() {
            "" => String::new(),
            error => format!(": {}", plain(error)),
        };
        let _ = writeln!(
            text,
            "not delivered to {}: {} waiting, {} dead of {}{why}",
            left.receiver, left.waiting, left.dead, left.incident
        );
    }
    silences.iter().for_each(|silence| text.push_str(&silence_line(silence)));
    text
}

fn incident_lines(notice: &Notice) -> String {
    let state = match notice.resolved_s {
        Some(over) => format!("resolved {}", time(over)),
        None => "firing".to_string(),
    };
    let (severity, since, summary) = (notice.severity.name(), time(notice.started_s), plain(&notice.summary));
    format!("{}  {severity:<8}  since {since}  {state}\n    {}: {summary}\n", notice.incident, notice.rule)
}

fn silence_line(silence: &AlertSilence) -> String {
    let matchers: Vec<String> =
        silence.matchers.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let comment =
        if silence.comment.is_empty() { String::new() } else { format!(": {}", plain(&silence.comment)) };
    format!(
        "silence {} from {} until {}: {} ({}{comment})\n",
        silence.id,
        time(silence.from_s),
        time(silence.until_s),
        plain(&matchers.join(", ")),
        plain(&silence.author),
    )
}

/// An incident with its advice and deliveries.
pub fn show(notice: &Notice, deliveries: &[Delivery]) -> String {
    let mut text = String::new();
    let state = match notice.kind {
        NoticeKind::Resolved => format!("resolved {}", time(notice.resolved_s.unwrap_or(notice.started_s))),
        NoticeKind::Firing | NoticeKind::Renewed => "firing".to_string(),
    };
    let _ = writeln!(
        text,
        "{} {} ({}): {}",
        notice.incident,
        notice.rule,
        notice.severity.name(),
        plain(&notice.summary)
    );
    let _ = writeln!(text, "since {}, fired {}, {state}", time(notice.started_s), time(notice.fired_s));
    let _ = writeln!(text, "{}", plain(&notice.description));
    let _ = writeln!(text, "{}", plain(&notice.hint));
    text.push_str(&advice_lines(&notice.advice));
    deliveries.iter().for_each(|delivery| text.push_str(&delivery_line(delivery)));
    text
}

fn advice_lines(advice: &Advice) -> String {
    let mut text = format!(
        "advice: {}, expected relief {:.0}%, confidence {:.0}%, until {}\n",
        advice.action.name(),
        100.0 * advice.expected_relief,
        100.0 * advice.confidence,
        time(advice.valid_until_s)
    );
    let jobs: Vec<String> =
        advice.jobs.iter().map(|job| format!("{} ({})", job.job_id, job.lost())).collect();
    for (what, names) in [
        ("avoid links", &advice.links),
        ("avoid nodes", &advice.nodes),
        ("jobs that lose time", &jobs),
        ("jobs that cause it", &advice.causes),
    ] {
        if !names.is_empty() {
            let _ = writeln!(text, "{what}: {}", few(names));
        }
    }
    text
}

fn delivery_line(d: &Delivery) -> String {
    let when = d.delivered_s.map_or(String::new(), |s| format!(" {}", time(s)));
    let error = if d.last_error.is_empty() { String::new() } else { format!(": {}", plain(&d.last_error)) };
    format!("{} to {}: {} {}{when}, tried {} times{error}\n", d.key, d.receiver, d.kind, d.state, d.attempts)
}

fn few(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(|name| plain(name)).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
