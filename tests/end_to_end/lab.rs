//! `tailback lab`: experiments as a person runs them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn lab(arguments: &[&str]) -> Output {
    Command::new(crate::TAILBACK).arg("lab").args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A site's own question: what does a second job cost the first?
const WHAT_IF: &str = r#"
title = "What does a neighbour cost"
source = "us"
paper = "none"
machine = "tree_small"
seconds = 200

[[case]]
name = "beside"

[[job]]
id = 1
hosts = [{ places = "0-3" }]
pattern = "all_to_all"
rate = { peak = 0.4 }
work_s = 150

[[job]]
id = 2
hosts = [{ places = "4-7" }]
pattern = "all_to_all"
rate = { peak = 0.9 }
start_s = 100
work_s = 60
"#;

fn written(folder: &Path, text: &str) -> String {
    let file = folder.join("what-if.toml");
    std::fs::write(&file, text).unwrap();
    path(&file).to_string()
}

#[test]
fn lab_run_prints_the_truth_and_what_tailback_reports() {
    let folder = tempfile::tempdir().unwrap();
    let output = lab(&["run", &written(folder.path(), WHAT_IF)]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("job 1: ran") && printed.contains("Tailback reports"), "{printed}");
    assert!(printed.contains("uplinks") || printed.contains("other_job"), "{printed}");
}

#[test]
fn missed_expectation_is_reported_and_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let expecting = format!(
        "{WHAT_IF}\n[[expect]]\nwhat = \"no cost\"\nvalue = \"beside/lost_others_s(1)\"\nbelow = 0.001\n\n\
         [[expect]]\nwhat = \"it runs\"\nvalue = \"beside/run_s(1)\"\nabove = 100\n"
    );
    let output = lab(&["run", &written(folder.path(), &expecting)]);
    assert!(!output.status.success());
    let printed = text(&output);
    assert!(printed.contains("MISSED no cost") && printed.contains("ok     it runs"), "{printed}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 expectations do not hold"));
}

#[test]
fn mistyped_name_is_reported_with_the_file_and_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    for (slip, words) in [
        (WHAT_IF.replace("all_to_all", "all_to_some"), "all_to_all"),
        (WHAT_IF.replace("tree_small", "tree_smal"), "tree_small"),
        (WHAT_IF.replace("work_s = 150", "works = 150"), "work_s"),
        (format!("{WHAT_IF}\n[[expect]]\nwhat = \"x\"\nvalue = \"beside/run(1)\"\nabove = 1\n"), "run_s"),
        (
            format!("{WHAT_IF}\n[[expect]]\nwhat = \"x\"\nvalue = \"besides/run_s(1)\"\nabove = 1\n"),
            "besides",
        ),
    ] {
        let output = lab(&["run", &written(folder.path(), &slip)]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(words), "{words}: {stderr}");
        assert!(stderr.contains("what-if"), "{stderr}");
    }
    let output = lab(&["run", "displaced-rung"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("displaced-ring"));
}

#[test]
fn outcomes_do_not_depend_on_threads_and_are_summarised_with_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), WHAT_IF);
    let run = |threads: &str| {
        let out = folder.path().join(threads);
        let names = ["fat-tree-counts", "kinds", "missing-data", file.as_str()];
        let output =
            lab(&[&["run", "--json", "--threads", threads, "--out", path(&out)][..], &names[..]].concat());
        let lines = text(&output);
        assert!(output.status.success(), "{lines}");
        for line in lines.lines() {
            let outcome: Value = serde_json::from_str(line).unwrap();
            assert!(outcome["judged"].as_array().unwrap().iter().all(|judged| judged["held"] == true));
        }
        (out, lines)
    };
    let ((one, of_one), (_, of_three)) = (run("1"), run("3"));
    assert_eq!(of_one, of_three);
    let (page, pictures) = (folder.path().join("page.html"), folder.path().join("pictures"));
    let output = lab(&["report", path(&one), "--html", path(&page), "--svg", path(&pictures)]);
    let table = text(&output);
    assert!(output.status.success(), "{table}");
    assert!(table.contains("expectations of 4 experiments hold") && !table.contains("missed"), "{table}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg ") && page.contains("Capacity, endpoint, and mere use"), "{page}");
    let drawn = std::fs::read_dir(pictures).unwrap().count();
    assert_eq!(drawn, 8, "one picture for each case that ran, and the calibration");
}

#[test]
fn the_built_in_experiments_are_listed_and_can_be_shown() {
    let listed = text(&lab(&["list"]));
    assert!(listed.contains("ior-schedules") && listed.contains("dragonfly_plus"), "{listed}");
    let shown = text(&lab(&["show", "displaced-ring"]));
    assert!(shown.contains("pattern = \"ring\""), "{shown}");
}

/// A site has rows, jobs and topology: a replay of those of a case finds the regions of `lab run`.
#[test]
fn a_recorded_case_replays_to_the_same_regions() {
    for (experiment, case, cause) in
        [("causes", "other job", "other_job"), ("imb-and-cth", "robust", "other_job")]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let output = lab(&["record", experiment, "--case", case, "--out", path(folder.path())]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rows = ["ldms.ports.jsonl", "ldms.aries_rtr.jsonl", "ldms.lustre_client.jsonl"].map(file);
        let rows = rows.iter().filter(|rows| rows.exists());
        let output = Command::new(crate::TAILBACK)
            .arg("replay")
            .args(rows)
            .args(["--jobs", path(&file("jobs.jsonl")), "--topology", path(&file("topology.json"))])
            .args(["--out", path(&file("found"))])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let store = rusqlite::Connection::open(file("found/tailback.db")).unwrap();
        let count = |sql: &str| store.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
        let played: Value = serde_json::from_slice(&lab(&["run", "--json", experiment]).stdout).unwrap();
        let of_case = |one: &&Value| one["name"] == case;
        let played = played["cases"].as_array().unwrap().iter().find(of_case).unwrap();
        let regions = played["played"]["regions"].as_array().unwrap();
        assert_eq!(count("SELECT count(*) FROM regions") as usize, regions.len(), "{experiment}");
        assert!(count(&format!("SELECT count(*) FROM regions WHERE cause = '{cause}'")) > 0, "{experiment}");
        let truth = std::fs::read_to_string(file("truth.jsonl")).unwrap();
        assert!(truth.lines().any(|line| line.contains("\"kind\":\"series\"")), "{truth}");
    }
}

#[test]
fn lab_truth_scores_a_kind_beside_its_goals() {
    let printed = text(&lab(&["truth", "steady", "--seeds", "1"]));
    assert!(printed.contains("steady victim") && printed.contains("(≤ 5%)"), "{printed}");
    let json = text(&lab(&["truth", "steady", "--seeds", "2", "--json"]));
    let scored: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&scored["cases"], &scored["victims"]), (&Value::from(2), &Value::from(2)));
    let seeds: Vec<u64> =
        scored["of_cases"].as_array().unwrap().iter().map(|c| c["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [2, 4], "reported seeds are even");
    let refused = lab(&["truth", "stedy"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no kind stedy"));
}

#[test]
fn calibration_of_the_truth_suite_is_in_table_json_and_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = path(folder.path());
    let table = text(&lab(&["truth", "steady", "--seeds", "2", "--out", out]));
    assert!(table.contains("| 50% hold | 80% hold | 95% hold |") && table.contains("| all | 2 |"), "{table}");
    let json = text(&lab(&["truth", "steady", "--seeds", "2", "--json"]));
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["calibration"]["intervals"], &lines[1]["kind"]), (&2.into(), &"all".into()));
    let page = folder.path().join("page.html");
    let report = lab(&["report", out, "--html", path(&page), "--svg", out]);
    assert!(report.status.success() && text(&report).contains("| all | 2 |"), "{}", text(&report));
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("id=\"calibration\"") && html.contains("Reliability of intervals"), "{html}");
    assert!(folder.path().join("calibration.svg").is_file());
}

/// A job that asks beside one that writes in bursts, as a site may try its own.
const ASKING: &str = r#"
title = "What does asking save"
source = "us"
paper = "none"
seconds = 3000

[[case]]
name = "bursts"
file_system = { bytes_per_s = 4e9, seeds = 2 }

[[writer]]
id = 1
nodes = 2
bytes_per_s = 1.8e9
steps = 6
compute_s = 60
write_s = 30
postpone = { adapts = "delay_io", retry_s = 30, buffer_bytes = 2e11, longest_s = 300 }

[[writer]]
id = 2
nodes = 6
bytes_per_s = 6e8
start_s = 200
steps = 3
compute_s = 60
write_s = 90

[[expect]]
what = "asking saves time"
value = "bursts/saved_s(1)"
above = 10
"#;

#[test]
fn what_jobs_save_that_ask_is_printed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = lab(&["run", &written(folder.path(), ASKING), "--out", path(&out)]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("case bursts, 2 seeds") && printed.contains("asking saves"), "{printed}");
    let page = folder.path().join("page.html");
    assert!(
        lab(&["report", path(&out), "--html", path(&page), "--svg", path(folder.path())]).status.success()
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("saved by asking") && page.contains("job 1, asking"), "{page}");
    assert!(folder.path().join("what-if-bursts.svg").exists());
}

#[test]
fn wrong_writer_is_refused_with_its_key() {
    let folder = tempfile::tempdir().unwrap();
    for (right, wrong, named) in [
        ("retry_s = 30", "retry_s = 0", "writer 1: retry_s"),
        ("compute_s = 60\nwrite_s = 30", "compute_s = [60, 30]\nwrite_s = 30", "[least, most]"),
        ("bytes_per_s = 4e9", "bytes_per_s = 0", "bytes_per_s"),
    ] {
        assert!(ASKING.contains(right), "{right}");
        let output = lab(&["run", &written(folder.path(), &ASKING.replace(right, wrong))]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(named), "{error}");
    }
}
