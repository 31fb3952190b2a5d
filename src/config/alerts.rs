//! Rules of alerts and receivers, which `[alerts]` names by their files.

use super::merge::Layers;
use super::secrets::read_secret;
use super::sections::Alerts;
use alerts::receivers::{self, Clock, Delivery, Heartbeats, Kind, Working};
use alerts::rule;
use std::time::Duration;

/// Reads both; what is wrong is noted, naming file and key. `page` is the address of the page.
pub(super) fn read(layers: &mut Layers, alerts: &mut Alerts, page: Option<String>) {
    match rule::load(&alerts.rule_files) {
        Ok(rules) => alerts.rules = rules,
        Err(errors) => errors.iter().for_each(|e| layers.problem_of("alerts.rules", e.to_string())),
    }
    match receivers::load(&alerts.receiver_files, &alerts.hosts, &read_secret) {
        Ok(receivers) => alerts.receivers = receivers,
        Err(errors) => errors.iter().for_each(|e| layers.problem_of("alerts.receivers", e.to_string())),
    }
    for receiver in &mut alerts.receivers {
        receiver.page.clone_from(&page);
    }
    if alerts.heartbeat && !alerts.receivers.iter().any(|receiver| receiver.kind == Kind::Alertmanager) {
        let text = "alerts.heartbeat needs a receiver of kind = \"alertmanager\" in alerts.receivers";
        layers.problem_of("alerts.heartbeat", text.to_string());
    }
    for receiver in &alerts.receivers {
        let known = |name: &&String| !alerts.rules.iter().any(|rule| rule.name == **name);
        if let Some(name) = receiver.rules.iter().find(known) {
            let text = format!("receiver {}: rules names {name:?}, which is no rule", receiver.name);
            layers.problem_of("alerts.receivers", text);
        }
    }
}

impl Alerts {
    /// How the process called `by` delivers notices, by its `clock`.
    pub fn delivery<'a>(&'a self, by: &'a str, clock: Clock) -> Delivery<'a> {
        Delivery {
            receivers: &self.receivers,
            by,
            keep_s: f64::from(self.keep_days) * 86_400.0,
            poll: Duration::from_millis(self.poll_ms),
            clock,
        }
    }

    /// How heartbeats of the installation called `group` are sent while it works, by its `clock`.
    pub fn heartbeats<'a>(&'a self, group: &'a str, working: Working, clock: Clock) -> Heartbeats<'a> {
        Heartbeats { receivers: &self.receivers, to_alertmanagers: self.heartbeat, group, working, clock }
    }
}
