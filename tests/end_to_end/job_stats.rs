//! `lustre_ost_job_stats` of LDMS: a job whose nodes have no sampler is named as the one that slows another.
//!
//! The truth is a server of 4 GB/s that serves each writing client alike, and no part of the program.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const BEGIN_S: u64 = 1_795_000_000;
const SECONDS: u64 = 600;
/// GB/s that the server can take, and that each client wants.
const CAPACITY: f64 = 4.0;
const WANTED: f64 = 0.9;
/// Seconds in which the other job writes.
const CONTENDED: std::ops::Range<u64> = 250..450;

/// A job: its number in rows of servers, its clients, whether these have samplers.
struct Writer {
    job: &'static str,
    clients: usize,
    has_samplers: bool,
}

/// A tenth of noise that depends on nothing but what it is of.
fn noise(second: u64, of: usize) -> f64 {
    let mixed = (second * 7_919 + of as u64 * 104_729 + 12_345).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    0.9 + 0.2 * mixed as f64 / (1_u64 << 24) as f64
}

/// Rows of clients and of two OSTs for 600 s, and the seconds that the first job lost.
fn played(writers: &[Writer], server_rows: bool) -> (String, f64) {
    let (mut rows, mut lost_s) = (String::new(), 0.0);
    let all: usize = writers.iter().map(|writer| writer.clients).sum();
    let mut written = vec![0.0; all];
    for second in 0..SECONDS {
        let writing = |at: usize| at == 0 || CONTENDED.contains(&second);
        let active: usize =
            writers.iter().enumerate().filter(|(at, _)| writing(*at)).map(|(_, writer)| writer.clients).sum();
        let share = (CAPACITY / active as f64).min(WANTED);
        lost_s += 1.0 - share / WANTED;
        let mut client = 0;
        for (at, writer) in writers.iter().enumerate() {
            let own = client..client + writer.clients;
            client = own.end;
            let time = BEGIN_S + second;
            if writer.has_samplers {
                for node in own.clone() {
                    let bytes = written[node] as u64;
                    writeln!(rows, r#"{{"timestamp":{time}.002,"producer":"nid{node:05}","fs_name":"work","llite":"work-ffff880000000000","write_bytes.sum":{bytes}}}"#).unwrap();
                }
            }
            let bytes = own.clone().map(|node| written[node]).sum::<f64>() as u64 / 2;
            if server_rows && bytes > 0 {
                for ost in ["OST0000", "OST0001"] {
                    let job = writer.job;
                    writeln!(rows, r#"{{"timestamp":{time}.010,"fs_name":"work","ost":"work-{ost}","job_id":"{job}","snapshot_time":{time},"read_bytes_sum":0,"write_bytes_sum":{bytes},"getattr":0}}"#).unwrap();
                }
            }
            if writing(at) {
                own.for_each(|node| written[node] += share * noise(second, node) * 1e9);
            }
        }
    }
    (rows, lost_s)
}

/// What `tailback replay` finds of job 10, whose four clients have samplers.
fn found(folder: &Path, rows: &str) -> serde_json::Value {
    let job = format!(
        r#"{{"job_id":"10","user":"a","name":"x","nodes":["nid00000","nid00001","nid00002","nid00003"],"start":{BEGIN_S},"end":{}}}"#,
        BEGIN_S + SECONDS
    );
    std::fs::write(folder.join("rows.jsonl"), rows).unwrap();
    std::fs::write(folder.join("jobs.jsonl"), job).unwrap();
    let replay = ["replay", "rows.jsonl", "--jobs", "jobs.jsonl", "--no-store", "--force", "--out", "out"];
    let done = Command::new(crate::TAILBACK).args(replay).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let dropped = std::fs::read_to_string(folder.join("out/dropped.json")).unwrap();
    assert_eq!(dropped.trim(), "{}");
    let jobs = std::fs::read_to_string(folder.join("out/jobs.jsonl")).unwrap();
    let jobs: Vec<serde_json::Value> = jobs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(jobs.len(), 1, "a job of a server's row is none of the server's node: {jobs:?}");
    jobs[0].clone()
}

#[test]
fn job_without_samplers_is_named_by_what_servers_count() {
    let folder = tempfile::tempdir().unwrap();
    let writers = [
        Writer { job: "10", clients: 4, has_samplers: true },
        Writer { job: "77", clients: 6, has_samplers: false },
    ];
    let (rows, lost_s) = played(&writers, true);
    let job = found(folder.path(), &rows);
    let number = |key: &str| job[key].as_f64().unwrap();
    assert!(number("slowdown_lo_s") <= lost_s && lost_s <= number("slowdown_hi_s"), "lost {lost_s}: {job}");
    assert!((number("slowdown_s") / lost_s - 1.0).abs() < 0.05, "lost {lost_s}: {job}");
    let cause = &job["causes"][0];
    assert_eq!((&cause["cause"], &cause["series_or_job"]), (&"other_job".into(), &"77".into()), "{job}");
    assert!(cause["share"].as_f64().unwrap() > 0.9, "{job}");

    let (rows, _) = played(&writers, false);
    let causes = found(folder.path(), &rows)["causes"].to_string();
    assert!(!causes.contains("77"), "without rows of servers: {causes}");
}

#[test]
fn job_with_samplers_is_blamed_once() {
    let folder = tempfile::tempdir().unwrap();
    let writers = [
        Writer { job: "10", clients: 4, has_samplers: true },
        Writer { job: "77", clients: 6, has_samplers: true },
    ];
    let [with, without] = [true, false].map(|server_rows| {
        let job = found(folder.path(), &played(&writers, server_rows).0);
        [&job["causes"], &job["slowdown_s"], &job["slowdown_hi_s"]].map(ToString::to_string)
    });
    assert_eq!(with, without);
}
