//! Reports of the progress of a job: as they are posted, and as rows of the schema `tailback_progress`.

use crate::{Name, Time};
use serde::{Deserialize, Serialize};

/// Longest name of a count.
const NAME_BYTES_MAX: usize = 32;
/// Seconds by which a job's clock may differ from that of the server.
const CLOCK_OFF_MAX_S: f64 = 60.0;
/// The schema of the rows.
const SCHEMA: &str = "tailback_progress";

/// What a job counted so far.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What is counted: `steps`, `bytes`, `iterations`.
    pub name: String,
    /// The count; one that falls begins again.
    pub count: u64,
    /// Rank of the process that counts.
    #[serde(default)]
    pub rank: u32,
    /// When it was read, in seconds since the epoch; without it when it arrived.
    pub time_s: Option<f64>,
}

/// A row; the aggregator reads it as those of ldmsd.
#[derive(Serialize)]
struct Row<'a> {
    schema: &'static str,
    producer: &'a str,
    timestamp: f64,
    job_id: &'a str,
    progress_name: &'a str,
    progress_rank: String,
    progress_count: u64,
}

impl Report {
    /// The row of a report of `job` that arrived at `now`.
    ///
    /// # Errors
    /// A number that JSON does not have.
    pub fn row(&self, job: &Name, now: Time) -> serde_json::Result<Vec<u8>> {
        let time = self.time_s.map_or(now, Time::from_seconds);
        serde_json::to_vec(&Row {
            schema: SCHEMA,
            producer: job.as_str(),
            timestamp: time.0 as f64 / 1e6,
            job_id: job.as_str(),
            progress_name: &self.name,
            progress_rank: self.rank.to_string(),
            progress_count: self.count,
        })
    }

    fn check(&self, now: Time) -> Result<(), String> {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !(1..=NAME_BYTES_MAX).contains(&self.name.len()) || !self.name.bytes().all(is_letter) {
            let shown: String = self.name.chars().take(NAME_BYTES_MAX).collect();
            return Err(format!(
                "name {shown:?} must be 1 to {NAME_BYTES_MAX} of a-z, 0-9 and _, such as \"steps\""
            ));
        }
        match self.time_s {
            Some(time_s) if (time_s - now.seconds()).abs() > CLOCK_OFF_MAX_S => Err(format!(
                "time_s {time_s} is more than {CLOCK_OFF_MAX_S} s from the server's clock ({:.3}): leave it out, or correct the clock",
                now.seconds()
            )),
            _ => Ok(()),
        }
    }
}

/// The reports of a body, one object or a list of at most `most`.
///
/// # Errors
/// What is wrong, in one sentence.
pub fn read_reports(body: &[u8], most: usize, now: Time) -> Result<Vec<Report>, String> {
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let reports = match is_list {
        true => serde_json::from_slice(body),
        false => serde_json::from_slice(body).map(|report| vec![report]),
    };
    let reports: Vec<Report> = reports.map_err(|error| {
        format!("the body is no report: {error}; send {{\"name\": \"steps\", \"count\": 1234, \"rank\": 0}} or a list of such")
    })?;
    match reports.len() {
        0 => return Err("the list has no report".to_string()),
        many if many > most => {
            return Err(format!("the list has {many} reports, more than limits.progress_reports = {most}"));
        }
        _ => {}
    }
    for (at, report) in reports.iter().enumerate() {
        report.check(now).map_err(|error| format!("report {}: {error}", at + 1))?;
    }
    Ok(reports)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_700_000_000_123_456);

    #[test]
    fn a_report_is_a_row_at_its_own_time_or_that_of_arrival() {
        let job = Name::parse("1240.r1").unwrap();
        let body = br#" [{"name":"steps","count":18446744073709551615},{"name":"bytes","count":0,"rank":7,"time_s":1700000059.5}]"#;
        let rows: Vec<String> = read_reports(body, 2, NOW)
            .unwrap()
            .iter()
            .map(|report| String::from_utf8(report.row(&job, NOW).unwrap()).unwrap())
            .collect();
        assert_eq!(
            rows,
            [
                r#"{"schema":"tailback_progress","producer":"1240.r1","timestamp":1700000000.123456,"job_id":"1240.r1","progress_name":"steps","progress_rank":"0","progress_count":18446744073709551615}"#,
                r#"{"schema":"tailback_progress","producer":"1240.r1","timestamp":1700000059.5,"job_id":"1240.r1","progress_name":"bytes","progress_rank":"7","progress_count":0}"#,
            ]
        );
    }

    #[test]
    fn each_wrong_report_is_refused_with_its_reason() {
        let long = format!(r#"{{"name":"{}","count":1}}"#, "x".repeat(33));
        for (body, part) in [
            ("", "the body is no report"),
            ("[]", "no report"),
            (r#"{"name":"steps"}"#, "missing field `count`"),
            (r#"{"name":"steps","count":-1}"#, "expected u64"),
            (r#"{"name":"steps","count":1.5}"#, "expected u64"),
            (r#"{"name":"steps","count":1,"rank":-1}"#, "expected u32"),
            (r#"{"name":"steps","count":1,"step":1}"#, "unknown field `step`"),
            (r#"{"name":"","count":1}"#, "1 to 32"),
            (r#"{"name":"Steps","count":1}"#, "\"Steps\""),
            (&long, "1 to 32"),
            (r#"[{"name":"steps","count":1},{"name":"a b","count":1}]"#, "report 2: "),
            (r#"{"name":"steps","count":1,"time_s":1700000061}"#, "more than 60 s"),
            (r#"{"name":"steps","count":1,"time_s":1e300}"#, "more than 60 s"),
            (
                r#"[{"name":"a","count":1},{"name":"b","count":1},{"name":"c","count":1}]"#,
                "progress_reports = 2",
            ),
        ] {
            let error = read_reports(body.as_bytes(), 2, NOW).unwrap_err();
            assert!(error.contains(part), "{body}: {error}");
        }
    }
}
