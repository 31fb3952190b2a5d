//! A dashboard as Grafana reads it: variables, panels beside each other, links to the others.

use crate::integration::grafana::panel;
use crate::integration::grafana::source::{Board, Panel, Variable, query};
use serde_json::{Value, json};

/// Of Grafana 11.6, as in its Foundation SDK; Grafana 12 converts it.
const SCHEMA_VERSION: u32 = 41;
/// Columns of Grafana's grid.
const WIDTH: u32 = 24;

/// The database, as `provisioning/datasources` names it.
pub fn datasource() -> Value {
    json!({"type": "grafana-postgresql-datasource", "uid": "tailback"})
}

/// The JSON of a dashboard.
pub fn json_of(board: &Board) -> Value {
    json!({
        "uid": board.uid,
        "title": board.title,
        "description": board.says,
        "tags": ["tailback"],
        "timezone": "utc",
        "editable": false,
        "graphTooltip": 1,
        "time": {"from": format!("now-{}", board.since), "to": "now"},
        "timepicker": {"refresh_intervals": ["5s", "10s", "30s", "1m", "5m", "15m", "1h"]},
        "refresh": board.refresh,
        "schemaVersion": SCHEMA_VERSION,
        "panels": placed(&board.panels),
        "templating": {"list": board.variables.iter().map(variable).collect::<Vec<_>>()},
        "annotations": {"list": [incidents()]},
        "links": [{
            "title": "Tailback", "type": "dashboards", "icon": "external link", "tooltip": "The other dashboards",
            "tags": ["tailback"], "asDropdown": true, "targetBlank": false, "includeVars": false, "keepTime": true,
        }],
    })
}

/// Incidents as marks over all charts; a switch of the dashboard hides them.
fn incidents() -> Value {
    json!({
        "name": "Incidents", "datasource": datasource(), "enable": true, "hide": false, "iconColor": "orange",
        "target": {
            "refId": "Annotation", "datasource": datasource(), "editorMode": "code", "format": "table", "rawQuery": true,
            "rawSql": query("annotation_incidents"),
        },
    })
}

/// Panels from left to right, in lines that are as high as their highest panel.
fn placed(panels: &[Panel]) -> Vec<Value> {
    let (mut x, mut y, mut high) = (0, 0, 0);
    let mut placed = Vec::new();
    for (number, panel) in panels.iter().enumerate() {
        let [w, h] = panel.size;
        if x + w > WIDTH {
            (x, y, high) = (0, y + high, 0);
        }
        let mut json = panel::json_of(panel, number + 1);
        json["gridPos"] = json!({"x": x, "y": y, "w": w, "h": h});
        placed.push(json);
        (x, high) = (x + w, high.max(h));
    }
    placed
}

fn variable(variable: &Variable) -> Value {
    let mut json = json!({
        "name": variable.name,
        "label": variable.label,
        "description": variable.says,
        "hide": 0,
        "skipUrlSync": false,
    });
    let Some(sql) = &variable.sql else {
        assert!(variable.text, "{}: neither a query nor text", variable.name);
        json["type"] = "textbox".into();
        json["query"] = "".into();
        json["current"] = json!({"text": "", "value": ""});
        return json;
    };
    json["type"] = "query".into();
    json["datasource"] = datasource();
    json["query"] = query(sql).into();
    json["refresh"] = 2.into();
    json["sort"] = 0.into();
    json["regex"] = "".into();
    json["multi"] = variable.several.into();
    json["includeAll"] = variable.several.into();
    // Values outside of the list, such as a job of last year, may be typed and linked.
    json["allowCustomValue"] = true.into();
    if variable.several {
        json["current"] = json!({"text": ["All"], "value": ["$__all"]});
    }
    json
}
