//! An answer as text, as JSON and as an exit status.

use crate::commands::own_job::plain;
use alerts::listing::time;
use schemas::{Interval, Name, loss_words};
use serde_json::{Value, json};
use std::fmt::Write;

/// An answer of `/api/v1/jobs/{id}/contention`.
pub struct Answer(Value);

impl Answer {
    /// Reads the body of a response.
    ///
    /// # Errors
    /// Other JSON, or none.
    pub fn parse(text: &str) -> anyhow::Result<Answer> {
        let answer = Answer(serde_json::from_str(text)?);
        anyhow::ensure!(answer.0["state"].is_string(), "it has no state");
        Ok(answer)
    }

    /// No server answered; the job is not judged.
    pub fn none(job: &Name, reason: &str) -> Answer {
        Answer(json!({ "state": "not_judged", "job_id": job.as_str(), "reason": reason, "resources": [] }))
    }

    /// 0 clear, 3 contended, 4 not judged.
    pub fn status(&self) -> u8 {
        match self.word(&self.0, "state").as_str() {
            "clear" => 0,
            "contended" => 3,
            _ => 4,
        }
    }

    /// One line.
    pub fn json(&self) -> String {
        format!("{}\n", self.0)
    }

    /// For people.
    pub fn text(&self) -> String {
        let state = self.word(&self.0, "state").replace('_', " ");
        let mut text = format!("job {}: {state}", self.word(&self.0, "job_id"));
        if let Some(reason) = self.0["reason"].as_str() {
            text += &format!(": {}", plain(reason));
        }
        text += "\n";
        let resources = self.0["resources"].as_array().map_or(&[][..], Vec::as_slice);
        for resource in resources {
            text += &format!("  {}\n", self.resource(resource));
        }
        let total = self.0["resources_total"].as_u64().unwrap_or_default() as usize;
        if total > resources.len() {
            text += &format!("  and {} more\n", total - resources.len());
        }
        if let Some(lost) = interval(&self.0) {
            let share = |name: &str| self.0[name].as_f64().unwrap_or_default() * 100.0;
            let (judged, complete) = (share("judged"), share("completeness"));
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "since its start: {}; {judged:.0}% judged, {complete:.0}% of the data arrived",
                loss_words::lost(lost, None)
            );
        }
        if let Some(time_s) = self.0["time_s"].as_f64() {
            text += &format!("data until {}\n", time(time_s));
        }
        text
    }

    fn resource(&self, resource: &Value) -> String {
        let about = self.word(resource, "about").replace('_', " ");
        let mut text = format!("{about} {}", self.word(resource, "name"));
        if let Some(since_s) = resource["since_s"].as_f64() {
            text += &format!(", since {}", time(since_s));
        }
        if let Some(lost) = interval(resource) {
            text += &format!(": {}", loss_words::lost(lost, None));
        }
        if let Some(cause) = resource["cause"].as_str().filter(|cause| *cause != "unknown") {
            text += &format!("; cause: {}", plain(cause).replace('_', " "));
        }
        match resource["until_s"].as_f64() {
            Some(until_s) => text + &format!("; expected until {}", time(until_s)),
            None => text,
        }
    }

    fn word(&self, of: &Value, name: &str) -> String {
        plain(of[name].as_str().unwrap_or("unknown"))
    }
}

fn interval(of: &Value) -> Option<Interval> {
    let [value, lo, hi] = ["lost_s", "lost_lo_s", "lost_hi_s"].map(|name| of[name].as_f64());
    Some(Interval { value: value?, lo: lo?, hi: hi? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENDED: &str = r#"{"state":"contended","lost_s":8.3,"lost_lo_s":7.9,"lost_hi_s":8.8,"time_s":1800000600,
        "judged":0.98,"completeness":1,"job_id":"4710","reason":null,"resources_total":3,
        "resources":[{"about":"file_system","name":"snx11137","since_s":1800000575,"lost_s":8.3,"lost_lo_s":7.9,
                      "lost_hi_s":8.8,"cause":"other_job","until_s":1800001200},
                     {"about":"links","name":"c0-0c0s0","since_s":1800000590,"lost_s":null,"cause":"unknown","until_s":null}]}"#;

    #[test]
    fn people_read_what_is_contended_since_when_and_until() {
        let answer = Answer::parse(CONTENDED).unwrap();
        let expected = "job 4710: contended\n  \
             file system snx11137, since 2027-01-15 08:09:35 UTC: lost 8.3 s [7.9, 8.8] to contention; cause: other job; \
             expected until 2027-01-15 08:20:00 UTC\n  \
             links c0-0c0s0, since 2027-01-15 08:09:50 UTC\n  \
             and 1 more\n\
             since its start: lost 8.3 s [7.9, 8.8] to contention; 98% judged, 100% of the data arrived\n\
             data until 2027-01-15 08:10:00 UTC\n";
        assert_eq!((answer.text().as_str(), answer.status()), (expected, 3));
    }

    #[test]
    fn without_an_answer_a_job_is_not_judged() {
        let answer = Answer::none(&Name::parse("7").unwrap(), "nothing answers\u{1b}[2J");
        assert_eq!(answer.text(), "job 7: not judged: nothing answers\u{fffd}[2J\n");
        assert_eq!(answer.status(), 4);
        assert_eq!(Answer::parse(r#"{"state":"clear"}"#).unwrap().status(), 0);
        assert!(Answer::parse("{}").is_err() && Answer::parse("<html>").is_err());
    }
}
