//! `tailback check` as a user runs it. Each folder under `tests/fixtures/config` is a case: `tailback.toml` is the file
//! (if there is one), `env` contains variables, `expected.txt` the expected output. Other files are copied beside the
//! configuration with mode 0600, or 0644 if their name ends in `.open`. `UPDATE_EXPECTED=1` rewrites `expected.txt`.

use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// The program in a folder.
fn tailback(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = support::paths::tailback();
    command.args(arguments).current_dir(folder);
    command
}

fn copy(case: &Path, folder: &Path) {
    for entry in std::fs::read_dir(case).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let copied = folder.join(&name);
        std::fs::copy(entry.path(), &copied).unwrap();
        let mode = if name.ends_with(".open") { 0o644 } else { 0o600 };
        std::fs::set_permissions(&copied, PermissionsExt::from_mode(mode)).unwrap();
    }
}

fn check(case: &Path, json: bool) -> Output {
    let folder = tempfile::tempdir().unwrap();
    copy(case, folder.path());
    let mut arguments = vec!["check"];
    if folder.path().join("tailback.toml").exists() {
        arguments.extend(["--config", "tailback.toml"]);
    }
    if json {
        arguments.push("--json");
    }
    let mut command = tailback(folder.path(), &arguments);
    let variables = std::fs::read_to_string(case.join("env")).unwrap_or_default();
    command.envs(variables.lines().filter_map(|line| line.split_once('='))).output().unwrap()
}

#[test]
fn each_case_prints_what_is_expected() {
    let cases = support::paths::root().join("tests/fixtures/config");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(cases).unwrap() {
        let case = entry.unwrap().path();
        let output = check(&case, false);
        let mut printed = String::from_utf8(output.stdout).unwrap();
        writeln!(
            printed,
            "{}exit {}",
            String::from_utf8(output.stderr).unwrap(),
            output.status.code().unwrap()
        )
        .unwrap();
        let expected = case.join("expected.txt");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected, &printed).unwrap();
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        seen += 1;
        if printed != expected {
            wrong.push(format!("{}\n--- printed\n{printed}--- expected\n{expected}", case.display()));
        }
    }
    assert!(seen >= 8 && wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_json_answer_holds_what_the_text_does() {
    let cases = support::paths::root().join("tests/fixtures/config");
    let answer = |case: &str| -> serde_json::Value {
        serde_json::from_slice(&check(&cases.join(case), true).stdout).unwrap()
    };
    let wrong = answer("typo");
    assert_eq!((&wrong["valid"], &wrong["errors"][0]["line"]), (&false.into(), &3.into()));
    assert_eq!(wrong["errors"][0]["key"], "stream.latness_s");
    let right = answer("production");
    assert_eq!((&right["valid"], &right["errors"]), (&true.into(), &serde_json::json!([])));
    let values = right["values"].as_array().unwrap();
    let of = |key: &str| values.iter().find(|value| value["key"] == key).unwrap();
    assert_eq!(of("kafka.replication")["origin"], "tailback.toml:4");
}

#[test]
fn the_printed_defaults_are_a_valid_file_that_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let defaults = tailback(folder.path(), &["config"]).output().unwrap().stdout;
    let also = tailback(folder.path(), &["check", "--defaults"]).output().unwrap().stdout;
    assert_eq!(defaults, also);
    std::fs::write(folder.path().join("tailback.toml"), &defaults).unwrap();
    let checked = tailback(folder.path(), &["check", "--config", "tailback.toml"]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
