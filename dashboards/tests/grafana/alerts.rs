//! The alert rules as Grafana provisions them.

use crate::integration::grafana::board::datasource;
use crate::integration::grafana::source::{Rule, Rules, query};
use serde_json::{Value, json};

/// Seconds of history for a rule.
const LOOK_BACK_S: u32 = 600;

/// The file `provisioning/alerting/rules.json`.
pub fn json_of(rules: &Rules) -> Value {
    json!({
        "apiVersion": 1,
        "groups": [{
            "orgId": 1, "name": "Tailback", "folder": "Tailback", "interval": "1m",
            "rules": rules.rules.iter().map(rule).collect::<Vec<_>>(),
        }],
    })
}

fn rule(rule: &Rule) -> Value {
    let question = json!({
        "refId": "A", "datasource": datasource(), "editorMode": "code", "format": "table", "rawQuery": true,
        "rawSql": query(&rule.sql), "intervalMs": 1000, "maxDataPoints": 43200,
    });
    let limit = json!({
        "refId": "B", "type": "threshold", "datasource": {"type": "__expr__", "uid": "__expr__"}, "expression": "A",
        "conditions": [{"evaluator": {"type": "gt", "params": [rule.above]}}],
    });
    let span = json!({"from": LOOK_BACK_S, "to": 0});
    json!({
        "uid": rule.uid,
        "title": rule.title,
        "condition": "B",
        "data": [
            {"refId": "A", "relativeTimeRange": span, "datasourceUid": "tailback", "model": question},
            {"refId": "B", "relativeTimeRange": span, "datasourceUid": "__expr__", "model": limit},
        ],
        "for": rule.during,
        // A database that does not answer is no healthy machine.
        "noDataState": "Alerting",
        "execErrState": "Alerting",
        "isPaused": false,
        "labels": {"severity": rule.severity, "service": "tailback"},
        // Grafana puts environment variables into labels of what it provisions, not into these: a dollar sign is not doubled.
        "annotations": {"summary": rule.says, "description": rule.todo},
        "notification_settings": {"receiver": "tailback"},
    })
}
