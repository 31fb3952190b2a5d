//! The committed JSON matches the sources; every panel has a unit and a description.

use crate::integration::grafana::source::{boards, folder, query, rules};
use crate::integration::grafana::{alerts, board};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every file generated from the sources.
pub fn made() -> BTreeMap<PathBuf, Value> {
    made_in(&folder())
}

/// The same with another folder instead of `grafana`.
fn made_in(folder: &Path) -> BTreeMap<PathBuf, Value> {
    let mut files: BTreeMap<PathBuf, Value> = BTreeMap::new();
    for (name, source) in boards() {
        files.insert(folder.join("dashboards").join(format!("{name}.json")), board::json_of(&source));
    }
    files.insert(folder.join("provisioning/alerting/rules.json"), alerts::json_of(&rules()));
    files
}

#[test]
fn the_committed_json_is_that_of_the_sources() {
    // Without UPDATE_GOLDEN the files are written to another folder, which tests the code for the update.
    let elsewhere = tempfile::tempdir().unwrap();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let to = if update { folder() } else { elsewhere.path().to_path_buf() };
    for (path, wanted) in made_in(&to) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{wanted:#}\n")).unwrap();
        let committed = folder().join(path.strip_prefix(&to).unwrap());
        let text =
            |path: &Path| fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let same = text(&committed) == text(&path);
        assert!(same, "{} is stale: UPDATE_GOLDEN=1 writes it", committed.display());
    }
    let files = made();
    let there = fs::read_dir(folder().join("dashboards")).unwrap().map(|entry| entry.unwrap().path());
    let others: Vec<PathBuf> = there.filter(|path| !files.contains_key(path)).collect();
    assert!(others.is_empty(), "no source for {others:?}");
}

#[test]
fn there_are_six_dashboards() {
    let uids: BTreeSet<String> = boards().into_values().map(|board| board.uid).collect();
    let wanted =
        ["system", "fabric", "files", "job", "link", "itself"].map(|name| format!("tailback-{name}"));
    assert_eq!(uids, BTreeSet::from(wanted));
}

#[test]
fn every_panel_has_a_unit_and_a_description() {
    for board in boards().into_values() {
        assert!(board.says.len() > 20, "{}", board.title);
        for panel in board.panels {
            let name = format!("{}: {}", board.title, panel.title);
            assert!(!panel.unit.is_empty(), "{name} has no unit");
            assert!(panel.says.len() >= 80, "{name} has no description");
            assert!(panel.says.ends_with('.'), "{name}");
        }
        assert!(board.variables.iter().all(|variable| !variable.says.is_empty()));
    }
}

#[test]
fn every_query_belongs_to_a_panel_a_variable_or_a_rule() {
    let mut used: BTreeSet<String> = rules().rules.into_iter().map(|rule| rule.sql).collect();
    used.insert("annotation_incidents".to_string());
    for board in boards().into_values() {
        used.extend(board.variables.into_iter().filter_map(|variable| variable.sql));
        used.extend(board.panels.into_iter().flat_map(|panel| [Some(panel.sql), panel.also]).flatten());
    }
    let there = fs::read_dir(folder().join("sql")).unwrap().map(|entry| entry.unwrap().path());
    let there: BTreeSet<String> =
        there.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string()).collect();
    assert_eq!(there, used);
}

#[test]
fn links_lead_to_dashboards_and_variables_that_are_there() {
    let boards = boards();
    let text: String = made().values().map(Value::to_string).collect();
    for address in text.split("/d/").skip(1) {
        let address = address.split('"').next().unwrap();
        let (uid, query) = address.split_once('?').unwrap();
        let target =
            boards.values().find(|board| board.uid == uid).unwrap_or_else(|| panic!("no dashboard {uid}"));
        for variable in query.split('&').filter_map(|part| part.strip_prefix("var-")) {
            let (name, _) = variable.split_once('=').unwrap();
            assert!(target.variables.iter().any(|v| v.name == name), "{uid} has no variable {name}");
        }
    }
}

#[test]
fn the_runbook_has_a_row_for_each_alert() {
    let runbook = fs::read_to_string(folder().join("../../docs/operations.md")).unwrap();
    for rule in rules().rules {
        assert!(runbook.contains(&format!("\n| {} |", rule.title)), "no row about {:?}", rule.title);
    }
}

#[test]
fn a_variable_is_always_quoted_and_known() {
    for board in boards().into_values() {
        let known: Vec<&str> = board.variables.iter().map(|variable| variable.name.as_str()).collect();
        let queries = board.panels.iter().flat_map(|panel| [Some(&panel.sql), panel.also.as_ref()]).flatten();
        for name in queries.chain(board.variables.iter().filter_map(|variable| variable.sql.as_ref())) {
            let text = query(name);
            for place in text.split("${").skip(1) {
                let inside = place.split('}').next().unwrap();
                let variable = inside.strip_suffix(":sqlstring");
                assert!(
                    variable.is_some_and(|v| known.contains(&v)),
                    "{name}: ${{{inside}}} is not quoted or not known"
                );
            }
            for place in text.split('$').skip(1) {
                let fine = place.starts_with("__") || place.starts_with('{') || place.starts_with('\'');
                assert!(fine, "{name}: ${} is not quoted", &place[..place.len().min(20)]);
            }
        }
    }
}

/// A file of the folder `provisioning`, without its comments.
fn provisioned(name: &str) -> String {
    let text = fs::read_to_string(folder().join("provisioning").join(name)).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn provisioned_files_match() {
    let datasource = provisioned("datasources/tailback.yaml");
    let named = board::datasource();
    for line in [
        format!("    uid: {}\n", named["uid"].as_str().unwrap()),
        format!("    type: {}\n", named["type"].as_str().unwrap()),
        "      password: $__file{/run/secrets/grafana_database_password}\n".to_string(),
    ] {
        assert!(datasource.contains(&line), "no {line:?} in {datasource}");
    }
    // The document lists the variables that Grafana needs; a missing one would be empty.
    let readme = fs::read_to_string(folder().join("../../docs/install.md")).unwrap();
    let variables: BTreeSet<&str> =
        datasource.split("${").skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
    assert_eq!(variables.len(), 3);
    assert!(variables.iter().all(|name| readme.contains(&format!("`{name}`"))), "{variables:?}");

    let receiver = rules_json()["groups"][0]["rules"][0]["notification_settings"]["receiver"].clone();
    let contact = provisioned("alerting/contact_point.yaml");
    assert!(contact.contains(&format!("    name: {}\n", receiver.as_str().unwrap())), "{contact}");
    assert!(contact.contains("          url: http"), "Grafana does not start without an address: {contact}");
    assert!(provisioned("dashboards/tailback.yaml").contains("      path: /etc/tailback/dashboards\n"));
    // Grafana puts its environment into queries of rules as well: macros would be empty.
    assert!(rules().rules.iter().all(|rule| !query(&rule.sql).contains('$')));
}

fn rules_json() -> Value {
    alerts::json_of(&rules())
}
