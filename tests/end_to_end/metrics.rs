//! A site's own metrics: files beside the built-in ones.

use std::path::Path;
use std::process::{Command, Output};

const METRIC: &str = r#"
name = "scratch_read_rate"
title = "read rate"
unit = "bytes/s"
direction = "falling"
measures = "progress"
[reading]
passed = ["read_bytes"]
bytes_per_count = 1.0
floor = 1.0
active_per_s = 1e6
most_per_s = 1e12
[[source]]
schema = "site_scratch"
rank = 0
part_columns = ["mount"]
[source.columns]
read_bytes = ["read_bytes"]
"#;

/// Rows of a schema that no built-in metric has: two nodes read 1 GB/s each.
fn rows() -> String {
    let row = |second: u64, node: u64| {
        let (time, bytes) = (1_795_000_000 + second, second * 1_000_000_000);
        format!(
            r#"{{"timestamp":{time}.002,"producer":"nid{node:05}","mount":"scratch","read_bytes":{bytes}}}"#
        )
    };
    (0..60).flat_map(|second| [row(second, 1), row(second, 2)]).collect::<Vec<_>>().join("\n") + "\n"
}

fn replay(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(crate::TAILBACK);
    command.current_dir(folder).args(["replay", "rows.jsonl", "--no-store", "--out", "out"]).args(more);
    command.output().unwrap()
}

#[test]
fn site_metric_is_read_by_option_and_by_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("metrics")).unwrap();
    std::fs::write(path("metrics/scratch.toml"), METRIC).unwrap();
    std::fs::write(path("rows.jsonl"), rows()).unwrap();
    let config = "[metrics]\nfolder = \"metrics\"\n[metric.scratch_read_rate]\nwindow = 12\n";
    std::fs::write(path("site.toml"), config).unwrap();
    assert!(!replay(folder.path(), &[]).status.success(), "no metric has these columns");
    for more in [["--metrics", "metrics"], ["--config", "site.toml"]] {
        let done = replay(folder.path(), &more);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let signals = std::fs::read_to_string(path("out/signals.jsonl")).unwrap();
        let of_node = |line: &&str| line.contains(r#""series":"scratch_read_rate/nid00001/scratch""#);
        assert!(signals.lines().filter(of_node).count() > 50, "{more:?}: {signals}");
    }
}

#[test]
fn broken_metric_file_is_named_with_its_key() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("metrics")).unwrap();
    std::fs::write(folder.path().join("rows.jsonl"), rows()).unwrap();
    std::fs::write(folder.path().join("site.toml"), "model = \"robust\"\n[metrics]\nfolder = \"metrics\"\n")
        .unwrap();
    let file = folder.path().join("metrics/scratch.toml");
    std::fs::write(file, METRIC.replace("floor = 1.0", "floor = -1.0")).unwrap();
    for (more, begin) in [
        (["--metrics", "metrics"], "tailback: metrics/scratch.toml: reading.floor: must be above 0"),
        (
            ["--config", "site.toml"],
            "tailback: site.toml:3: metrics.folder: metrics/scratch.toml: reading.floor",
        ),
    ] {
        let done = replay(folder.path(), &more);
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && error.starts_with(begin), "{error}");
    }
}

fn metrics(folder: &Path, args: &[&str]) -> (bool, String, String) {
    let done = Command::new(crate::TAILBACK).current_dir(folder).arg("metrics").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.success(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn metric_files_are_listed_checked_and_tried() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("scratch.toml"), METRIC).unwrap();
    std::fs::write(path("broken.toml"), METRIC.replace("floor = 1.0", "floor = -1.0")).unwrap();
    std::fs::write(path("rows.jsonl"), rows()).unwrap();
    std::fs::write(path("others.jsonl"), "{\"timestamp\":1795000000,\"producer\":\"n\",\"MemTotal\":1}\n")
        .unwrap();

    let (_, listed, _) = metrics(folder.path(), &["list", "--metrics", "scratch.toml"]);
    assert!(listed.contains("scratch_read_rate: read rate, bytes/s; from site_scratch\n"), "{listed}");
    assert!(listed.contains("ib_wait_ratio: waits to send"), "{listed}");

    let (fits, checked, error) = metrics(folder.path(), &["check", "scratch.toml", "broken.toml"]);
    let wanted =
        "scratch.toml: metric scratch_read_rate\nbroken.toml: reading.floor: must be above 0, not -1\n";
    assert_eq!((fits, checked.as_str()), (false, wanted), "{error}");

    let (_, tried, error) = metrics(folder.path(), &["try", "scratch.toml", "rows.jsonl"]);
    let begin =
        "scratch_read_rate/nid00001/scratch: 59 readings, 59 of them active; 1.0000e9 to 1.0000e9 bytes/s";
    assert!(tried.starts_with(begin) && tried.lines().count() == 2, "{tried}{error}");
    let (_, tried, _) = metrics(folder.path(), &["try", "--json", "scratch.toml", "rows.jsonl"]);
    let first: serde_json::Value = serde_json::from_str(tried.lines().next().unwrap()).unwrap();
    assert_eq!((first["readings"].as_u64(), first["mean"].as_f64().map(f64::round)), (Some(59), Some(1e9)));

    let (fits, _, error) = metrics(folder.path(), &["try", "scratch.toml", "others.jsonl"]);
    assert!(!fits && error.contains("no row has the columns of scratch_read_rate"), "{error}");
}
