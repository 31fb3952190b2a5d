//! Rules of alerts and receivers, which `[alerts]` names by their files.

use super::merge::Layers;
use super::sections::Alerts;
use crate::alerts;
use detector::alerts::rule;

/// Reads both; what is wrong is noted, naming file and key.
pub(super) fn read(layers: &mut Layers, alerts: &mut Alerts) {
    match rule::load(&alerts.rule_files) {
        Ok(rules) => alerts.rules = rules,
        Err(errors) => errors.iter().for_each(|e| layers.problem_of("alerts.rules", e.to_string())),
    }
    match alerts::load(&alerts.receiver_files, &alerts.hosts) {
        Ok(receivers) => alerts.receivers = receivers,
        Err(errors) => errors.iter().for_each(|e| layers.problem_of("alerts.receivers", e.to_string())),
    }
    for receiver in &alerts.receivers {
        let known = |name: &&String| !alerts.rules.iter().any(|rule| rule.name == **name);
        if let Some(name) = receiver.rules.iter().find(known) {
            let text = format!("receiver {}: rules names {name:?}, which is no rule", receiver.name);
            layers.problem_of("alerts.receivers", text);
        }
    }
}
