//! A job that reports its steps: what contention cost it by them, beside what its counters show, and what the next run learns of it.
//!
//! The truth is a server of 4 GB/s and an application that spends a part of its time in writing, and no part of the program.

use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const BEGIN_S: u64 = 1_795_000_000;
/// Seconds of a run, of which the second begins so many seconds after the first.
const RUN_S: u64 = 900;
const NEXT_S: u64 = 1_000;
/// GB/s that the server can take, and that each of the job's four clients wants.
const CAPACITY: f64 = 4.0;
const WANTED: f64 = 0.9;
/// Clients of the other job, which write in these seconds of each run.
const OTHERS: usize = 6;
const CONTENDED: [std::ops::Range<u64>; 3] = [200..280, 420..500, 700..780];
/// The part of a step that is writing where nothing slows it.
const WRITING: f64 = 0.4;
const STEPS_PER_S: f64 = 2.0;
/// Seconds between two reports.
const REPORT_S: u64 = 5;

/// A tenth of noise that depends on nothing but what it is of.
fn noise(second: u64, of: usize) -> f64 {
    let mixed = (second * 7_919 + of as u64 * 104_729 + 12_345).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    0.9 + 0.2 * mixed as f64 / (1_u64 << 24) as f64
}

/// Rows of both runs, of which the first reports its steps, and the seconds that a run lost in truth.
pub fn played() -> (String, f64) {
    let (mut rows, mut written, mut lost_s) = (String::new(), vec![0.0; 4 + OTHERS], 0.0);
    for second in 0..NEXT_S + RUN_S {
        let (of_run, reports) = (second % NEXT_S, second < NEXT_S);
        let runs = of_run < RUN_S;
        let others = CONTENDED.iter().any(|stretch| stretch.contains(&of_run));
        let active = if others { 4 + OTHERS } else { 4 };
        let share = (CAPACITY / active as f64).min(WANTED);
        let time = BEGIN_S + second;
        for (node, bytes) in written.iter_mut().enumerate() {
            let count = *bytes as u64;
            writeln!(rows, r#"{{"timestamp":{time}.002,"producer":"nid{node:05}","fs_name":"work","llite":"work-ffff880000000000","write_bytes.sum":{count}}}"#).unwrap();
            if (node < 4 && runs) || (node >= 4 && others) {
                *bytes += share * noise(second, node) * 1e9;
            }
        }
        let pace = 1.0 / (1.0 - WRITING + WRITING * WANTED / share);
        if reports && runs && of_run % REPORT_S == 0 {
            let steps = (1_000.0 * steps(of_run)) as u64;
            writeln!(rows, r#"{{"schema":"tailback_progress","producer":"10","timestamp":{time}.004,"job_id":"10","progress_name":"millisteps","progress_rank":"0","progress_count":{steps}}}"#).unwrap();
        }
        lost_s += if reports && runs { 1.0 - pace } else { 0.0 };
    }
    (rows, lost_s)
}

/// Steps until a second of a run.
fn steps(until: u64) -> f64 {
    let pace = |second: u64| {
        let others = CONTENDED.iter().any(|stretch| stretch.contains(&second));
        let share = (CAPACITY / if others { 10.0 } else { 4.0 }).min(WANTED);
        noise(second, 99) / (1.0 - WRITING + WRITING * WANTED / share)
    };
    STEPS_PER_S * (0..until).map(pace).sum::<f64>()
}

fn tailback(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new(crate::TAILBACK).args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn report(folder: &Path, job: &str) -> Value {
    serde_json::from_str(&tailback(folder, &["report", job, "--store", "out/tailback.db", "--json"])).unwrap()
}

/// Replays files of rows in a folder, and reports on both runs.
pub fn reports(folder: &Path, inputs: &[&str]) -> [Value; 2] {
    let mut jobs = String::new();
    for (job, start) in [("10", BEGIN_S), ("11", BEGIN_S + NEXT_S)] {
        let end = start + RUN_S;
        writeln!(jobs, r#"{{"job_id":"{job}","user":"a","name":"x","app":"flow","nodes":["nid00000","nid00001","nid00002","nid00003"],"start":{start},"end":{end}}}"#).unwrap();
    }
    std::fs::write(folder.join("jobs.jsonl"), jobs).unwrap();
    tailback(folder, &[&["replay"], inputs, &["--jobs", "jobs.jsonl", "--out", "out"]].concat());
    assert_eq!(std::fs::read_to_string(folder.join("out/dropped.json")).unwrap().trim(), "{}");
    ["10", "11"].map(|job| report(folder, job))
}

#[test]
fn job_measures_its_loss_and_the_next_run_learns_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, lost_s) = played();
    std::fs::write(folder.path().join("rows.jsonl"), rows).unwrap();
    let [first, next] = reports(folder.path(), &["rows.jsonl"]);

    let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or_else(|| panic!("no {key} in {of}"));
    let progress = &first["result"]["progress"][0];
    let (measured, cost) = (&progress["loss"]["measured"]["lost_s"], &progress["loss"]["measured"]["cost"]);
    let inferred_s = number(progress, "counters_s");
    println!(
        "lost {lost_s:.1} s; measured {measured}; counters {inferred_s:.1} s; next run {}",
        next["factors"]["other_s"]
    );
    assert!(number(measured, "lo") <= lost_s && lost_s <= number(measured, "hi"), "{lost_s}: {progress}");
    let [lo_s, hi_s] = ["slowdown_lo_s", "slowdown_hi_s"].map(|key| number(&first["result"], key));
    assert!(lo_s <= lost_s && lost_s <= hi_s && hi_s < lost_s + 5.0, "{lost_s}: {}", first["result"]);
    assert!((number(measured, "value") / lost_s - 1.0).abs() < 0.05, "{lost_s}: {progress}");
    assert!((number(progress, "per_s") / (1_000.0 * STEPS_PER_S) - 1.0).abs() < 0.02, "{progress}");
    // Counters see the writing alone, which is a part of a step.
    assert!(inferred_s > 1.3 * lost_s && number(cost, "hi") < 0.9, "{inferred_s} of {lost_s}: {cost}");

    let factors = &next["factors"];
    assert_eq!((&factors["beta_runs"], &factors["caveat"]), (&1.into(), &"".into()), "{factors}");
    let calibrated = number(&factors["other_s"], "value");
    assert!((calibrated / lost_s - 1.0).abs() < 0.1, "{calibrated} of {lost_s}");
    assert!(next["result"].get("progress").is_none(), "{next}");
    let text = tailback(folder.path(), &["report", "10", "--store", "out/tailback.db"]);
    assert!(text.contains("Job 10 lost 80 s [79, 8") && text.contains("s by counters"), "{text}");
}
