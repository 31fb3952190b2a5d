//! State of all alerts: pending, firing, resolved; alerts that belong together share one incident.

mod judge;
#[cfg(test)]
mod tests;

use crate::incident::{self, Incident};
use crate::rule::{About, Rule};
use crate::subject::{Key, Subject};
use crate::updates::Updates;
use schemas::{NoticeKind, Region, RoutedNotice, Severity, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Seconds after its end when what no alert is about is forgotten.
const FORGOTTEN_S: f64 = 120.0;
/// The same for jobs, whose parts come slowly.
const JOB_FORGOTTEN_S: f64 = 86_400.0;
/// Seconds after an incident's first onset in which a later alert joins it, before its own least duration is over.
const JOIN_WITHIN_S: f64 = 2.0;
/// Seconds by which a detector partition may be behind others and still be waited for.
const BEHIND_S: f64 = 60.0;

/// Which notices a receiver gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Name of the receiver.
    pub receiver: String,
    /// Least severity.
    pub least_severity: Severity,
    /// Rules; none for all.
    pub rules: Vec<String>,
}

/// What the engine is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertSettings {
    /// What is an alert.
    pub rules: Vec<Rule>,
    /// Receivers of notices.
    pub routes: Vec<Route>,
    /// Nodes on each switch or router, where the topology is known.
    pub nodes_of: BTreeMap<String, Vec<String>>,
    /// Seconds for which a job that is over is kept.
    pub jobs_kept_s: f64,
}

impl Default for AlertSettings {
    fn default() -> AlertSettings {
        AlertSettings::new(Vec::new(), Vec::new(), &[])
    }
}

impl AlertSettings {
    /// Rules, routes, and where nodes stand.
    pub fn new(mut rules: Vec<Rule>, routes: Vec<Route>, places: &[topology::NodePlace]) -> AlertSettings {
        // Rules that inhibit others are judged first, so that their alerts exist by then.
        rules.sort_by_key(|rule| (!rule.inhibited_by.is_empty(), rule.name.clone()));
        let mut nodes_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for place in places {
            nodes_of.entry(place.switch.to_string()).or_default().push(place.node.to_string());
        }
        AlertSettings { rules, routes, nodes_of, jobs_kept_s: JOB_FORGOTTEN_S }
    }

    fn receivers(&self, rule: &str, severity: Severity) -> Vec<String> {
        let wants = |route: &&Route| {
            severity >= route.least_severity
                && (route.rules.is_empty() || route.rules.iter().any(|wanted| wanted == rule))
        };
        self.routes.iter().filter(wants).map(|route| route.receiver.clone()).collect()
    }
}

/// An alert: one subject under one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Alert {
    /// It holds, not long enough yet.
    Pending,
    /// It fires, in the incident of this number.
    Firing(String),
}

/// What becomes of an alert.
enum Change {
    Pend,
    Drop,
    Fire(Time),
    Clear(Time),
}

/// State of all alerts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Alerts {
    /// Newest row of each detector partition.
    reached: BTreeMap<i32, Time>,
    /// Time of the sources of each detector partition, which moves on while no row arrives.
    read: BTreeMap<i32, Time>,
    subjects: BTreeMap<Key, Subject>,
    /// Sources among these, by what their rows are about: a machine that goes dark has tens of thousands.
    silent: BTreeMap<String, BTreeSet<String>>,
    alerts: BTreeMap<String, BTreeMap<Key, Alert>>,
    incidents: BTreeMap<String, Incident>,
    notices: Vec<RoutedNotice>,
    #[serde(skip)]
    settings: Arc<AlertSettings>,
}

impl Alerts {
    /// Nothing known yet.
    pub fn new(settings: Arc<AlertSettings>) -> Alerts {
        Alerts { settings, ..Alerts::default() }
    }

    /// Gives a state that was read back its rules.
    pub fn attach(&mut self, settings: Arc<AlertSettings>) {
        self.settings = settings;
    }

    /// Takes updates; then looks at all alerts.
    pub fn updates(&mut self, updates: &Updates) {
        let advance = |times: &mut BTreeMap<i32, Time>, time: Option<Time>| {
            if let Some(time) = time {
                let reached = times.entry(updates.partition).or_insert(time);
                *reached = time.max(*reached);
            }
        };
        advance(&mut self.reached, updates.newest);
        advance(&mut self.read, updates.newest.max(updates.read_up_to));
        for episode in &updates.episodes {
            let key = Key::Series(episode.series.name());
            self.put(key, Subject::of_episode(episode, updates.partition));
        }
        for silence in &updates.silences {
            let key = Key::Source(silence.source.clone());
            match Subject::of_silence(silence, updates.partition) {
                Some(subject) => self.put(key, subject),
                None => self.revoke(&key),
            }
        }
        for job in &updates.jobs {
            let key = Key::Job(job.job_id.to_string());
            let subject = Subject::of_job(job, self.subjects.get(&key));
            self.put(key, subject);
        }
        self.look();
    }

    /// Takes the current state of regions.
    pub fn regions(&mut self, regions: &[Region]) {
        for region in regions {
            self.put(Key::Region(region.id.0), Subject::of_region(region));
        }
    }

    /// Notices since the last call.
    pub fn take(&mut self) -> Vec<RoutedNotice> {
        std::mem::take(&mut self.notices)
    }

    /// Alerts that are pending, and incidents that fire.
    pub fn counts(&self) -> (usize, usize) {
        let pending =
            |alerts: &BTreeMap<Key, Alert>| alerts.values().filter(|a| **a == Alert::Pending).count();
        (self.alerts.values().map(pending).sum(), self.incidents.len())
    }

    /// Entries of the books that grow with names.
    pub fn books(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("alert_subjects", self.subjects.len()),
            ("silent_components", self.silent.len()),
            ("alerts", self.alerts.values().map(BTreeMap::len).sum()),
            ("incidents", self.incidents.len()),
        ]
    }

    fn put(&mut self, key: Key, subject: Subject) {
        if let Key::Source(source) = &key {
            self.silent.entry(subject.component.clone()).or_default().insert(source.clone());
        }
        match self.subjects.get_mut(&key) {
            Some(known) => known.replace(subject),
            None => drop(self.subjects.insert(key, subject)),
        }
    }

    /// A silence that was none ends where it began.
    fn revoke(&mut self, key: &Key) {
        if let Some(subject) = self.subjects.get_mut(key) {
            subject.until = Some(subject.since);
        }
    }

    /// Looks at every alert at the times that were reached.
    fn look(&mut self) {
        let settings = Arc::clone(&self.settings);
        for rule in &settings.rules {
            // A subject that had lasted long enough when its update arrived becomes pending and fires in one pass.
            for _ in 0..2 {
                let changes = self.changes(rule);
                if changes.is_empty() {
                    break;
                }
                for (key, change) in changes {
                    self.change(rule, key, &change);
                }
            }
            self.join(rule);
        }
        let (Some(now), Some(of_sources)) = (self.now(), self.now_of_sources()) else { return };
        self.end_unruled(&settings, now);
        self.notify(&settings, now, of_sources);
        self.forget(now);
    }

    fn change(&mut self, rule: &Rule, key: Key, change: &Change) {
        if let Change::Fire(fired) = change {
            return self.fire(rule, key, *fired);
        }
        let alerts = self.alerts.entry(rule.name.clone()).or_default();
        if matches!(change, Change::Pend) {
            alerts.insert(key, Alert::Pending);
            return;
        }
        let alert = alerts.remove(&key);
        if let (Some(Alert::Firing(id)), Change::Clear(ended)) = (alert, change)
            && let Some(incident) = self.incidents.get_mut(&id)
        {
            incident.remove(&key, *ended);
        }
        // A subject that ended, or was over before it lasted, starts no other alert.
        if let Some(subject) = self.subjects.get_mut(&key) {
            subject.done.push(rule.name.clone());
        }
    }

    fn fire(&mut self, rule: &Rule, key: Key, fired: Time) {
        let Some(subject) = self.subjects.get(&key) else { return };
        let group = incident::group(rule, &key, subject);
        let known = self.incidents.values_mut().find(|incident| incident.takes(rule, &group, subject));
        let id = match known {
            Some(incident) => {
                incident.add(key.clone(), subject);
                incident.id.clone()
            }
            None => {
                let mut incident = Incident::begin(rule, group, subject, fired);
                incident.add(key.clone(), subject);
                let id = incident.id.clone();
                self.incidents.insert(id.clone(), incident);
                id
            }
        };
        self.alerts.entry(rule.name.clone()).or_default().insert(key, Alert::Firing(id));
    }

    /// A storm does not begin in one instant. An alert that began shortly after an incident without a notice, and is
    /// ongoing, joins that incident, so that the first notice names all of them.
    fn join(&mut self, rule: &Rule) {
        let unannounced = |incident: &&Incident| incident.rule == rule.name && incident.sequence == 0;
        let begun: Vec<&Incident> = self.incidents.values().filter(unannounced).collect();
        if begun.is_empty() {
            return;
        }
        let belongs = |key: &Key, subject: &Subject| {
            let group = incident::group(rule, key, subject);
            let soon = |incident: &Incident| subject.since.seconds_since(incident.started) <= JOIN_WITHIN_S;
            begun.iter().any(|incident| soon(incident) && incident.takes(rule, &group, subject))
        };
        let joins = |(key, alert): (&Key, &Alert)| {
            let subject = self.subjects.get(key).filter(|_| *alert == Alert::Pending)?;
            let is_ongoing = subject.until.is_none() && subject.matches(&rule.when);
            let joins = is_ongoing && belongs(key, subject) && !self.inhibited(rule, key, subject);
            joins.then(|| (key.clone(), subject.since.plus_seconds(rule.when.least_duration_s)))
        };
        let alerts = self.alerts.get(&rule.name).into_iter().flatten();
        let joining: Vec<(Key, Time)> = alerts.filter_map(joins).collect();
        joining.into_iter().for_each(|(key, fired)| self.fire(rule, key, fired));
    }

    /// Alerts of rules that are no longer configured end now, and so do their incidents.
    fn end_unruled(&mut self, settings: &AlertSettings, now: Time) {
        let known = |name: &String| settings.rules.iter().any(|rule| rule.name == *name);
        self.alerts.retain(|name, _| known(name));
        let ended: Vec<String> =
            self.incidents.values().filter(|incident| !known(&incident.rule)).map(|i| i.id.clone()).collect();
        for id in ended {
            let Some(notice) = self.incidents.remove(&id).and_then(|incident| incident.end_unruled(now))
            else {
                continue;
            };
            let receivers = settings.receivers(&notice.rule, notice.severity);
            self.notices.push(RoutedNotice { notice, receivers });
        }
    }

    /// Makes notices of incidents that began, continue or ended.
    fn notify(&mut self, settings: &AlertSettings, now: Time, of_sources: Time) {
        let mut over: Vec<String> = Vec::new();
        for (id, incident) in &mut self.incidents {
            let Some(rule) = settings.rules.iter().find(|rule| rule.name == incident.rule) else { continue };
            let now = if rule.about == About::Source { of_sources } else { now };
            let Some(kind) = incident.is_due(rule, now) else { continue };
            if kind == NoticeKind::Resolved {
                over.push(id.clone());
            }
            let of = |key: &Key| self.subjects.get(key);
            let members: Vec<Key> = incident.members.iter().cloned().collect();
            let members: Vec<&Subject> = members.iter().filter_map(of).collect();
            let notice = incident.notify(kind, rule, &members, now, &settings.nodes_of);
            let receivers = settings.receivers(&notice.rule, notice.severity);
            self.notices.push(RoutedNotice { notice, receivers });
        }
        over.iter().for_each(|id| drop(self.incidents.remove(id)));
    }

    /// Forgets what is over and in no alert.
    fn forget(&mut self, now: Time) {
        let in_alert = |key: &Key| self.alerts.values().any(|alerts| alerts.contains_key(key));
        let recent = |key: &Key, until: Time| {
            let kept_s = if key.about() == About::Job { self.settings.jobs_kept_s } else { FORGOTTEN_S };
            now.seconds_since(until) < kept_s
        };
        let over = |(key, s): &(&Key, &Subject)| s.until.is_some_and(|until| !recent(key, until));
        let unused = self.subjects.iter().filter(over).filter(|(key, _)| !in_alert(key));
        let keys: Vec<Key> = unused.map(|(key, _)| key.clone()).collect();
        for key in keys {
            let subject = self.subjects.remove(&key);
            if let (Key::Source(source), Some(subject)) = (key, subject)
                && let Some(sources) = self.silent.get_mut(&subject.component)
            {
                sources.remove(&source);
                if sources.is_empty() {
                    self.silent.remove(&subject.component);
                }
            }
        }
    }
}
