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
