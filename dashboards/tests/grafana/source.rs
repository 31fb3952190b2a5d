//! The sources of the dashboards: `grafana/source/*.toml`, with queries in `grafana/sql/*.sql`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One dashboard.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    pub uid: String,
    pub title: String,
    /// Description.
    pub says: String,
    /// Default span, such as `6h`.
    pub since: String,
    /// Refresh interval.
    pub refresh: String,
    #[serde(default, rename = "variable")]
    pub variables: Vec<Variable>,
    #[serde(rename = "panel")]
    pub panels: Vec<Panel>,
}

/// A template variable: a list that a query fills, or text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    pub name: String,
    pub label: String,
    pub says: String,
    pub sql: Option<String>,
    #[serde(default)]
    pub text: bool,
    /// Whether several values may be selected.
    #[serde(default)]
    pub several: bool,
}

/// Kinds of panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// One row, a large number for each column.
    Figures,
    Table,
    /// A table of coloured cells; the first column is the name of the line.
    Grid,
    Lines,
    Bars,
    /// A row for each name, time to the right.
    Heat,
}

impl Look {
    /// Whether rows are points in time.
    pub fn is_over_time(self) -> bool {
        matches!(self, Look::Lines | Look::Bars | Look::Heat)
    }
}

/// A panel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    pub title: String,
    #[serde(rename = "as")]
    pub look: Look,
    pub sql: String,
    /// A second query for the same panel.
    pub also: Option<String>,
    pub unit: String,
    pub decimals: Option<u32>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Columns with a shaded band between them.
    pub band: Option<[String; 2]>,
    /// Width of 24 and height.
    pub size: [u32; 2],
    /// Description.
    pub says: String,
    #[serde(default)]
    pub columns: BTreeMap<String, Column>,
}

/// The settings of a column.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub title: String,
    pub unit: Option<String>,
    pub decimals: Option<u32>,
    /// The kind of link.
    pub link: Option<String>,
    /// Orange from the first, red from the second.
    pub alarm: Option<[f64; 2]>,
    /// Orange below the first, red below the second.
    pub low: Option<[f64; 2]>,
    /// A bar in the cell.
    #[serde(default)]
    pub bar: bool,
    /// States with their colours.
    #[serde(default)]
    pub states: bool,
    /// Filled on an axis at the right, 0 to 1.
    #[serde(default)]
    pub shade: bool,
    /// A line, which is not stacked on bars.
    #[serde(default)]
    pub line: bool,
    /// A value lasts until the next point.
    #[serde(default)]
    pub step: bool,
}

/// The alert rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
}

/// A rule for one number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub uid: String,
    pub title: String,
    pub sql: String,
    pub above: f64,
    /// Duration before the alert fires.
    pub during: String,
    pub severity: String,
    pub says: String,
    /// Action for the reader.
    pub todo: String,
}

/// The folder `grafana` of this crate.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("grafana")
}

/// Every dashboard, by the name of its file.
pub fn boards() -> BTreeMap<String, Board> {
    let mut boards = BTreeMap::new();
    for entry in std::fs::read_dir(folder().join("source")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        if name != "alerts" {
            let text = std::fs::read_to_string(&path).unwrap();
            boards.insert(
                name,
                toml::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display())),
            );
        }
    }
    boards
}

/// The alert rules.
pub fn rules() -> Rules {
    toml::from_str(&std::fs::read_to_string(folder().join("source/alerts.toml")).unwrap()).unwrap()
}

/// The text of a query.
pub fn query(name: &str) -> String {
    let path = folder().join("sql").join(format!("{name}.sql"));
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}
