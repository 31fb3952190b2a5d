//! A site's own metrics: files beside the built-in ones.

use std::path::Path;
use std::process::{Command, Output};

const METRIC: &str = r#"
name = "scratch_read_rate"
subject = "Scratch mounts"
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
    command
        .current_dir(folder)
        .args(["replay", "rows.jsonl", "--no-store", "--force", "--out", "out"])
        .args(more);
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
    assert!(
        listed.contains("scratch_read_rate: Scratch mounts, read rate, bytes/s; from site_scratch\n"),
        "{listed}"
    );
    assert!(listed.contains("ib_wait_ratio: InfiniBand ports, waits to send"), "{listed}");

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

#[test]
fn rows_of_every_source_give_the_readings_that_their_counters_hold() {
    let (root, fixtures) = (support::paths::root(), support::paths::root().join("tests/fixtures/metrics"));
    let expected = std::fs::read_to_string(fixtures.join("expected.jsonl")).unwrap();
    for line in expected.lines() {
        let wanted: serde_json::Value = serde_json::from_str(line).unwrap();
        let file = format!("schemas/metrics/{}.toml", wanted["metric"].as_str().unwrap());
        let rows = format!("tests/fixtures/metrics/{}", wanted["rows"].as_str().unwrap());
        let (fits, tried, error) = metrics(&root, &["try", "--json", &file, &rows]);
        assert!(fits, "{line}: {error}");
        let found: Vec<serde_json::Value> =
            tried.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [series] = &found[..] else { panic!("{line}: {tried}") };
        assert_eq!(
            (&series["series"], &series["readings"]),
            (&wanted["series"], &wanted["readings"]),
            "{tried}"
        );
        let [mean, least, most, truth] =
            [&series["mean"], &series["least"], &series["most"], &wanted["mean"]]
                .map(|n| n.as_f64().unwrap());
        let is_near = |value: f64| (value / truth - 1.0).abs() < 1e-6;
        assert!([mean, least, most].into_iter().all(is_near), "{line}: {tried}");
    }
}

/// Two Slingshot interfaces that send 8 GB/s for 400 s; from second 200 to 300 they are paused for longer.
fn paused_rows() -> String {
    let row = |second: u64, node: u64| {
        let hot_s = second.saturating_sub(200).min(100);
        // A tenth of noise that depends on nothing but the row.
        let noise = 900 + (second * 7_919 + node * 104_729) % 200;
        let paused_ns = second * 500_000 + hot_s * 20_000_000 + second * noise;
        let pauses: String = (0..8).map(|n| format!(r#","hni_tx_paused_{n}":{paused_ns}"#)).collect();
        let (time, octets) = (1_795_000_000 + second, second * 8_000_000_000);
        format!(
            r#"{{"timestamp":{time}.002,"producer":"nid{node:05}","iface_name":"cxi0","hni_sts_tx_ok_octets":{octets}{pauses}}}"#
        )
    };
    (0..400).flat_map(|second| [row(second, 1), row(second, 2)]).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn pauses_are_shown_and_claim_no_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let job = r#"{"job_id":"7","user":"a","name":"x","nodes":["nid00001","nid00002"],"start":1795000010,"end":1795000390}"#;
    std::fs::write(path("rows.jsonl"), paused_rows()).unwrap();
    std::fs::write(path("jobs.jsonl"), job).unwrap();
    let done = replay(folder.path(), &["--jobs", "jobs.jsonl"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = |name: &str| -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let episodes = lines("out/episodes.jsonl");
    assert_eq!(episodes.len(), 2, "{episodes:?}");
    for episode in &episodes {
        let number = |key: &str| episode[key].as_f64().unwrap();
        let length_s = number("end") - number("start");
        assert!((95.0..105.0).contains(&length_s), "{episode}");
        assert_eq!((number("slowdown_s"), number("slowdown_lo_s")), (0.0, 0.0), "{episode}");
        assert!(
            (number("slowdown_hi_s") - length_s).abs() < 1e-3 && episode["evidence"] == "suspected",
            "{episode}"
        );
    }
    let job = &lines("out/jobs.jsonl")[0];
    // Nothing of it was judged: it may have lost its whole run.
    assert_eq!(
        (job["slowdown_lo_s"].as_f64(), job["slowdown_hi_s"].as_f64()),
        (Some(0.0), Some(380.0)),
        "{job}"
    );
    assert_eq!(job["judged"].as_f64(), Some(0.0), "{job}");
}

/// Messages of two ports of a Slingshot switch for 400 s; from second 200 to 300 one counts a hundred times as much congestion.
fn switch_messages() -> String {
    let sensor = |second: u64, port: u64, name: &str, value: u64| {
        let time = format!("2026-11-20T22:{:02}:{:02}.059Z", 40 + second / 60, second % 60);
        format!(
            r#"{{"Timestamp":"{time}","Location":"x1000c0r1j2p{}","ParentalIndex":1,"Index":9,"SubIndex":{port},"PhysicalContext":"{name}","Value":"{value}"}}"#,
            port % 2
        )
    };
    let message = |second: u64, port: u64| {
        let hot_s = if port == 12 { second.saturating_sub(200).min(100) } else { 0 };
        let noise = (second * 7_919 + port * 104_729) % 100_000;
        let congestion = second * 2_000_000 + hot_s * 200_000_000 + noise;
        let sensors = [
            sensor(second, port, "rxCongestion", congestion),
            sensor(second, port, "IfInOctets", second * 1_000_000_000),
        ]
        .join(",");
        let oem = format!(r#"{{"Sensors":[{sensors}],"TelemetrySource":"FabricPerf"}}"#);
        format!(
            r#"{{"Context":"a","Events":[{{"MessageId":"CrayFabricPerfTelemetry.Congestion","Oem":{oem}}}]}}"#
        )
    };
    (0..400).flat_map(|second| [message(second, 12), message(second, 13)]).collect::<Vec<_>>().join("\n")
        + "\n"
}

#[test]
fn congestion_of_a_switch_port_is_found_in_telemetry() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rows.jsonl"), switch_messages()).unwrap();
    let done = replay(folder.path(), &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(folder.path().join("out/episodes.jsonl")).unwrap();
    let episodes: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [episode] = &episodes[..] else { panic!("{text}") };
    assert_eq!(episode["series"], "slingshot_congestion_rate/x1000c0r1/j2p0");
    let length_s = episode["end"].as_f64().unwrap() - episode["start"].as_f64().unwrap();
    assert!((95.0..105.0).contains(&length_s), "{episode}");
    let dropped = std::fs::read_to_string(folder.path().join("out/dropped.json")).unwrap();
    assert_eq!(dropped.trim(), "{}");
}
