//! Prometheus' Alertmanager, API v2. Labels stay the same while an incident lasts, measurements are annotations. What fires is
//! sent again before it would expire there; what is over is sent for five minutes, as Prometheus does.

use super::http::{self, Refusal};
use super::receiver::Receiver;
use reqwest::Client;
use schemas::{Notice, NoticeKind};
use serde_json::{Value, json};

/// Seconds for which the end of an incident is repeated.
const RESOLVED_S: f64 = 300.0;
/// Sendings that may be missed before the Alertmanager takes an incident for resolved.
const MISSED: f64 = 4.0;

/// When a notice that was delivered is sent again; `None` for never.
pub fn again_s(receiver: &Receiver, notice: &Notice, first_s: f64, now_s: f64) -> Option<f64> {
    let next_s = now_s + receiver.resend_s;
    (notice.kind != NoticeKind::Resolved || next_s <= first_s + RESOLVED_S).then_some(next_s)
}

/// Sends a notice.
///
/// # Errors
/// [`Refusal`].
pub async fn send(client: &Client, receiver: &Receiver, notice: &Notice, now_s: f64) -> Result<(), Refusal> {
    post(client, receiver, &alert(notice, receiver, now_s), now_s).await
}

/// Posts an alert.
///
/// # Errors
/// [`Refusal`].
pub async fn post(client: &Client, receiver: &Receiver, alert: &Value, now_s: f64) -> Result<(), Refusal> {
    let body = json!([alert]).to_string();
    let request = client.post(url(receiver, "alerts")).header("Content-Type", "application/json").body(body);
    http::send(request, receiver, now_s).await
}

/// Its address of a resource.
pub fn url(receiver: &Receiver, resource: &str) -> String {
    format!("{}/api/v2/{resource}", receiver.url.trim_end_matches('/'))
}

/// When an alert that is sent now expires there, unless it is sent again.
pub fn expires_s(receiver: &Receiver, now_s: f64) -> f64 {
    now_s + MISSED * receiver.resend_s
}

fn alert(notice: &Notice, receiver: &Receiver, now_s: f64) -> Value {
    let expires_s = expires_s(receiver, now_s);
    // An end that lies ahead would be none; rows of a simulation may be ahead of the clock.
    let ends_s = notice.resolved_s.map_or(expires_s, |over| over.min(now_s));
    let advice = &notice.advice;
    let names = |list: &[String]| list.join(" ");
    let jobs: Vec<String> = advice
        .jobs
        .iter()
        .map(|job| format!("{}:{:.1}[{:.1},{:.1}]", job.job_id, job.lost_s, job.lost_lo_s, job.lost_hi_s))
        .collect();
    json!({
        "labels": notice.labels,
        "annotations": {
            "summary": notice.summary,
            "description": notice.description,
            "hint": notice.hint,
            "members": notice.members.to_string(),
            "slowdown_s": format!("{:.3}", notice.slowdown_s),
            "slowdown_lo_s": format!("{:.3}", notice.slowdown_lo_s),
            "slowdown_hi_s": format!("{:.3}", notice.slowdown_hi_s),
            "completeness": format!("{:.3}", notice.completeness),
            "action": advice.action.name(),
            "expected_relief": format!("{:.3}", advice.expected_relief),
            "confidence": format!("{:.3}", advice.confidence),
            "advice_until": rfc3339(advice.valid_until_s),
            "avoid_nodes": names(&advice.nodes),
            "avoid_links": names(&advice.links),
            "jobs": jobs.join(" "),
        },
        "startsAt": rfc3339(notice.started_s.min(ends_s - 0.001)),
        "endsAt": rfc3339(ends_s),
        "generatorURL": receiver.link_to(&notice.incident).unwrap_or_default(),
    })
}

/// A time as RFC 3339 in UTC, to the millisecond; the epoch where it is none that has a date.
pub fn rfc3339(seconds: f64) -> String {
    let ms = (seconds.max(0.0) * 1e3).floor() as i64;
    format!("{:.3}", jiff::Timestamp::from_millisecond(ms).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_of_the_civil_calendar() {
        for (seconds, text) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (951_782_400.0, "2000-02-29T00:00:00.000Z"),
            (1_795_272_000.25, "2026-11-21T14:40:00.250Z"),
            (4_107_542_399.999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
    }
}
