//! Columns: names, units, colours, and where a click leads.

use crate::integration::grafana::panel::by_name;
use crate::integration::grafana::source::{Column, Look, Panel};
use serde_json::{Value, json};

/// Width of a column with times.
const TIME_PX: u32 = 165;
/// Keeps the span when a link is followed.
const SAME_SPAN: &str = "${__url_time_range}";

/// The properties of a column in Grafana's JSON.
pub fn properties(panel: &Panel, column: &Column) -> Vec<(&'static str, Value)> {
    let mut properties = vec![("displayName", json!(column.title))];
    properties.extend(column.unit.as_ref().map(|unit| ("unit", json!(unit))));
    properties.extend(column.decimals.map(|decimals| ("decimals", json!(decimals))));
    properties.extend(column.link.as_deref().map(|link| ("links", links(link))));
    let limits = column.alarm.map(|[orange, red]| {
        ["text", "orange", "red"].into_iter().zip([None, Some(orange), Some(red)]).collect::<Vec<_>>()
    });
    let low = column.low.map(|[orange, red]| {
        ["red", "orange", "text"].into_iter().zip([None, Some(red), Some(orange)]).collect()
    });
    if let Some(steps) = limits.or(low) {
        let steps: Vec<Value> =
            steps.iter().map(|(color, value)| json!({"color": color, "value": value})).collect();
        properties.push(("thresholds", json!({"mode": "absolute", "steps": steps})));
        if panel.look == Look::Table {
            properties.push(("custom.cellOptions", json!({"type": "color-text"})));
        }
    }
    if column.bar {
        properties.push((
            "custom.cellOptions",
            json!({"type": "gauge", "mode": "basic", "valueDisplayMode": "text"}),
        ));
        properties.push(("color", json!({"mode": "continuous-YlRd"})));
        properties.push(("min", json!(0)));
        // Without it a bar is scaled by the largest number of the whole table.
        let is_share = column.unit.as_deref() == Some("percentunit");
        properties.push(if is_share { ("max", json!(1)) } else { ("fieldMinMax", json!(true)) });
    }
    if panel.look == Look::Table && column.unit.as_deref() == Some("dateTimeAsIso") {
        properties.push(("custom.width", json!(TIME_PX)));
    }
    if column.states {
        properties.push(("mappings", states()));
        properties.push(("custom.cellOptions", json!({"type": "color-text"})));
    }
    if column.shade {
        let filled = json!({"mode": "fixed", "fixedColor": "orange"});
        properties.extend([("min", json!(0)), ("max", json!(1)), ("color", filled)]);
        properties.extend([("custom.axisPlacement", json!("right")), ("custom.lineWidth", json!(0))]);
        properties.extend([("custom.fillOpacity", json!(30)), ("custom.showPoints", json!("never"))]);
    }
    if column.line {
        properties.extend(line_beside_bars());
    }
    if column.step {
        properties.push(("custom.lineInterpolation", json!("stepAfter")));
    }
    properties
}

/// A line that is not stacked on the bars.
fn line_beside_bars() -> [(&'static str, Value); 4] {
    [
        ("custom.drawStyle", json!("line")),
        ("custom.stacking", json!({"mode": "none", "group": "A"})),
        ("custom.fillOpacity", json!(0)),
        ("custom.lineInterpolation", json!("stepAfter")),
    ]
}

/// Names of states with their colours. No state is green: clear means not contended, not healthy.
fn states() -> Value {
    let word = |(index, (word, color)): (usize, &(&str, &str))| {
        (word.to_string(), json!({"text": word, "color": color, "index": index}))
    };
    let words = [
        ("contended", "orange"),
        ("open", "orange"),
        ("silent", "orange"),
        ("never seen", "orange"),
        ("exceeded", "orange"),
        ("warmup", "purple"),
        ("clear", "blue"),
        ("idle", "text"),
        ("ended", "text"),
        ("within", "text"),
        ("absent", "text"),
        ("unknown", "red"),
    ];
    let options: serde_json::Map<String, Value> = words.iter().enumerate().map(word).collect();
    json!([{"type": "value", "options": options}])
}

fn link(title: &str, address: &str) -> Value {
    json!({"title": title, "url": address, "targetBlank": false})
}

/// The link of a cell.
fn links(what: &str) -> Value {
    let value = "${__value.raw:percentencode}";
    let to = |title: &str, board: &str, variables: &str| {
        link(title, &format!("/d/tailback-{board}?{variables}&{SAME_SPAN}"))
    };
    let named = |variable: &str| format!("var-{variable}={value}");
    let metric = "var-metric=${__data.fields.Metric:percentencode}";
    json!([match what {
        "job" => to("Open the job", "job", &named("job")),
        "series" => to("Open the series", "link", &named("series")),
        "mount" => to("Open the file system", "files", &named("mount")),
        "region" => to("Open the region", "fabric", &named("region")),
        "group" => to("Open the group", "fabric", &format!("{}&{metric}", named("group"))),
        "router" => to(
            "Open the router",
            "fabric",
            &format!("{}&{metric}&var-group=${{__data.fields.Group:percentencode}}", named("router"))
        ),
        "run" => link(
            "The time of the run",
            "/d/tailback-job?var-job=${job:percentencode}&from=${__value.raw}&to=${__data.fields.Until.numeric}"
        ),
        other => panic!("no link leads to {other:?}"),
    }])
}

/// Cells of a grid: the first column is the name of the line, the others are links.
pub fn grid(panel: &Panel) -> Vec<Value> {
    let plain = json!({"type": "auto"});
    let (name, columns, letter, title) =
        if panel.sql == "fabric_chassis" { ("chassis", 16, 's', "Chassis") } else { ("row", 8, 'c', "Row") };
    let mut all = vec![by_name(
        name,
        vec![("displayName", json!(title)), ("custom.cellOptions", plain), ("custom.width", json!(90))],
    )];
    for column in 0..columns {
        let line = format!("${{__data.fields.{title}:percentencode}}{letter}{column}");
        let address = if name == "chassis" {
            format!(
                "/d/tailback-fabric?var-metric=${{metric:percentencode}}&var-group=${{group:percentencode}}&var-router={line}&{SAME_SPAN}"
            )
        } else {
            format!(
                "/d/tailback-link?var-series=aries_stall_ratio/${{router:percentencode}}/{line}&{SAME_SPAN}"
            )
        };
        all.push(by_name(&format!("{letter}{column}"), vec![("links", json!([link("Open", &address)]))]));
    }
    all
}
