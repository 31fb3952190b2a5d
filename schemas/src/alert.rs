//! What leaves for operators and schedulers: notices of incidents, and the advice in them.
//!
//! `schemas/alerts/notice.schema.json` is the same as a JSON schema.

use crate::Interval;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Version of [`Notice`] as JSON.
pub const NOTICE_VERSION: u32 = 1;

/// How urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// At least one job loses time.
    Warning,
    /// Many jobs lose time, or their losses are unknown.
    Critical,
}

impl Severity {
    /// The word in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

/// What could be done: a closed list, so that a scheduler can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Other LIDs or forwarding tables: idle links stand beside the busy one (InfiniBand).
    RerouteLids,
    /// Another path for the flows: idle links stand beside the busy one (adaptive networks).
    UseAltPath,
    /// Place jobs apart: two of them want the same links.
    SpreadPlacement,
    /// Place the job closer together: it contends with itself.
    CompactPlacement,
    /// Hold back the I/O of the jobs that cause it.
    ThrottleIo,
    /// Take the one bad link out of service.
    DrainLink,
    /// Only more hardware helps, or the cause is unknown.
    NoneCapacity,
}

impl Action {
    /// All of them.
    pub const ALL: [Action; 7] = [
        Action::RerouteLids,
        Action::UseAltPath,
        Action::SpreadPlacement,
        Action::CompactPlacement,
        Action::ThrottleIo,
        Action::DrainLink,
        Action::NoneCapacity,
    ];

    /// The word in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Action::RerouteLids => "reroute_lids",
            Action::UseAltPath => "use_alt_path",
            Action::SpreadPlacement => "spread_placement",
            Action::CompactPlacement => "compact_placement",
            Action::ThrottleIo => "throttle_io",
            Action::DrainLink => "drain_link",
            Action::NoneCapacity => "none_capacity",
        }
    }
}

/// A job that loses time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SufferingJob {
    /// The scheduler's number.
    pub job_id: String,
    /// Seconds lost so far.
    pub lost_s: f64,
    /// Lower end of its 95% interval.
    pub lost_lo_s: f64,
    /// Upper end of its 95% interval.
    pub lost_hi_s: f64,
}

impl SufferingJob {
    /// A job and its loss.
    pub fn new(job_id: String, lost_s: Interval) -> SufferingJob {
        SufferingJob { job_id, lost_s: lost_s.value, lost_lo_s: lost_s.lo, lost_hi_s: lost_s.hi }
    }

    /// Its loss.
    pub fn lost(&self) -> Interval {
        Interval { value: self.lost_s, lo: self.lost_lo_s, hi: self.lost_hi_s }
    }
}

/// What a scheduler may do, and for how long that is worth doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Until when it holds, in seconds since the epoch; a firing incident renews it before.
    pub valid_until_s: f64,
    /// Series of the links to avoid, the worst first.
    pub links: Vec<String>,
    /// Nodes to avoid, in the order of their names.
    pub nodes: Vec<String>,
    /// Jobs that lose time, the largest lower end of the loss first.
    pub jobs: Vec<SufferingJob>,
    /// Jobs that make the load, the largest share first.
    pub causes: Vec<String>,
    /// What could be done.
    pub action: Action,
    /// Share of the worst load or loss that the action would take away, 0 to 1.
    pub expected_relief: f64,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
}

/// What became of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// It began to fire.
    Firing,
    /// It still fires: measurements and advice are new.
    Renewed,
    /// It is over.
    Resolved,
}

impl NoticeKind {
    /// The word in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            NoticeKind::Firing => "firing",
            NoticeKind::Renewed => "renewed",
            NoticeKind::Resolved => "resolved",
        }
    }
}

/// The report of an incident at one moment. Of two notices of one incident that with the higher sequence counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// [`NOTICE_VERSION`].
    pub version: u32,
    /// Idempotency key: the same notice has the same key, however often it is sent.
    pub key: String,
    /// The incident's change.
    pub kind: NoticeKind,
    /// The incident's number: 16 hexadecimal digits.
    pub incident: String,
    /// Sequence among the notices of the incident, from 1.
    pub sequence: u64,
    /// Name of the rule.
    pub rule: String,
    /// How urgent it is.
    pub severity: Severity,
    /// What it is about: a region, a job, a node, a series.
    pub subject: String,
    /// Words that stay the same through the incident, for grouping and silencing.
    pub labels: BTreeMap<String, String>,
    /// When contention or silence began, in seconds since the epoch, event time as all times here.
    pub started_s: f64,
    /// When the rule's least duration was over.
    pub fired_s: f64,
    /// When it was over; `None` while it fires.
    pub resolved_s: Option<f64>,
    /// One sentence.
    pub summary: String,
    /// Measurements in sentences.
    pub description: String,
    /// What an operator can do.
    pub hint: String,
    /// Series, regions, jobs or sources in it now; of a resolved one the most it had.
    pub members: u32,
    /// Seconds lost, of the member that lost most by the lower end.
    pub slowdown_s: f64,
    /// Lower end of its 95% interval.
    pub slowdown_lo_s: f64,
    /// Upper end of its 95% interval.
    pub slowdown_hi_s: f64,
    /// Share of the data that was there, 0 to 1, of the member of which least was there.
    pub completeness: f64,
    /// What a scheduler may do.
    pub advice: Advice,
}

impl Notice {
    /// Whether its advice is about one of `nodes`: one to avoid, an end of a link to avoid, or one of a job that loses
    /// time; `jobs` are those that run on the nodes.
    pub fn concerns(&self, nodes: &[String], jobs: &BTreeSet<String>) -> bool {
        let advice = &self.advice;
        let is_end = |link: &String| link.split('/').nth(1).is_some_and(|end| nodes.iter().any(|n| n == end));
        advice.nodes.iter().any(|node| nodes.contains(node))
            || advice.links.iter().any(is_end)
            || advice.jobs.iter().any(|job| jobs.contains(&job.job_id))
    }
}

/// The answer of `/api/v1/advice` at `now_s`: incidents that fire, each with its advice. Incidents with expired advice are
/// left out.
pub fn advice_answer(firing: &[Notice], now_s: f64) -> Value {
    let one = |notice: &Notice| {
        json!({
            "incident": notice.incident,
            "rule": notice.rule,
            "severity": notice.severity,
            "subject": notice.subject,
            "summary": notice.summary,
            "started_s": notice.started_s,
            "completeness": notice.completeness,
            "advice": notice.advice,
        })
    };
    let holds = |notice: &&Notice| notice.advice.valid_until_s > now_s;
    let advice: Vec<Value> = firing.iter().filter(holds).map(one).collect();
    json!({ "version": NOTICE_VERSION, "now_s": now_s, "advice": advice })
}

/// A notice and its receivers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutedNotice {
    /// The notice to deliver.
    pub notice: Notice,
    /// Names of the receivers.
    pub receivers: Vec<String>,
}

/// Notices whose labels match all of it, between two times, stay unsent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertSilence {
    /// Its number.
    pub id: String,
    /// Label and the text it must have; `*` at its end stands for anything.
    pub matchers: BTreeMap<String, String>,
    /// From when, in seconds since the epoch, by the deliverer's clock.
    pub from_s: f64,
    /// Until when.
    pub until_s: f64,
    /// Author.
    pub author: String,
    /// Why.
    pub comment: String,
}

impl AlertSilence {
    /// Whether it holds a notice back at `now_s`.
    pub fn holds(&self, notice: &Notice, now_s: f64) -> bool {
        let matches = |(label, wanted): (&String, &String)| {
            let Some(value) = notice.labels.get(label) else { return false };
            match wanted.strip_suffix('*') {
                Some(beginning) => value.starts_with(beginning),
                None => value == wanted,
            }
        };
        (self.from_s..self.until_s).contains(&now_s)
            && !self.matchers.is_empty()
            && self.matchers.iter().all(matches)
    }
}
