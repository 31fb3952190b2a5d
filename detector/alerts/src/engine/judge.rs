//! What becomes of each alert at the times that were reached; nothing is changed here.

use super::{Alert, Alerts, BEHIND_S, Change};
use crate::rule::{About, Rule};
use crate::subject::{Key, Subject};
use schemas::Time;
use std::collections::BTreeMap;

impl Alerts {
    /// The time up to which all partitions have rows, but such as are far behind.
    pub(super) fn now(&self) -> Option<Time> {
        earliest(&self.reached)
    }

    /// The time up to which all partitions were read, but such as are far behind. It moves on when all sources stop.
    pub(super) fn now_of_sources(&self) -> Option<Time> {
        earliest(&self.read)
    }

    /// The time of a subject where that of all partitions is `now`.
    fn time_of(&self, rule: &Rule, subject: &Subject, now: Option<Time>) -> Option<Time> {
        let of_partitions = if rule.about == About::Source { &self.read } else { &self.reached };
        match subject.source {
            Some(partition) => of_partitions.get(&partition).copied(),
            None => now,
        }
    }

    /// When it ended, as far as is known. A region whose episodes all ended earlier ends with the last of them. A series
    /// that a silence ended does not end before rows arrive again.
    fn until(&self, key: &Key, subject: &Subject) -> Option<Time> {
        if let Key::Region(_) = key
            && subject.until.is_none()
        {
            let known = |name: &String| self.subjects.get(&Key::Series(name.clone()));
            let ends: Vec<Option<Time>> = subject.series.iter().filter_map(known).map(|s| s.until).collect();
            return ends.into_iter().collect::<Option<Vec<Time>>>()?.into_iter().max();
        }
        let until = subject.until?;
        let silences = self.silences_of(subject).filter_map(|source| self.subjects.get(&source));
        let by = silences.filter(|s| matches!(key, Key::Series(_)) && subject.ended_by(s));
        by.map(|silence| silence.until).try_fold(until, |until, end| end.map(|end| until.max(end)))
    }

    /// Sources that were silent about what `subject` is of.
    fn silences_of(&self, subject: &Subject) -> impl Iterator<Item = Key> {
        self.silent.get(&subject.component).into_iter().flatten().map(|source| Key::Source(source.clone()))
    }

    /// What becomes of the alerts of `rule`. There may be tens of thousands of subjects, and they are looked at with
    /// each message: both maps are gone through side by side.
    pub(super) fn changes(&self, rule: &Rule) -> Vec<(Key, Change)> {
        let now = self.now();
        let mut alerts = self.alerts.get(&rule.name).into_iter().flatten().peekable();
        let change = |(key, subject): (&Key, &Subject)| {
            while alerts.next_if(|(other, _)| *other < key).is_some() {}
            let alert = alerts.next_if(|(other, _)| *other == key).map(|(_, alert)| alert);
            let change = self.judge(rule, key, subject, alert, now)?;
            Some((key.clone(), change))
        };
        let mut changes: Vec<(Key, Change)> =
            self.subjects.range(Key::range(rule.about)).filter_map(change).collect();
        // The earliest begins the incident, however many are looked at together.
        changes.sort_by_key(|(_, change)| match change {
            Change::Fire(fired) => *fired,
            _ => Time::MIN,
        });
        changes
    }

    /// All transitions of an alert.
    fn judge(
        &self,
        rule: &Rule,
        key: &Key,
        subject: &Subject,
        alert: Option<&Alert>,
        now: Option<Time>,
    ) -> Option<Change> {
        let now = self.time_of(rule, subject, now)?;
        match alert {
            None => {
                let begins = subject.matches(&rule.when) && !subject.done.contains(&rule.name);
                begins.then_some(Change::Pend)
            }
            Some(Alert::Pending) if !subject.matches(&rule.when) => Some(Change::Drop),
            Some(Alert::Pending) => self.judge_pending(rule, key, subject, now),
            Some(Alert::Firing(_)) => {
                let over = |until: &Time| now.seconds_since(*until) >= rule.clear.after_s;
                self.until(key, subject).filter(over).map(Change::Clear)
            }
        }
    }

    /// Of one that holds and does not fire yet.
    fn judge_pending(&self, rule: &Rule, key: &Key, subject: &Subject, now: Time) -> Option<Change> {
        let until = self.until(key, subject);
        let lasted_s = until.unwrap_or(now).seconds_since(subject.since);
        if lasted_s >= rule.when.least_duration_s && !self.inhibited(rule, key, subject) {
            let fired = subject.since.plus_seconds(rule.when.least_duration_s);
            // A job's loss has no beginning of its own: it fires when it was large enough.
            return Some(Change::Fire(if rule.about == About::Job { subject.seen } else { fired }));
        }
        until.is_some_and(|until| now > until).then_some(Change::Drop)
    }

    /// Whether an alert of another rule reports it already, or makes it unknown.
    pub(super) fn inhibited(&self, rule: &Rule, key: &Key, subject: &Subject) -> bool {
        let covers = |by: &Key| self.subjects.get(by).is_some_and(|other| other.covers(by, subject, key));
        let mut alerts = rule.inhibited_by.iter().filter_map(|name| self.alerts.get(name));
        alerts.any(|alerts| {
            let mut regions = alerts.range(Key::Region(0)..=Key::Region(u64::MAX)).map(|(by, _)| by);
            regions.any(covers) || self.silences_of(subject).any(|by| alerts.contains_key(&by) && covers(&by))
        })
    }
}

/// The earliest of the partitions' times, but such as are far behind the latest.
fn earliest(times: &BTreeMap<i32, Time>) -> Option<Time> {
    let newest = times.values().max()?;
    times.values().filter(|time| newest.seconds_since(**time) <= BEHIND_S).min().copied()
}
