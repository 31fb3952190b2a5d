//! Incidents: alerts of one rule that belong together and share their notices.

use super::rule::{GroupBy, Rule};
use super::subject::{Key, Subject};
use super::text::{self, Words};
use super::{advise, rule::About};
use schemas::{Interval, NOTICE_VERSION, Notice, NoticeKind, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds between two beginnings that still are one.
const TOGETHER_S: f64 = 10.0;
/// Part of the time for which an advice holds after which it is renewed.
const RENEWED: f64 = 0.6;

/// Alerts that share their notices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Its number: 16 hexadecimal digits.
    pub id: String,
    /// Name of the rule.
    pub rule: String,
    /// What makes it one.
    pub group: String,
    /// What people call it.
    pub subject: String,
    /// When the first of it began.
    pub started: Time,
    /// When the first of it fired.
    pub fired: Time,
    /// When the latest of it began.
    pub latest: Time,
    /// When the last of it ended so far.
    pub ended: Time,
    /// Its members.
    pub members: BTreeSet<Key>,
    /// Most that were in it.
    pub most: u32,
    /// Notices so far.
    pub sequence: u64,
    /// Up to when its advice holds.
    pub valid_until: Time,
    /// The latest notice, which the notice of its end repeats.
    pub last: Option<Notice>,
}

/// What makes `subject` one with others, for a rule.
pub fn group(rule: &Rule, key: &Key, subject: &Subject) -> String {
    match (rule.group_by, key) {
        (GroupBy::Region, Key::Region(id)) => format!("region {id}"),
        (GroupBy::Mount, _) if !subject.part.is_empty() => subject.part.clone(),
        (GroupBy::Component, _) if !subject.component.is_empty() => subject.component.clone(),
        (GroupBy::Onset, _) => String::new(),
        _ => subject.name.clone(),
    }
}

impl Incident {
    /// One that begins with `subject`.
    pub fn begin(rule: &Rule, group: String, subject: &Subject, fired: Time) -> Incident {
        let by_name = matches!(rule.group_by, GroupBy::Region | GroupBy::Job | GroupBy::Onset);
        let named = if by_name { subject.name.clone() } else { group.clone() };
        let number = [&rule.name, &group, &subject.name].into_iter().map(String::as_bytes);
        let times = [subject.since.0.to_be_bytes(), fired.0.to_be_bytes()];
        let id = fnv(number.chain(times.iter().map(<[u8; 8]>::as_slice)));
        Incident {
            id: format!("{id:016x}"),
            rule: rule.name.clone(),
            group,
            subject: named,
            started: subject.since,
            fired,
            latest: subject.since,
            ended: subject.since,
            members: BTreeSet::new(),
            most: 0,
            sequence: 0,
            valid_until: Time::MIN,
            last: None,
        }
    }

    /// Whether `subject` belongs to it.
    pub fn takes(&self, rule: &Rule, group: &str, subject: &Subject) -> bool {
        let together = (subject.since.seconds_since(self.latest)).abs() <= TOGETHER_S;
        self.rule == rule.name && self.group == group && (rule.group_by != GroupBy::Onset || together)
    }

    /// Takes one up.
    pub fn add(&mut self, key: Key, subject: &Subject) {
        self.members.insert(key);
        self.most = self.most.max(self.members.len() as u32);
        self.started = self.started.min(subject.since);
        self.latest = self.latest.max(subject.since);
    }

    /// Lets one go that ended.
    pub fn remove(&mut self, key: &Key, ended: Time) {
        self.members.remove(key);
        self.ended = self.ended.max(ended);
    }

    /// The kind of notice that is due at `now`.
    pub fn is_due(&self, rule: &Rule, now: Time) -> Option<NoticeKind> {
        if self.members.is_empty() {
            return Some(NoticeKind::Resolved);
        }
        if self.sequence == 0 {
            return Some(NoticeKind::Firing);
        }
        let left_s = self.valid_until.seconds_since(now);
        (left_s <= (1.0 - RENEWED) * rule.advice_s).then_some(NoticeKind::Renewed)
    }

    /// Makes a notice. That of an ended incident repeats the last measurements.
    pub fn notify(
        &mut self,
        kind: NoticeKind,
        rule: &Rule,
        members: &[&Subject],
        now: Time,
        nodes_of: &BTreeMap<String, Vec<String>>,
    ) -> Notice {
        self.sequence += 1;
        let key = format!("{}.{}", self.id, self.sequence);
        let mut notice = match self.last.take().filter(|_| members.is_empty()) {
            Some(last) => last,
            None => self.measured_notice(rule, members, now, nodes_of),
        };
        (notice.key, notice.kind, notice.sequence) = (key, kind, self.sequence);
        if kind == NoticeKind::Resolved {
            self.close(&mut notice);
        }
        self.last = Some(notice.clone());
        notice
    }

    /// Ends it at `now`, since its rule is no longer configured. `None` where no notice announced it.
    pub fn end_unruled(mut self, now: Time) -> Option<Notice> {
        let mut notice = self.last.take()?;
        self.sequence += 1;
        self.ended = now;
        (notice.key, notice.kind) = (format!("{}.{}", self.id, self.sequence), NoticeKind::Resolved);
        notice.sequence = self.sequence;
        notice.summary =
            format!("{}: the rule {} was removed from the configuration", self.subject, self.rule);
        notice.description =
            format!("The incident ended because the rule {} is no longer configured.", self.rule);
        self.close(&mut notice);
        Some(notice)
    }

    /// Makes a notice that of its end.
    fn close(&self, notice: &mut Notice) {
        let over_s = self.ended.max(self.started).seconds();
        notice.resolved_s = Some(over_s);
        notice.members = self.most;
        notice.advice.valid_until_s = over_s.min(notice.advice.valid_until_s);
    }

    fn measured_notice(
        &mut self,
        rule: &Rule,
        members: &[&Subject],
        now: Time,
        nodes_of: &BTreeMap<String, Vec<String>>,
    ) -> Notice {
        self.valid_until = now.plus_seconds(rule.advice_s);
        let advice = advise::advice(members, self.valid_until.seconds(), nodes_of);
        let worst = members.iter().max_by(|a, b| a.slowdown_s.by_lower_end(&b.slowdown_s));
        let words = Words {
            subject: self.subject.clone(),
            members: members.len() as u32,
            links: members.iter().map(|member| member.links).sum(),
            duration_s: now.seconds_since(self.started),
            slowdown_s: worst.map_or_else(Interval::default, |worst| worst.slowdown_s),
            completeness: members.iter().map(|member| member.completeness).fold(1.0, f64::min),
            judged: members.iter().map(|member| member.judged).fold(1.0, f64::min),
            cause: worst.map_or("unknown", |worst| worst.cause.name()),
            kind: worst.map_or("unknown", |worst| worst.kind.name()),
            action: advice.action.name(),
        };
        Notice {
            version: NOTICE_VERSION,
            key: String::new(),
            kind: NoticeKind::Firing,
            incident: self.id.clone(),
            sequence: 0,
            rule: rule.name.clone(),
            severity: rule.severity,
            subject: self.subject.clone(),
            labels: self.labels(rule, members),
            started_s: self.started.seconds(),
            fired_s: self.fired.seconds(),
            resolved_s: None,
            summary: text::fill(&rule.summary, &words),
            description: text::fill(&rule.description, &words),
            hint: text::fill(&rule.hint, &words),
            members: words.members,
            slowdown_s: words.slowdown_s.value,
            slowdown_lo_s: words.slowdown_s.lo,
            slowdown_hi_s: words.slowdown_s.hi,
            completeness: words.completeness,
            advice,
        }
    }

    /// Labels that do not change while it lasts: no measurements, no causes.
    fn labels(&self, rule: &Rule, members: &[&Subject]) -> BTreeMap<String, String> {
        let about = match rule.about {
            About::Series => "series",
            About::Region => "region",
            About::Job => "job",
            About::Source => "source",
        };
        let mut labels = BTreeMap::from(
            [
                ("alertname", rule.name.as_str()),
                ("severity", rule.severity.name()),
                ("about", about),
                ("subject", self.subject.as_str()),
                ("incident", self.id.as_str()),
            ]
            .map(|(name, value)| (name.to_string(), value.to_string())),
        );
        if let Some(last) = &self.last {
            return last.labels.clone();
        }
        if let Some(metric) = members.first().and_then(|member| member.metric) {
            labels.insert("metric".to_string(), metric.name().to_string());
        }
        if rule.group_by == GroupBy::Mount {
            labels.insert("mount".to_string(), self.group.clone());
        }
        labels
    }
}

/// FNV-1a over texts with a separator.
fn fnv<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
