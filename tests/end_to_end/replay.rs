//! Recorded rows of a real ldmsd through `tailback replay`: excerpts under `tests/fixtures/ldms`.
//!
//! The truth of the recording: from 120 to 216 s after the scenario's start `nid00001` wrote 0.67 instead of
//! 1.0 GB/s, 31.7 s lost, to `nid00002` (job 7), and the links of router `c0-0c0s0` stalled.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::documents;

/// When the recorded scenario began, in seconds since the epoch.
const SCENARIO_S: f64 = 1_795_217_421.826;
const VICTIM: &str = "lustre_write_rate/nid00001/snx11168";

fn fixtures(folder: &str, prefix: &str) -> Vec<PathBuf> {
    let folder = support::paths::root().join("tests/fixtures/ldms").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(prefix);
    let mut files: Vec<PathBuf> = files.filter(named).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn run(inputs: &[PathBuf], out: &Path, options: &[&str]) -> Output {
    Command::new(crate::TAILBACK)
        .arg("replay")
        .args(inputs)
        .arg("--out")
        .arg(out)
        .args(options)
        .output()
        .unwrap()
}

/// What a replay wrote.
struct Written {
    signals: Vec<Value>,
    episodes: Vec<Value>,
    jobs: Vec<Value>,
    dropped: Value,
}

fn replay(inputs: &[PathBuf], options: &[&str]) -> Written {
    let out = tempfile::tempdir().unwrap();
    let output = run(inputs, out.path(), options);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = |name: &str| {
        let text = std::fs::read_to_string(out.path().join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let dropped = std::fs::read_to_string(out.path().join("dropped.json")).unwrap();
    Written {
        signals: lines("signals.jsonl"),
        episodes: lines("episodes.jsonl"),
        jobs: lines("jobs.jsonl"),
        dropped: serde_json::from_str(&dropped).unwrap(),
    }
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().unwrap()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap().to_owned()
}

fn of_series<'a>(values: &'a [Value], series: &str) -> Vec<&'a Value> {
    values.iter().filter(|v| v["series"].as_str().unwrap().starts_with(series)).collect()
}

fn near(found: f64, truth: f64, tolerance: f64) {
    assert!((found - truth).abs() <= tolerance, "{found} is not within {tolerance} of {truth}");
}

/// The victim's one episode: when, and how much.
fn holds_the_truth(written: &Written) {
    let victim = of_series(&written.episodes, VICTIM);
    assert_eq!(victim.len(), 1);
    near(number(victim[0], "start"), SCENARIO_S + 120.0, 2.0);
    near(number(victim[0], "end"), SCENARIO_S + 216.0, 2.0);
    near(number(victim[0], "slowdown_s"), 31.7, 1.5);
    assert!(number(victim[0], "slowdown_lo_s") <= 31.7 && 31.7 <= number(victim[0], "slowdown_hi_s"));
    assert!(of_series(&written.episodes, "lustre_write_rate/nid00002").is_empty());
}

#[test]
fn the_recorded_victim_lost_31_7_seconds_in_one_episode_and_the_aggressor_none() {
    for (folder, prefix) in
        [("kafka", "ldms."), ("kafka", "ldms-asis."), ("csv/classic", ""), ("csv/decomp", "")]
    {
        let written = replay(&fixtures(folder, prefix), &[]);
        holds_the_truth(&written);
    }
}

#[test]
fn the_recorded_fall_of_the_aggressor_is_its_own_phase_even_without_job_rows() {
    let only: Vec<PathBuf> = fixtures("kafka", "ldms.lustre_client").into_iter().collect();
    holds_the_truth(&replay(&only, &[]));
}

#[test]
fn the_recorded_tiles_are_contended_in_that_span_and_at_no_other_time() {
    let written = replay(&fixtures("kafka", "ldms.aries_rtr_2tiles"), &[]);
    let tiles = of_series(&written.episodes, "aries_stall_ratio/c0-0c0s0/");
    assert_eq!(tiles.len(), 2);
    assert_eq!(of_series(&written.episodes, "aries_stall_ratio/").len(), 3, "two tiles and the router");
    for tile in tiles {
        near(number(tile, "start"), SCENARIO_S + 120.0, 2.0);
        near(number(tile, "end"), SCENARIO_S + 216.0, 2.0);
    }
    for signal in written.signals.iter().filter(|s| s["state"] == "contended") {
        let second = number(signal, "time") - SCENARIO_S;
        assert!((118.0..=225.0).contains(&second), "{signal}");
    }
}

#[test]
fn the_victims_job_lost_as_much_as_its_series_and_to_the_aggressors_job() {
    let mut inputs = fixtures("kafka", "ldms.lustre_client");
    inputs.extend(fixtures("kafka", "ldms.slurm_jobs.jsonl"));
    let written = replay(&inputs, &[]);
    let victim = written.jobs.iter().find(|job| job["job_id"] == "6").unwrap();
    near(number(victim, "slowdown_s"), 31.7, 1.5);
    near(number(victim, "contended_s"), 96.0, 2.0);
    assert!(number(victim, "completeness") > 0.99);
    assert_eq!(victim["causes"][0]["cause"], "other_job");
    assert_eq!(victim["causes"][0]["series_or_job"], "7");
}

/// What `jobs` lost to others, by aggressor and victim: estimate and both ends.
fn lost_to_others(jobs: &[Value]) -> BTreeMap<(String, String), [f64; 3]> {
    let mut lost: BTreeMap<(String, String), [f64; 3]> = BTreeMap::new();
    let is_a_line = |job_id: &str| jobs.iter().any(|job| job["job_id"] == job_id);
    for victim in jobs {
        for cause in victim["causes"].as_array().unwrap() {
            let is_others = ["other_job", "io_on_mpi"].contains(&cause["cause"].as_str().unwrap());
            if is_others && is_a_line(cause["series_or_job"].as_str().unwrap()) {
                let pair = (text(cause, "series_or_job"), text(victim, "job_id"));
                let ends =
                    ["slowdown_s", "slowdown_lo_s", "slowdown_hi_s"].map(|field| number(victim, field));
                let to = lost.entry(pair).or_default();
                *to = std::array::from_fn(|at| to[at] + number(cause, "share") * ends[at]);
            }
        }
    }
    lost
}

/// What `jobs` say that they caused, in the same form.
fn caused(jobs: &[Value]) -> BTreeMap<(String, String), [f64; 3]> {
    let of_job = |job: &Value| {
        let victims = job["caused"].as_array().expect("each job has the list").clone();
        let lo: Vec<f64> = victims.iter().map(|victim| number(victim, "lo_s")).collect();
        assert!(lo.is_sorted_by(|a, b| a >= b), "{job}");
        let aggressor = text(job, "job_id");
        victims.into_iter().map(move |victim| {
            let lost = ["slowdown_s", "lo_s", "hi_s"].map(|field| number(&victim, field));
            ((aggressor.clone(), text(&victim, "job_id")), lost)
        })
    };
    jobs.iter().flat_map(of_job).collect()
}

fn caused_equals_what_victims_lost(jobs: &[Value]) -> BTreeMap<(String, String), [f64; 3]> {
    let (found, lost) = (caused(jobs), lost_to_others(jobs));
    assert!(found.keys().eq(lost.keys()), "{found:?} {lost:?}");
    for (pair, of) in &found {
        std::iter::zip(of, lost[pair]).for_each(|(a, b)| near(*a, b, 1e-9));
    }
    found
}

#[test]
fn aggressors_line_has_what_the_victim_lost_to_it() {
    let mut inputs = fixtures("kafka", "ldms.lustre_client");
    inputs.extend(fixtures("kafka", "ldms.slurm_jobs.jsonl"));
    let jobs = replay(&inputs, &[]).jobs;
    let found = caused_equals_what_victims_lost(&jobs);
    let pairs: Vec<_> = found.keys().collect();
    assert_eq!(pairs, [&("7".to_owned(), "6".to_owned())]);
    let [lost_s, lo_s, hi_s] = found[pairs[0]];
    // A small share of its loss may have no known cause.
    assert!(lost_s > 25.0 && lost_s < 33.2 && lo_s > 0.0 && lo_s <= lost_s && lost_s <= hi_s, "{found:?}");
    let victim = jobs.iter().find(|job| job["job_id"] == "6").unwrap();
    assert_eq!(victim["caused"], serde_json::json!([]));
}

#[test]
fn jobs_of_a_network_cost_each_other_what_they_lost() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    let mut simulate = Command::new(crate::TAILBACK);
    simulate.args(["simulate", "--scenario", "cth-against-imb", "--out"]).arg(&rows);
    assert!(simulate.output().unwrap().status.success());
    let topology = support::paths::root().join("schemas/topology/machines/demo.toml");
    let jobs = rows.join("jobs.jsonl");
    let options = ["--jobs", jobs.to_str().unwrap(), "--topology", topology.to_str().unwrap()];
    let written = replay(&[rows.join("ldms.aries_rtr.jsonl")], &options);
    let found = caused_equals_what_victims_lost(&written.jobs);
    assert!(!found.is_empty());
}

#[test]
fn folder_with_results_is_refused_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let (out, rows) = (folder.path().join("found"), fixtures("kafka", "ldms.lustre_client"));
    assert!(run(&rows, &out, &[]).status.success());
    for name in ["signals.jsonl", "episodes.jsonl", "jobs.jsonl", "dropped.json", "tailback.db"] {
        let only = folder.path().join(name).with_extension("only");
        std::fs::create_dir(&only).unwrap();
        std::fs::write(only.join(name), "kept").unwrap();
        let refused = run(&rows, &only, &[]);
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && error.contains(name) && error.contains("--force"), "{error}");
        assert_eq!(std::fs::read_dir(&only).unwrap().count(), 1);
        assert_eq!(std::fs::read(only.join(name)).unwrap(), b"kept");
    }
    std::fs::write(out.join("note.txt"), "mine").unwrap();
    let output = run(&rows, &out, &["--force", "--no-store"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!out.join("tailback.db").exists(), "no result of the earlier replay is left");
    assert!(out.join("signals.jsonl").metadata().unwrap().len() > 1_000);
    assert!(out.join("note.txt").exists());
}

#[test]
fn inputs_are_not_replaced_even_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.jsonl");
    std::fs::write(&jobs, r#"{"job_id":"6","nodes":["nid00001"],"start":1795217421,"end":null}"#).unwrap();
    let rows = fixtures("kafka", "ldms.lustre_client");
    let output = run(&rows, folder.path(), &["--force", "--jobs", jobs.to_str().unwrap()]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("input"), "{error}");
    assert!(jobs.exists());
}

#[test]
fn all_forms_of_the_recording_agree() {
    let kafka = replay(&fixtures("kafka", "ldms."), &[]);
    for (folder, prefix) in [("kafka", "ldms-asis."), ("csv/classic", ""), ("csv/decomp", "")] {
        let other = replay(&fixtures(folder, prefix), &[]);
        let (a, b) = (of_series(&kafka.signals, VICTIM), of_series(&other.signals, VICTIM));
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(&b).all(|(a, b)| a["time"] == b["time"] && a["state"] == b["state"]));
        let (a, b) = (of_series(&kafka.episodes, VICTIM), of_series(&other.episodes, VICTIM));
        near(number(a[0], "slowdown_s"), number(b[0], "slowdown_s"), 0.01);
    }
}

#[test]
fn published_model_flags_what_the_guide_documents() {
    // The guide looks at the series alone; the rows' own numbers of jobs would begin its baseline again with each job.
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&fixtures("kafka", "ldms.lustre_client")[0]).unwrap();
    let only = vec![folder.path().join("ldms.lustre_client.jsonl")];
    std::fs::write(&only[0], text.replace("\"job_id\":", "\"other\":")).unwrap();
    let written = replay(&only, &["--model", "published", "--window", "8", "--eta", "1"]);
    let flagged = |series: &str| {
        let signals = of_series(&written.signals, series);
        signals.iter().filter(|s| s["state"] == "contended").count()
    };
    let charged_s = |series: &str| number(of_series(&written.signals, series).last().unwrap(), "slowdown_s");
    // GUIDE section 1: 205 of 320 s flagged for the victim (truth 96); 99 s charged to the aggressor (truth 0).
    assert_eq!(flagged("lustre_write_rate/nid00001"), 205);
    near(charged_s("lustre_write_rate/nid00002"), 99.0, 0.6);
}

#[test]
fn the_documented_parameters_find_the_truth_and_a_larger_least_effect_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("parameters.toml");
    let with = |parameters: &str| {
        std::fs::write(&file, parameters).unwrap();
        replay(&fixtures("kafka", "ldms.lustre_client"), &["--config", file.to_str().unwrap()])
    };
    let parameters = documents::block("docs/lab.md", "[metric.lustre_write_rate]");
    holds_the_truth(&with(&parameters));
    let larger = parameters.replace("least_effect = 0.05", "least_effect = 0.9");
    assert_ne!(larger, parameters);
    assert!(of_series(&with(&larger).episodes, VICTIM).is_empty());
}

#[test]
fn unattributable_rows_are_counted() {
    let written = replay(&fixtures("kafka", "ldms-asis."), &[]);
    assert!(written.dropped["unattributable"].as_u64().unwrap() > 0);
}

#[test]
fn store_contains_the_places_of_nodes_and_links() {
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("machine.toml");
    std::fs::write(&topology, "kind = \"aries\"\ngroups = 1\npopulated = [\"c0-0c0\"]\n").unwrap();
    let inputs = fixtures("kafka", "ldms.lustre_client");
    let output = run(&inputs, folder.path(), &["--topology", topology.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let store = rusqlite::Connection::open(folder.path().join("tailback.db")).unwrap();
    let sql =
        "SELECT (SELECT count(*) FROM node_switches) || ' ' || switch || ' ' || group_name FROM node_places
               WHERE node = 'nid00001'";
    let found: String = store.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(found, "64 c0-0c0s0 c0-0..c1-0");
    let links = "SELECT group_concat(DISTINCT class), count(*) > 0, count(*) = count(DISTINCT series) FROM link_places
                 WHERE series LIKE 'aries_stall_ratio/c0-0c0s0/%'";
    let (classes, known, once): (String, bool, bool) =
        store.query_row(links, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert!(known && once && classes.contains("green"), "{classes}");
}

#[test]
fn timestamps_keep_their_microseconds() {
    let written = replay(&fixtures("kafka", "ldms.lustre_client"), &[]);
    let text = written.signals[0]["time"].to_string();
    assert_eq!(text.split('.').nth(1).map(str::len), Some(6), "{text}");
}

#[test]
fn missing_file_is_named() {
    let out = tempfile::tempdir().unwrap();
    let output = run(&[PathBuf::from("no-such-rows.jsonl")], out.path(), &[]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-rows.jsonl"));
}

#[test]
fn an_option_out_of_its_range_is_refused_with_its_range() {
    let out = tempfile::tempdir().unwrap();
    let output = run(&fixtures("kafka", "ldms.slurm_jobs"), out.path(), &["--window", "1"]);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(text.contains("window") && text.contains("16"), "{text}");
}

#[test]
fn the_simulated_cluster_replays_to_its_own_truth() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    let simulated = Command::new(crate::TAILBACK)
        .args(["simulate", "--scenario", "ior-25", "--out"])
        .arg(&rows)
        .status()
        .unwrap();
    assert!(simulated.success());
    let jobs = rows.join("jobs.jsonl");
    let written = replay(&[rows.join("ldms.lustre_client.jsonl")], &["--jobs", jobs.to_str().unwrap()]);
    let truth = std::fs::read_to_string(rows.join("truth.jsonl")).unwrap();
    let truth: Vec<Value> = truth.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let victim = truth.iter().find(|line| line["kind"] == "job").unwrap();
    let found = written.jobs.iter().find(|job| job["job_id"] == victim["job_id"]).unwrap();
    let true_s = number(victim, "slowdown_s");
    near(number(found, "slowdown_s"), true_s, 0.02 * true_s);
}
