//! The JSON parses into the types of Grafana's Foundation SDK for the version that the dashboards aim at.

use crate::integration::grafana::files::made;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::skip::skip;

/// Node with the SDK, installed once for each version of the lock file; `None` where there is no npm.
fn checker() -> Option<PathBuf> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk");
    let folder = std::env::temp_dir().join("tailback-grafana-sdk");
    fs::create_dir_all(&folder).unwrap();
    let lock = fs::read_to_string(from.join("package-lock.json")).unwrap();
    let done = folder.join("installed.json");
    for file in ["package.json", "package-lock.json", "check.mjs"] {
        fs::copy(from.join(file), folder.join(file)).unwrap();
    }
    if fs::read_to_string(&done).is_ok_and(|installed| installed == lock) {
        return Some(folder);
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
    match install.output() {
        Ok(output) => {
            assert!(output.status.success(), "npm ci: {}", said(&output));
            fs::write(&done, lock).unwrap();
            Some(folder)
        }
        Err(why) => {
            skip(&format!("no npm for the types of Grafana's SDK: {why}"));
            None
        }
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(folder: &Path, files: &[PathBuf]) -> Output {
    Command::new("node").arg("check.mjs").args(files).current_dir(folder).output().unwrap()
}

#[test]
fn the_json_parses_into_the_types_of_the_sdk_and_wrong_json_does_not() {
    let Some(folder) = checker() else { return };
    let files: Vec<PathBuf> = made().into_keys().collect();
    let output = check(&folder, &files);
    assert!(output.status.success(), "{}", said(&output));

    // The check can fail: an unknown value of an enum, one of a panel's own options, a unit that Grafana does not know.
    let board = files.iter().find(|path| path.ends_with("dashboards/job.json")).unwrap();
    let text = fs::read_to_string(board).unwrap();
    let wrong = [
        ("mode", "\"mode\": \"absolute\"", "\"mode\": \"absolut\""),
        ("layout", "\"wideLayout\"", "\"wideLayoud\""),
        ("unit", "\"unit\": \"s\"", "\"unit\": \"sec\""),
    ];
    let wrong_files = wrong.map(|(name, right, wrong)| {
        assert!(text.contains(right), "{right}");
        let path = folder.join(format!("wrong-{name}.json"));
        fs::write(&path, text.replace(right, wrong)).unwrap();
        path
    });
    let output = check(&folder, &wrong_files);
    assert!(!output.status.success());
    for (name, _, wrong) in wrong {
        let prefix = format!("wrong-{name}");
        assert!(
            said(&output).lines().any(|line| line.starts_with(&prefix)),
            "{wrong} passed: {}",
            said(&output)
        );
    }
}
