//! The commands of the README fill a real broker (`tests/services/kafka`), with a smaller machine and for a shorter time.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::paths::programs;
use support::skip::servers_allowed;

fn program() -> PathBuf {
    programs().join("examples/fill")
}

fn crate_folder() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
}

fn readme() -> String {
    std::fs::read_to_string(crate_folder().join("README.md")).unwrap()
}

/// The README's block, for three seconds of the smallest machine, in the folder `DIR`. The broker ends with the script.
fn script() -> String {
    let readme = readme();
    let block = readme.split("```\n").nth(1).unwrap();
    let run = "cargo run --release -p load --example fill --";
    assert!(block.contains(run) && block.contains(" --minutes 2 "), "{block}");
    let smaller = block
        .replace(run, &program().display().to_string())
        .replace("--minutes 2", "--minutes 0.05 --trinities 0.0002");
    format!("set -euo pipefail\ntrap 'tests/services/kafka kill DIR' EXIT\n{smaller}")
}

/// Runs a script of bash in a folder whose `tests` links to the repository's.
fn run(script: &str, folder: &Path) {
    std::os::unix::fs::symlink(crate_folder().parent().unwrap(), folder.join("tests")).unwrap();
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", script]).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

#[test]
fn documented_commands_fill_a_broker_and_print_the_truth() {
    if !servers_allowed() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("tailback-fill-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    run(&script(), &folder);
    let truth: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("truth.json")).unwrap()).unwrap();
    let figures = &truth["figures"];
    assert_eq!(figures["seconds"], 3);
    // A router's two halves and four clients, and the nodes' rows about jobs.
    let rows = |schema: &str| figures["schemas"][schema]["rows"].as_u64().unwrap();
    assert_eq!((rows("aries_rtr"), rows("lustre_client")), (6, 12), "{figures}");
    assert!(rows("slurm_jobs") > 0 && figures["sent_bytes"].as_u64().unwrap() > 0, "{figures}");
    assert!(truth["contended"].is_array() && truth["jobs"].is_array(), "{truth}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn help_lists_the_options_that_the_readme_names() {
    let output = Command::new(program()).arg("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    let readme = readme();
    let (of_fill, _) = readme.split("```\n").nth(2).unwrap().split_once("## Jobs that ask").unwrap();
    let spans = of_fill.split('`').skip(1).step_by(2);
    // What begins otherwise is a command of cargo.
    let spans = spans.filter(|span| span.starts_with("--"));
    let options: Vec<&str> = spans.flat_map(str::split_whitespace).filter(|w| w.starts_with("--")).collect();
    assert!(options.contains(&"--paced"), "{options:?}");
    for option in options {
        assert!(help.contains(option), "{option} is not in\n{help}");
    }
}
