//! Recordings as sites have them: a dump of Kafka, a folder, one file whose rows contain job numbers.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const START_S: u64 = 1_795_217_400;

/// Rows of two nodes, a second apart. `n1` writes 1 GB/s, 0.6 GB/s while `n2` writes 1.4 GB/s instead of nothing.
fn rows(seconds: u64) -> Vec<String> {
    let contended = |second: u64| (150..210).contains(&second);
    let (mut victim, mut other) = (0, 0);
    let mut rows = Vec::new();
    for second in 0..seconds {
        let noise = second * 7_919 % 1_000 * 10_000;
        victim += if contended(second) { 600_000_000 } else { 1_000_000_000 } + noise;
        other += if contended(second) { 1_400_000_000 + noise } else { 0 };
        let job = if (20..280).contains(&second) { 41 } else { 0 };
        let disturber = if (140..215).contains(&second) { 42 } else { 0 };
        for (node, job, bytes) in [("n1", job, victim), ("n2", disturber, other)] {
            rows.push(format!(
                "{{\"timestamp\":{}.25,\"producer\":\"{node}\",\"job_id\":{job},\"fs_name\":\"home\",\
                 \"write_bytes.sum\":{bytes}}}\n",
                START_S + second
            ));
        }
    }
    rows
}

fn tailback(arguments: &[&str]) -> Output {
    Command::new(crate::TAILBACK).args(arguments).output().unwrap()
}

fn replay(inputs: &[&Path], out: &Path, options: &[&str]) -> Output {
    let inputs = inputs.iter().map(|path| path.to_str().unwrap());
    let mut arguments: Vec<&str> = ["replay", "--force"].into_iter().chain(inputs).collect();
    arguments.extend(["--out", out.to_str().unwrap()]);
    arguments.extend(options);
    tailback(&arguments)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn dropped(out: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(out.join("dropped.json")).unwrap()).unwrap()
}

#[test]
fn one_file_is_enough_for_a_post_mortem() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rows.jsonl"), folder.path().join("out"));
    std::fs::write(&file, rows(320).concat()).unwrap();
    let output = replay(&[&file], &out, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let store = out.join("tailback.db");
    let report = tailback(&["report", "41", "--json", "--store", store.to_str().unwrap()]);
    assert!(report.status.success(), "{}", text(&report.stderr));
    let lines = std::fs::read_to_string(out.join("jobs.jsonl")).unwrap();
    let jobs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let job = jobs.iter().find(|job| job["job_id"] == "41").unwrap();
    let lost_s = job["slowdown_s"].as_f64().unwrap();
    // 60 s at 0.6 instead of 1 GB/s.
    assert!((lost_s - 24.0).abs() < 1.0, "{job}");
    assert_eq!(job["causes"][0]["series_or_job"], "42", "{job}");
    let store = rusqlite::Connection::open(&store).unwrap();
    let kept = |job: &str| -> (f64, Option<f64>, String) {
        let sql = "SELECT start_time, end_time, user_name FROM jobs WHERE job_id = ?1";
        store.query_row(sql, [job], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    let second = |second: u64| (START_S + second) as f64 + 0.25;
    assert_eq!(kept("41"), (second(20), Some(second(279)), String::new()));
    assert_eq!(kept("42"), (second(140), Some(second(214)), String::new()));
}

#[test]
fn a_job_that_runs_at_the_end_of_the_rows_has_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rows.jsonl"), folder.path().join("out"));
    std::fs::write(&file, rows(200).concat()).unwrap();
    assert!(replay(&[&file], &out, &[]).status.success());
    let store = rusqlite::Connection::open(out.join("tailback.db")).unwrap();
    let sql = "SELECT count(*), count(end_time) FROM jobs";
    let found: (i64, i64) = store.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(found, (2, 0));
}

#[test]
fn a_dump_of_partitions_loses_no_row_unless_arrival_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("dump.jsonl"), folder.path().join("out"));
    let rows = rows(200);
    let partitions = (0..3).flat_map(|partition| rows.iter().skip(partition).step_by(3));
    std::fs::write(&file, partitions.map(String::as_str).collect::<String>()).unwrap();
    let output = replay(&[&file], &out, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(dropped(&out), serde_json::json!({}));
    let episodes = std::fs::read_to_string(out.join("episodes.jsonl")).unwrap();
    assert_eq!(episodes.lines().count(), 1, "{episodes}");
    assert!(replay(&[&file], &out, &["--arrival-order"]).status.success());
    assert!(dropped(&out)["late"].as_u64().unwrap() > 100, "{}", dropped(&out));
}

#[test]
fn a_folder_is_an_input_and_what_it_holds_besides_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("rows"), folder.path().join("rows/out"));
    std::fs::create_dir_all(input.join("day")).unwrap();
    let rows = rows(60);
    std::fs::write(input.join("day/a.jsonl"), rows[..60].concat()).unwrap();
    std::fs::write(input.join("b.jsonl"), rows[60..].concat()).unwrap();
    std::fs::write(input.join("README.md"), "Rows of a Tuesday.\n").unwrap();
    for _ in 0..2 {
        // The second time the folder also contains the results of the first.
        let output = replay(&[&input], &out, &[]);
        let log = text(&output.stderr);
        assert!(output.status.success(), "{log}");
        assert!(log.contains("120 rows") && log.contains("README.md"), "{log}");
        assert_eq!(dropped(&out), serde_json::json!({}), "{log}");
    }
}

#[test]
fn input_without_used_rows_is_an_error_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let nameless = rows(9).concat().replace("timestamp", "when");
    let truth = write(
        "truth.jsonl",
        "{\"kind\":\"series\",\"series\":\"lustre_write_rate/n1/home\",\"contended\":[]}\n",
    );
    for (file, wanted) in [
        (
            write("nameless.jsonl", &nameless),
            &["18 missing_timestamp", "nameless.jsonl:1", "M_timestamp"][..],
        ),
        (write("other.csv", "#Time,cpu\n1795217400.5,3\n"), &["1 unknown_schema", "write_bytes.sum"]),
        (write("empty.jsonl", ""), &["the inputs are empty"]),
    ] {
        let out = folder.path().join("out");
        let truth = truth.to_str().unwrap();
        let backtest = tailback(&["backtest", file.to_str().unwrap(), "--truth", truth]);
        for output in [replay(&[&file], &out, &[]), backtest] {
            let log = text(&output.stderr);
            assert!(!output.status.success(), "{log}");
            assert!(wanted.iter().all(|part| log.contains(part)), "{log}");
        }
    }
    let output = replay(&[&folder.path().join("out")], &folder.path().join("again"), &[]);
    assert!(
        !output.status.success() && text(&output.stderr).contains("none of the"),
        "{}",
        text(&output.stderr)
    );
}
