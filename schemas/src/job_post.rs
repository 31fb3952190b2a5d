//! Job events as scripts send them: `POST /api/v1/jobs`, and the topic that the server writes them to.
//!
//! One JSON object is one event: a start, an end, or both. It has the keys of a job file's line, but `nodes` may be a
//! hostlist too, `start` may be absent where only the end is known, and `label` is what users call the job:
//! `{"job_id":1241,"label":"1234_7","user":"ann","name":"ior","nodes":"nid[00001-00004]","start":1795217419}`

use crate::hostlist::{self, HOSTS_MAX, HostlistError, Size};
use crate::{JobEvent, JobNumber, JobNumberError, Name, NameError, Time, job_number};
use serde::{Deserialize, Serialize};

/// Seconds by which a sender's clock may be ahead.
const AHEAD_S: f64 = 3_600.0;
/// 2000-01-01: no job of interest is older.
const EARLIEST_S: f64 = 946_684_800.0;
/// Longest text of a person that is kept, in characters.
const TEXT_MAX: usize = 128;

/// One event, as it stands in the body of a request and in the topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostedJob {
    /// The scheduler's number, as Slurm, PBS or Flux write it; a JSON string or number.
    #[serde(deserialize_with = "crate::jsonl::text_or_number")]
    pub job_id: String,
    /// What users call it where that is not its number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The cluster whose number it is, where several report.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cluster: String,
    /// Login name.
    #[serde(default)]
    pub user: String,
    /// Job name.
    #[serde(default)]
    pub name: String,
    /// Nodes.
    pub nodes: PostedNodes,
    /// Start in seconds since the epoch; null or absent where only the end is reported.
    #[serde(default)]
    pub start: Option<f64>,
    /// End in seconds since the epoch; null or absent while it runs.
    #[serde(default)]
    pub end: Option<f64>,
}

/// Nodes in one of two forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PostedNodes {
    /// A hostlist, `nid[00001-00004]`.
    Hostlist(String),
    /// Names, one each.
    List(Vec<String>),
}

/// Why an event is not taken.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// Not the JSON of an event.
    #[error("not a job event: {0}")]
    Json(#[from] serde_json::Error),
    /// The number is none.
    #[error("job_id: {0}")]
    JobId(JobNumberError),
    /// The label has a character that no scheduler uses, or is too long.
    #[error("label: {0}")]
    Label(NameError),
    /// The nodes are no nodes.
    #[error("nodes: {0}")]
    Nodes(#[from] HostlistError),
    /// No node, or neither start nor end.
    #[error("{0}")]
    Missing(&'static str),
    /// It ends before it starts.
    #[error("end {end} lies before start {start}")]
    Order {
        /// Start in seconds.
        start: f64,
        /// End in seconds.
        end: f64,
    },
    /// A time that cannot be.
    #[error("{field} {seconds} is no time in seconds since the epoch between 2000 and now ({now})")]
    Time {
        /// `start` or `end`.
        field: &'static str,
        /// What was given.
        seconds: f64,
        /// The reader's clock, in seconds.
        now: f64,
    },
}

type Facts = (Name, String, Option<Time>, Option<Time>);

impl PostedJob {
    /// Its event. `now` is when it was received: times far after it are refused, since one of them would hide
    /// all that is known of the job.
    ///
    /// # Errors
    /// [`PostError`] names the field.
    pub fn event(&self, now: Time) -> Result<JobEvent, PostError> {
        let (job_id, label, start, end) = self.facts(now)?;
        Ok(JobEvent {
            time: end.or(start).unwrap_or(now),
            nodes: self.nodes.names()?,
            label,
            job_id,
            user: shown(&self.user),
            name: shown(&self.name),
            start,
            end,
            seen: false,
        })
    }

    /// How large its nodes are, of which at most `most` are allowed. The event is checked as by [`PostedJob::event`], but
    /// its nodes are not made.
    ///
    /// # Errors
    /// [`PostError`] names the field.
    pub fn measure(&self, now: Time, most: usize) -> Result<Size, PostError> {
        self.facts(now)?;
        self.nodes.measure(most.min(HOSTS_MAX))
    }

    /// Number, label, start and end.
    fn facts(&self, now: Time) -> Result<Facts, PostError> {
        let JobNumber { job_id, label } = JobNumber::parse(&self.job_id).map_err(PostError::JobId)?;
        if job_id.as_str().bytes().all(|b| b == b'0') {
            return Err(PostError::Missing("job_id 0 means no job"));
        }
        let (start, end) = (moment("start", self.start, now)?, moment("end", self.end, now)?);
        match (start, end) {
            (None, None) => return Err(PostError::Missing("it has neither start nor end")),
            (Some(start), Some(end)) if end < start => {
                return Err(PostError::Order { start: start.seconds(), end: end.seconds() });
            }
            _ => {}
        }
        let label = match self.label.as_str() {
            "" => label,
            given => job_number::label(given).map_err(PostError::Label)?,
        };
        let label = if label == job_id.as_str() { String::new() } else { label };
        Ok((job_id, label, start, end))
    }
}

impl PostedNodes {
    fn measure(&self, most: usize) -> Result<Size, PostError> {
        let size = match self {
            PostedNodes::Hostlist(text) => hostlist::measure(text, most)?,
            PostedNodes::List(names) if names.len() > most => {
                return Err(HostlistError::TooMany { most }.into());
            }
            PostedNodes::List(names) => {
                names.iter().try_for_each(|name| Name::parse(name).map(drop)).map_err(HostlistError::Host)?;
                Size { hosts: names.len(), bytes: names.iter().map(String::len).sum() }
            }
        };
        if size.hosts == 0 { Err(PostError::Missing("it has no nodes")) } else { Ok(size) }
    }

    fn names(&self) -> Result<Vec<Name>, PostError> {
        let names = match self {
            PostedNodes::Hostlist(text) => hostlist::expand(text, HOSTS_MAX)?,
            PostedNodes::List(names) if names.len() > HOSTS_MAX => {
                return Err(HostlistError::TooMany { most: HOSTS_MAX }.into());
            }
            PostedNodes::List(names) => {
                let parsed = names.iter().map(|name| Name::parse(name)).collect::<Result<_, _>>();
                parsed.map_err(HostlistError::Host)?
            }
        };
        if names.is_empty() { Err(PostError::Missing("it has no nodes")) } else { Ok(names) }
    }
}

fn moment(field: &'static str, seconds: Option<f64>, now: Time) -> Result<Option<Time>, PostError> {
    let Some(seconds) = seconds else { return Ok(None) };
    if (EARLIEST_S..=now.seconds() + AHEAD_S).contains(&seconds) {
        return Ok(Some(Time::from_seconds(seconds)));
    }
    Err(PostError::Time { field, seconds, now: now.seconds() })
}

/// Free text as it may be shown, cut off where it is too long: no control characters, no marks that turn the direction
/// of writing.
pub fn shown(text: &str) -> String {
    let hidden = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |c: char| if hidden(c) { '\u{fffd}' } else { c };
    text.chars().take(TEXT_MAX).map(shown).collect()
}

/// The events of a request's body: one object, a list of objects, or objects on lines; at most `most` of them.
///
/// # Errors
/// Which event is wrong (from 1) and why.
pub fn read_body(body: &str, most: usize) -> Result<Vec<PostedJob>, (usize, PostError)> {
    let body = body.trim();
    let mut jobs = Vec::new();
    if body.starts_with('[') {
        jobs = serde_json::from_str(body).map_err(|error| (1, error.into()))?;
    } else {
        // Objects may stand on lines, or be spread over several.
        for job in serde_json::Deserializer::from_str(body).into_iter::<PostedJob>() {
            jobs.push(job.map_err(|error| (jobs.len() + 1, error.into()))?);
            if jobs.len() > most {
                break;
            }
        }
    }
    match jobs.len() {
        0 => Err((1, PostError::Missing("the body is empty"))),
        count if count > most => Err((most + 1, PostError::Missing("there are too many in one request"))),
        _ => Ok(jobs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_795_217_500_000_000);

    fn event(json: &str) -> Result<JobEvent, String> {
        let mut jobs = read_body(json, 10).map_err(|(at, error)| format!("{at}: {error}"))?;
        jobs.remove(0).event(NOW).map_err(|error| error.to_string())
    }

    #[test]
    fn a_start_and_an_end_are_events() {
        let start = event(
            r#"{"job_id":1241,"label":"1234_7","user":"ann","name":"a\nb","nodes":"nid[00001-00002]","start":1795217419}"#,
        );
        let start = start.unwrap();
        assert_eq!((start.job_id.as_str(), start.label.as_str()), ("1241", "1234_7"));
        assert_eq!((start.nodes.len(), start.name.as_str()), (2, "a\u{fffd}b"));
        assert_eq!((start.start, start.end), (Some(Time(1_795_217_419_000_000)), None));
        let end = event(r#"{"job_id":"9","nodes":["a"],"end":1795217419.5}"#).unwrap();
        assert_eq!((end.start, end.end, end.time), (None, Some(end.time), Time(1_795_217_419_500_000)));
    }

    #[test]
    fn what_is_wrong_is_said_in_a_sentence() {
        let wrong = |json: &str| event(json).unwrap_err();
        assert_eq!(wrong(r#"{"job_id":1,"nodes":"a"}"#), "it has neither start nor end");
        assert_eq!(wrong(r#"{"job_id":0,"nodes":"a","end":1795217419}"#), "job_id 0 means no job");
        assert_eq!(wrong(r#"{"job_id":1,"nodes":"","end":1795217419}"#), "it has no nodes");
        assert_eq!(
            wrong(r#"{"job_id":1,"nodes":"a[","end":1795217419}"#),
            "nodes: the hostlist has an unbalanced bracket in \"a[\""
        );
        assert_eq!(
            wrong(r#"{"job_id":1,"nodes":"a","start":1795217419,"end":1795217418}"#),
            "end 1795217418 lies before start 1795217419"
        );
        let time = wrong(r#"{"job_id":1,"nodes":"a","start":1795227419}"#);
        assert!(time.starts_with("start 1795227419 is no time"), "{time}");
        assert!(wrong(r#"{"job_id":1,"node":"a","start":1795217419}"#).contains("unknown field `node`"));
        assert!(wrong("").contains("the body is empty"));
    }

    #[test]
    fn a_body_may_be_an_object_a_list_or_lines() {
        let one = r#"{"job_id":1,"nodes":"a","start":1795217419}"#;
        for (body, count) in
            [(one.to_string(), 1), (format!("[{one},{one}]"), 2), (format!("{one}\n{one}\n"), 2)]
        {
            assert_eq!(read_body(&body, 10).unwrap().len(), count, "{body}");
        }
        let (at, error) = read_body(&format!("{one}\n{{\"job_id\":[]}}"), 10).unwrap_err();
        assert!(at == 2 && error.to_string().starts_with("not a job event: "), "{at}: {error}");
        assert_eq!(read_body(&format!("{one}\n{one}\n{one}"), 2).unwrap_err().0, 3);
    }
}
