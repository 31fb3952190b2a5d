//! `tailback backtest` on simulated rows: scores near the paper's schedule, sweeps, error messages.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tailback(arguments: &[&str]) -> Output {
    Command::new(crate::TAILBACK).args(arguments).output().unwrap()
}

/// Rows of a simulation with their truth.
struct Recording {
    folder: tempfile::TempDir,
}

impl Recording {
    fn of(scenario: &str, noise: &str, seed: &str) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        let options = ["simulate", "--scenario", scenario, "--noise", noise, "--seed", seed, "--out", out];
        let output = tailback(&options);
        assert!(output.status.success(), "{}", stderr(&output));
        Recording { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn truth(&self) -> String {
        std::fs::read_to_string(self.path("truth.jsonl")).unwrap()
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, truth: &Path, options: &[&str]) -> Output {
        let (rows, jobs) = (self.path("ldms.lustre_client.jsonl"), self.path("jobs.jsonl"));
        let mut arguments = vec!["backtest", rows.to_str().unwrap(), "--jobs", jobs.to_str().unwrap()];
        arguments.extend(["--truth", truth.to_str().unwrap()]);
        arguments.extend(options);
        tailback(&arguments)
    }

    fn answer(&self, options: &[&str]) -> Value {
        let output = self.run(&self.path("truth.jsonl"), &[options, &["--json"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The error message of a run that must fail.
    fn refusal(&self, truth: &Path, options: &[&str]) -> String {
        let output = self.run(truth, options);
        assert!(!output.status.success(), "{options:?} was accepted");
        assert!(output.stdout.is_empty());
        let text = stderr(&output);
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        text
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).to_string()
}

/// The scores of a candidate over all series and jobs.
fn scores<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let candidates = answer["candidates"].as_array().unwrap();
    &candidates.iter().find(|candidate| candidate["name"] == name).unwrap()["scores"]["all"]
}

fn number(value: &Value, field: &str) -> f64 {
    let number = value[field].as_f64();
    assert!(number.is_some(), "{field} in {value}");
    number.unwrap()
}

/// Rank of a candidate by the documented order; the least is the best.
fn rank(scores: &Value) -> (bool, i64, i64) {
    let steps = |value: f64| (value * 1000.0).round() as i64;
    let beyond = number(scores, "false_s_per_series_hour") > 1.0;
    (beyond, -steps(number(scores, "f1")), steps(number(&scores["slowdown"], "relative_error")))
}

#[test]
fn the_default_finds_the_papers_schedule_and_its_loss() {
    let answer = Recording::of("ior-25", "0.05", "1").answer(&[]);
    let found = scores(&answer, "default");
    assert!(number(found, "recall") > 0.98 && number(found, "precision") > 0.98, "{found}");
    assert_eq!((&found["episodes_true"], &found["episodes_found"]), (&json!(1), &json!(1)));
    assert!(number(found, "false_s_per_series_hour") < 1.0, "{found}");
    assert!(number(found, "latency_p99_s") < 20.0 && number(found, "start_off_p99_s") < 3.0, "{found}");
    let lost = &found["slowdown"];
    // Table 4.1 of SAND2016-9525: 204 to 217 s.
    assert!((number(lost, "truth_s") - 213.0).abs() < 5.0, "{lost}");
    assert!(number(lost, "relative_error") < 0.02, "{lost}");
    // The fifteen that started later were never alone.
    assert_eq!(answer["from_start"]["stretches"], 15);
}

#[test]
fn the_published_model_is_worse_at_ten_percent_noise() {
    for (scenario, seed) in [("ior-40", "1"), ("ior-22", "2")] {
        let answer = Recording::of(scenario, "0.10", seed).answer(&[]);
        let error = |name| number(&scores(&answer, name)["slowdown"], "relative_error");
        assert!(error("published") > 2.0 * error("default"), "{scenario}: {answer}");
        assert_eq!(answer["proposal"]["verdict"], "default_is_best");
    }
}

#[test]
fn a_sweep_proposes_nothing_worse_than_the_default() {
    let recording = Recording::of("ior-19", "0.15", "3");
    let sweep = ["--sweep", "lustre_write_rate.window=6,12", "--sweep", "lustre_write_rate.eta=4,6"];
    let answer = recording.answer(&sweep);
    assert_eq!(answer["candidates"].as_array().unwrap().len(), 5);
    let best = &answer["candidates"][0];
    assert_eq!((&best["best"], &best["name"]), (&json!(true), &answer["proposal"]["name"]));
    assert!(rank(&best["scores"]["all"]) <= rank(scores(&answer, "default")), "{answer}");
    // One true stretch is not enough evidence for a change.
    let verdict = answer["proposal"]["verdict"].as_str().unwrap();
    assert!(["default_is_best", "too_few_truths"].contains(&verdict), "{verdict}");
}

#[test]
fn edge_and_limit_of_false_seconds_can_be_chosen() {
    // So noisy that a candidate that finds the stretch also finds false seconds.
    let recording = Recording::of("ior-40", "0.40", "2");
    let best = |options: &[&str]| {
        let sweep = ["--sweep", "lustre_write_rate.least_effect=0.1,0.9"];
        let answer = recording.answer(&[&sweep, options].concat());
        let best = &answer["candidates"][0];
        assert_eq!(best["best"], true, "{answer}");
        ["recall", "false_s_per_series_hour"].map(|figure| number(&best["scores"]["all"], figure))
    };
    let [recall, false_s] = best(&[]);
    assert!(recall < 0.1 && false_s <= 1.0, "{recall} {false_s}");
    let bears_all = ["--false-seconds-max", "1000"];
    let [recall, false_s] = best(&bears_all);
    assert!(recall > 0.9 && false_s > 10.0, "{recall} {false_s}");
    let [_, far_s] = best(&[&bears_all[..], &["--edge-s", "60"]].concat());
    let [_, all_s] = best(&[&bears_all[..], &["--edge-s", "0"]].concat());
    assert!(far_s < false_s && false_s < all_s, "{far_s} {false_s} {all_s}");
}

#[test]
fn a_file_is_scored_with_the_grid_over_it() {
    let recording = Recording::of("ior-25", "0.05", "1");
    let worst = recording.put("worst.toml", "[metric.lustre_write_rate]\nleast_effect = 0.9\n");
    let options = ["--config", worst.to_str().unwrap(), "--sweep", "lustre_write_rate.eta=5,6"];
    let answer = recording.answer(&options);
    assert!(number(scores(&answer, "default"), "recall") > 0.9);
    let name = format!("{} lustre_write_rate.eta=6", worst.display());
    assert!(number(scores(&answer, &name), "recall") < 0.1, "{answer}");
    let lines = answer["proposal"]["toml"].as_str().unwrap();
    let file = recording.put("proposed.toml", lines);
    assert!(tailback(&["check", "--config", file.to_str().unwrap()]).status.success(), "{lines}");
}

#[test]
fn unknown_key_is_refused_with_the_nearest() {
    let recording = Recording::of("ior-19", "0.02", "1");
    let truth = recording.path("truth.jsonl");
    for (sweep, want) in [
        ("lustre_write_rate.windoww=8", "the nearest is metric.lustre_write_rate.window"),
        ("lustre_write_rate.window=32,64,128", "metric.lustre_write_rate.window must lie between 4 and 16"),
        ("lustre_write_rate.window=", "the grid is empty"),
        ("site.file=a", "site.file changes nothing of what rows become"),
    ] {
        let text = recording.refusal(&truth, &["--sweep", sweep]);
        assert!(
            text.starts_with(&format!("tailback: --sweep {sweep}").replace("=32,64,128", "=32")),
            "{text}"
        );
        assert!(text.contains(want), "{text}");
    }
    let many = (1..=300).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = recording.refusal(&truth, &["--sweep", &format!("lustre_write_rate.eta={many}")]);
    assert!(text.contains("300 points") && text.contains("255"), "{text}");
}

#[test]
fn invalid_line_of_truth_is_reported_with_its_number() {
    let recording = Recording::of("ior-19", "0.02", "1");
    let series = "lustre_write_rate/nid00012/snx11137";
    let label = |start: f64, end: f64| {
        json!({"kind": "series", "series": series, "contended": [{"start": start, "end": end}]}).to_string()
    };
    let ends_first =
        recording.put("ends-first.jsonl", &format!("\n{}", label(1_700_000_100.0, 1_700_000_050.0)));
    let text = recording.refusal(&ends_first, &[]);
    assert!(text.contains("ends-first.jsonl:2: contended[0] ends at 1700000050"), "{text}");
    let elsewhere = recording.put("elsewhere.jsonl", &label(1_600_000_000.0, 1_600_000_050.0));
    let text = recording.refusal(&elsewhere, &[]);
    assert!(text.contains("elsewhere.jsonl") && text.contains("no time in common"), "{text}");
    let text = recording.refusal(&recording.path("no-such-truth.jsonl"), &[]);
    assert!(text.contains("no-such-truth.jsonl"), "{text}");
}

#[test]
fn series_without_rows_is_reported_with_the_nearest() {
    let recording = Recording::of("ior-19", "0.02", "1");
    let text = recording.truth().replace("nid00012/snx11137", "nid00012/snx11138");
    let truth = recording.put("mistyped.jsonl", &text);
    let output = recording.run(&truth, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let want = "no row has series lustre_write_rate/nid00012/snx11138; the nearest is lustre_write_rate/nid00012/snx11137";
    assert!(stderr(&output).contains(want), "{}", stderr(&output));
}

#[test]
fn labels_by_hand_judge_what_they_name() {
    let recording = Recording::of("ior-25", "0.05", "1");
    let first =
        recording.truth().lines().find(|line| line.contains("nid00012/snx11137")).unwrap().to_string();
    let written: Value = serde_json::from_str(&first).unwrap();
    let (series, contended) = (&written["series"], &written["contended"]);
    let by_hand = json!({"kind": "series", "series": series, "contended": contended}).to_string();
    let truth = recording.put("by-hand.jsonl", &by_hand);
    let output = recording.run(&truth, &["--labelled-only", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["series"], &answer["jobs"]), (&json!(1), &json!(0)));
    assert!(number(scores(&answer, "default"), "recall") > 0.98, "{answer}");
}

#[test]
fn the_answer_is_the_same_whatever_the_threads() {
    let recording = Recording::of("ior-22", "0.10", "4");
    let sweep =
        ["--sweep", "lustre_write_rate.window=4,8,16", "--sweep", "lustre_write_rate.least_effect=0.05,0.1"];
    for form in [&["--json"][..], &[]] {
        let of = |threads| {
            let options = [&sweep[..], form, &["--threads", threads]].concat();
            let output = recording.run(&recording.path("truth.jsonl"), &options);
            assert!(output.status.success(), "{}", stderr(&output));
            output.stdout
        };
        let one = of("1");
        assert!(one == of("2") && one == of("7") && one == of("7"));
    }
}

#[test]
fn text_output_marks_the_best_and_can_go_to_a_file() {
    let recording = Recording::of("ior-25", "0.10", "5");
    let file = recording.path("answer.txt");
    let output = recording.run(&recording.path("truth.jsonl"), &["--out", file.to_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    assert!(stderr(&output).is_empty(), "no progress bar without a terminal: {}", stderr(&output));
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("\n* default ") && text.contains("\n  published "), "{text}");
    assert!(text.contains("Keep the default"), "{text}");
}

#[test]
fn rows_of_two_metrics_are_scored_each() {
    let recording = Recording::of("demo", "0.02", "1");
    let rows = ["ldms.lustre_client.jsonl", "ldms.aries_rtr.jsonl"].map(|name| recording.path(name));
    let (jobs, truth) = (recording.path("jobs.jsonl"), recording.path("truth.jsonl"));
    let mut arguments = vec!["backtest", "--json"];
    arguments.extend(rows.iter().map(|path| path.to_str().unwrap()));
    arguments.extend(["--jobs", jobs.to_str().unwrap(), "--truth", truth.to_str().unwrap()]);
    let output = tailback(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let candidates = answer["candidates"].as_array().unwrap();
    let metrics = &candidates.iter().find(|c| c["name"] == "default").unwrap()["scores"]["metrics"];
    for metric in ["lustre_write_rate", "aries_stall_ratio"] {
        assert!(number(&metrics[metric], "recall") > 0.9, "{metric}: {}", metrics[metric]);
    }
}
