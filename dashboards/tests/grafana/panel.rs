//! A panel: its queries, and how each kind is drawn.

use crate::integration::grafana::board::datasource;
use crate::integration::grafana::field;
use crate::integration::grafana::source::{Look, Panel, query};
use serde_json::{Value, json};

/// The JSON of a panel, without its position.
pub fn json_of(panel: &Panel, number: usize) -> Value {
    let queries = [Some(&panel.sql), panel.also.as_ref()];
    let targets: Vec<Value> =
        queries.into_iter().flatten().zip(["A", "B"]).map(|(sql, id)| target(panel, sql, id)).collect();
    json!({
        "id": number,
        "type": kind(panel.look),
        "title": panel.title,
        "description": panel.says.trim(),
        "datasource": datasource(),
        "targets": targets,
        "options": options(panel),
        "fieldConfig": {"defaults": defaults(panel), "overrides": overrides(panel)},
    })
}

fn target(panel: &Panel, sql: &str, id: &str) -> Value {
    let format = if panel.look.is_over_time() { "time_series" } else { "table" };
    json!({
        "refId": id, "datasource": datasource(), "editorMode": "code", "format": format, "rawQuery": true,
        "rawSql": query(sql),
    })
}

fn kind(look: Look) -> &'static str {
    match look {
        Look::Figures => "stat",
        Look::Table | Look::Grid => "table",
        Look::Lines | Look::Bars => "timeseries",
        Look::Heat => "heatmap",
    }
}

fn options(panel: &Panel) -> Value {
    match panel.look {
        Look::Figures => json!({
            "graphMode": "none", "colorMode": "value", "justifyMode": "center", "textMode": "value_and_name",
            "wideLayout": false, "showPercentChange": false, "percentChangeColorMode": "standard",
            "orientation": "vertical",
            "reduceOptions": {"values": false, "calcs": ["lastNotNull"], "fields": ""},
        }),
        Look::Table | Look::Grid => json!({
            "frameIndex": 0, "showHeader": true, "cellHeight": "sm", "sortBy": [],
            "footer": {"show": false, "reducer": [], "countRows": false},
        }),
        Look::Lines | Look::Bars => json!({
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }),
        Look::Heat => json!({
            "calculate": false,
            "color": {
                "mode": "scheme", "scheme": "Inferno", "fill": "dark-orange", "exponent": 0.5, "steps": 64,
                "reverse": false, "min": 0, "max": 1,
            },
            "showValue": "never", "cellGap": 1, "cellValues": {"unit": panel.unit},
            "yAxis": {"axisPlacement": "left", "reverse": true},
            "rowsFrame": {"layout": "unknown"},
            // By default Grafana hides cells near zero, like missing data.
            "filterValues": {"le": -1},
            "legend": {"show": true},
            "tooltip": {"mode": "single", "yHistogram": false, "showColorScale": true},
            "exemplars": {"color": "rgba(255,0,255,0.7)"},
        }),
    }
}

fn defaults(panel: &Panel) -> Value {
    let mut defaults = json!({
        "unit": panel.unit,
        "noValue": if panel.look == Look::Figures { "not known" } else { "" },
        "color": {"mode": "palette-classic"},
        "thresholds": {"mode": "absolute", "steps": [{"value": null, "color": "text"}]},
        "custom": custom(panel.look),
    });
    let figures = [
        ("decimals", panel.decimals.map(Value::from)),
        ("min", panel.min.map(Value::from)),
        ("max", panel.max.map(Value::from)),
    ];
    for (name, value) in figures {
        if let Some(value) = value {
            defaults[name] = value;
        }
    }
    match panel.look {
        Look::Figures | Look::Table => defaults["color"] = json!({"mode": "thresholds"}),
        Look::Grid => {
            defaults["color"] = json!({"mode": "continuous-BlYlRd"});
            defaults["min"] = json!(0);
            defaults["max"] = json!(panel.max.unwrap_or(1.0));
            // Missing or unknown values are not zero.
            let nothing =
                json!({"match": "null", "result": {"text": "", "color": "transparent", "index": 0}});
            defaults["mappings"] = json!([{"type": "special", "options": nothing}]);
        }
        Look::Lines | Look::Bars | Look::Heat => {}
    }
    defaults
}

fn custom(look: Look) -> Value {
    let line = json!({
        "drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": 0, "showPoints": "auto",
        "pointSize": 4, "spanNulls": false, "axisPlacement": "auto", "stacking": {"mode": "none", "group": "A"},
    });
    match look {
        Look::Figures => json!({}),
        Look::Table => {
            json!({"align": "auto", "cellOptions": {"type": "auto"}, "inspect": false, "filterable": true, "minWidth": 60})
        }
        Look::Grid => json!({
            "align": "center", "cellOptions": {"type": "color-background", "mode": "basic"}, "inspect": false,
            "filterable": false, "minWidth": 50,
        }),
        Look::Lines => line,
        Look::Bars => {
            let mut bars = line;
            bars["drawStyle"] = "bars".into();
            bars["fillOpacity"] = 80.into();
            bars["stacking"]["mode"] = "normal".into();
            bars
        }
        Look::Heat => json!({
            "hideFrom": {"legend": false, "tooltip": false, "viz": false}, "scaleDistribution": {"type": "linear"},
        }),
    }
}

fn overrides(panel: &Panel) -> Vec<Value> {
    let mut all: Vec<Value> =
        panel.columns.iter().map(|(name, column)| by_name(name, field::properties(panel, column))).collect();
    if let Some([least, most]) = &panel.band {
        let title = |name: &String| panel.columns[name].title.clone();
        let flat = ("custom.lineWidth", json!(0));
        all.push(by_name(least, vec![flat.clone(), ("custom.showPoints", json!("never"))]));
        let filled = [("custom.fillBelowTo", json!(title(least))), ("custom.fillOpacity", json!(25))];
        all.push(by_name(most, [flat].into_iter().chain(filled).collect()));
    }
    if panel.look == Look::Grid {
        all.extend(field::grid(panel));
    }
    all
}

/// The override of one column.
pub fn by_name(name: &str, properties: Vec<(&str, Value)>) -> Value {
    let list: Vec<Value> =
        properties.into_iter().map(|(id, value)| json!({"id": id, "value": value})).collect();
    json!({"matcher": {"id": "byName", "options": name}, "properties": list})
}
