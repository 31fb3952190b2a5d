//! What becomes of each alert at the times that were reached; nothing is changed here.

use super::rule::{About, Rule};
use super::subject::{Key, Subject};
use super::{Alert, Alerts, BEHIND_S, Change};
use schemas::Time;

impl Alerts {
    /// The time up to which all partitions are, but such as are far behind.
    pub(super) fn now(&self) -> Option<Time> {
        let newest = self.reached.values().max()?;
        self.reached.values().filter(|time| newest.seconds_since(**time) <= BEHIND_S).min().copied()
    }

    fn time_of(&self, subject: &Subject) -> Option<Time> {
        match subject.source {
            Some(partition) => self.reached.get(&partition).copied(),
            None => self.now(),
        }
    }

    /// When it ended, as far as is known: a region, of whose links the episodes told it sooner, with the last of these;
    /// what ended because of a silence, not before rows come again.
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

    pub(super) fn changes(&self, rule: &Rule) -> Vec<(Key, Change)> {
        let alerts = self.alerts.get(&rule.name);
        let alert_of = |key: &Key| alerts.and_then(|alerts| alerts.get(key));
        let change = |(key, subject): (&Key, &Subject)| {
            let change = self.judge(rule, key, subject, alert_of(key))?;
            Some((key.clone(), change))
        };
        let about = self.subjects.iter().filter(|(key, _)| key.about() == rule.about);
        let mut changes: Vec<(Key, Change)> = about.filter_map(change).collect();
        // The earliest begins the incident, however many are looked at together.
        changes.sort_by_key(|(_, change)| match change {
            Change::Fire(fired) => *fired,
            _ => Time::MIN,
        });
        changes
    }

    /// All transitions of an alert.
    fn judge(&self, rule: &Rule, key: &Key, subject: &Subject, alert: Option<&Alert>) -> Option<Change> {
        let now = self.time_of(subject)?;
        let until = self.until(key, subject);
        let lasted_s = until.unwrap_or(now).seconds_since(subject.since);
        let matches = subject.matches(&rule.when);
        match alert {
            None if matches && !subject.done.contains(&rule.name) => Some(Change::Pend),
            Some(Alert::Pending) if !matches => Some(Change::Drop),
            Some(Alert::Pending)
                if lasted_s >= rule.when.least_duration_s && !self.inhibited(rule, key, subject) =>
            {
                let fired = subject.since.plus_seconds(rule.when.least_duration_s);
                // A job's loss has no beginning of its own: it fires when it was large enough.
                Some(Change::Fire(if rule.about == About::Job { subject.seen } else { fired }))
            }
            Some(Alert::Pending) if until.is_some_and(|until| now > until) => Some(Change::Drop),
            Some(Alert::Firing(_)) => {
                let over = |until: &Time| now.seconds_since(*until) >= rule.clear.after_s;
                until.filter(over).map(Change::Clear)
            }
            _ => None,
        }
    }

    /// Whether an alert of another rule tells of it already, or says that nobody knows.
    pub(super) fn inhibited(&self, rule: &Rule, key: &Key, subject: &Subject) -> bool {
        let covers = |by: &Key| self.subjects.get(by).is_some_and(|other| other.covers(by, subject, key));
        let mut alerts = rule.inhibited_by.iter().filter_map(|name| self.alerts.get(name));
        alerts.any(|alerts| {
            let mut regions = alerts.range(Key::Region(0)..=Key::Region(u64::MAX)).map(|(by, _)| by);
            regions.any(covers) || self.silences_of(subject).any(|by| alerts.contains_key(&by) && covers(&by))
        })
    }
}
