//! Tests of the whole cluster.

use super::*;
use crate::faults::Faults;
use crate::jobs::{Behaviour, Checkpoint, JobSpec};
use crate::scenario::{background, cth_against_imb, demo, ior};
use serde_json::Value;
use std::collections::BTreeMap;

const START: Time = Time(1_795_217_400_000_000);

type Row = (Schema, Value);

fn play(scenario: Scenario, seed: u64) -> (Vec<Row>, Truth) {
    let mut cluster = Cluster::new(scenario, START, seed).unwrap();
    let mut out = Rows::default();
    let mut rows = Vec::new();
    while cluster.tick(&mut out) {
        let lines = out.lines();
        rows.extend(lines.map(|(schema, line)| (schema, serde_json::from_slice(line).unwrap())));
    }
    (rows, cluster.truth())
}

fn text(scenario: Scenario, seed: u64) -> Vec<u8> {
    let mut cluster = Cluster::new(scenario, START, seed).unwrap();
    let mut out = Rows::default();
    let mut all = Vec::new();
    while cluster.tick(&mut out) {
        out.lines().for_each(|(_, line)| all.extend_from_slice(line));
    }
    all
}

fn of<'a>(rows: &'a [Row], schema: Schema, producer: &str) -> Vec<&'a Value> {
    let wanted = |row: &&Row| row.0 == schema && row.1["producer"] == producer;
    rows.iter().filter(wanted).map(|row| &row.1).collect()
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap()
}

/// Rates in bytes a second between the rows of one client.
fn rates(rows: &[&Value]) -> Vec<f64> {
    let pairs = rows.windows(2).map(|w| {
        let bytes = number(w[1], "write_bytes.sum") - number(w[0], "write_bytes.sum");
        bytes as f64 / (w[1]["timestamp"].as_f64().unwrap() - w[0]["timestamp"].as_f64().unwrap())
    });
    pairs.collect()
}

fn small() -> Scenario {
    let mut scenario = demo();
    scenario.duration_s = Some(75);
    scenario.reporting.routers = crate::scenario::Chosen::Only(vec![16]);
    scenario
}

#[test]
fn the_rows_of_a_client_give_the_rates_of_the_table() {
    let (rows, _) = play(ior(25, 0.02).unwrap(), 1);
    let rates = rates(&of(&rows, Schema::LustreClient, "nid00012"));
    let mean = |range: std::ops::Range<usize>| rates[range.clone()].iter().sum::<f64>() / range.len() as f64;
    assert!((mean(0..120) / 1e9 - 1.0).abs() < 0.01, "{}", mean(0..120));
    assert!((mean(122..390) / (64e9 / 277.0) - 1.0).abs() < 0.01);
    assert!((mean(402..460) / 1e9 - 1.0).abs() < 0.01);
    let spread = rates[..120].iter().map(|r| (r / 1e9 - 1.0).powi(2)).sum::<f64>() / 120.0;
    assert!((0.015..0.025).contains(&spread.sqrt()), "{spread}");
}

#[test]
fn truth_of_an_ior_case_names_the_jobs_that_shared() {
    let (_, truth) = play(ior(40, 0.02).unwrap(), 1);
    let first = &truth.jobs[0];
    assert!((first.slowdown_s / 363.5 - 1.0).abs() < 0.02, "{first:?}");
    assert_eq!(first.contended.len(), 1);
    assert!((first.contended[0].start - (START.seconds() + 120.0)).abs() < 1e-5);
    let mut takers: Vec<&str> = first.by.iter().map(|t| t.job_id.as_str()).collect();
    takers.sort_unstable();
    assert_eq!(takers, ["1002", "1003", "1004"]);
    assert!((first.by.iter().map(|t| t.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let series = truth.of_series("lustre_write_rate/nid00012/snx11137").unwrap();
    assert_eq!(series.slowdown_s, first.slowdown_s);
}

#[test]
fn job_rows_contain_start_and_end_of_every_node() {
    let (rows, _) = play(ior(19, 0.02).unwrap(), 1);
    let jobs: Vec<&Value> = rows.iter().filter(|r| r.0 == Schema::SlurmJobs).map(|r| &r.1).collect();
    let count = |test: &dyn Fn(&Value) -> bool| jobs.iter().filter(|row| test(row)).count();
    assert_eq!(count(&|row| number(row, "job_end") > 0), 4);
    assert_eq!(count(&|row| number(row, "job_end") == 0 && row["job_name"] != ""), 4);
    assert!(count(&|row| row["job_name"] == "") >= 1);
    assert!(count(&|row| number(row, "job_id") == 1002 && number(row, "node_count") == 3) >= 6);
    let of_first = of(&rows, Schema::LustreClient, "nid00012");
    assert_eq!(number(of_first[5], "job_id"), 1001);
    assert_eq!(number(of_first.last().unwrap(), "job_id"), 0);
}

#[test]
fn both_copies_of_a_tile_agree_and_no_counter_falls() {
    let (rows, _) = play(small(), 1);
    let [left, right] = ["nid00064", "nid00066"].map(|node| of(&rows, Schema::AriesRtr, node));
    assert_eq!((left.len(), right.len()), (76, 76));
    for at in 1..75 {
        let (a, b) = (left[at], right[at]);
        let apart = (a["timestamp"].as_f64().unwrap() - b["timestamp"].as_f64().unwrap()).abs();
        assert!(apart < 0.0036);
        for key in a.as_object().unwrap().keys().filter(|k| k.starts_with("AR_RTR")) {
            // The few milliseconds between the copies belong to the second before or to the one after.
            let [before, here, after] = [left[at - 1], a, left[at + 1]].map(|row| number(row, key));
            let per_s = (here - before).max(after - here) as f64;
            let differ = here.abs_diff(number(b, key)) as f64;
            assert!(differ <= 2.0 * per_s * apart + 2.0, "{key}: {differ} of {per_s}/s");
        }
    }
    for producer in ["nid00064", "nid00065", "nid00066", "nid00067"] {
        for pair in of(&rows, Schema::AriesRtr, producer).windows(2) {
            let counters = pair[0].as_object().unwrap();
            let falls = |(key, value): &(&String, &Value)| {
                key.starts_with("AR_RTR") && value.as_u64().unwrap() > number(pair[1], key)
            };
            assert!(!counters.iter().any(|entry| falls(&entry)));
        }
    }
}

#[test]
fn a_seed_fixes_every_byte() {
    assert_eq!(text(small(), 7), text(small(), 7));
    assert_ne!(text(small(), 7), text(small(), 8));
}

#[test]
fn background_has_no_truth() {
    let (rows, truth) = play(background(30), 3);
    assert_eq!(truth, Truth::default());
    assert!(rows.iter().all(|row| row.0 != Schema::SlurmJobs));
}

#[test]
fn cth_and_imb_contend_from_58_s_on_the_routers_they_share() {
    let (_, truth) = play(cth_against_imb(), 1);
    let (cth, imb) = (&truth.jobs[0], &truth.jobs[1]);
    eprintln!("CTH {:?} {:?}, IMB {:?} {:?}", cth.slowdown_s, cth.contended, imb.slowdown_s, imb.contended);
    assert!((cth.contended[0].start - (START.seconds() + 58.0)).abs() < 1e-3);
    assert_eq!(cth.by[0].job_id, imb.job_id);
    assert!(cth.slowdown_s > 3.0 && cth.slowdown_s < 60.0);
    assert_eq!(truth.series.len(), 20, "every link that both use");
    for series in &truth.series {
        eprintln!("{} {:.1} s in {:.1} s", series.series, series.slowdown_s, series.contended_s);
        assert!(series.slowdown_s > 2.0);
        assert_eq!(series.contended.len(), 1);
        assert!((series.contended[0].start - (START.seconds() + 58.0)).abs() < 1e-3);
        let slot: u32 = series.series.split(['s', '/']).rev().nth(1).unwrap().parse().unwrap();
        assert!(slot >= 8, "{} carries CTH alone", series.series);
    }
}

#[test]
fn an_endless_scenario_repeats_with_new_numbers() {
    let mut cluster = Cluster::new(small().endless(), START, 1).unwrap();
    let mut out = Rows::default();
    for _ in 0..400 {
        assert!(cluster.tick(&mut out));
    }
    let ids: Vec<String> = cluster.truth().jobs.into_iter().map(|job| job.job_id).collect();
    assert!(ids.len() <= 8 && !ids.contains(&"1001".to_string()), "{ids:?}");
}

#[test]
fn faults_change_the_rows_and_not_the_physics() {
    let clean = play(small(), 1);
    let mut scenario = small();
    scenario.faults = Faults {
        drop_probability: 0.05,
        duplicate_probability: 0.05,
        delay_probability: 0.1,
        delay_s: 0.5..3.0,
        reorder: true,
        reset_at: Some((12, 40)),
        silence: Some((13, 20, 30)),
        skew_ms: BTreeMap::from([(14, 250.0)]),
    };
    let faulty = play(scenario, 1);
    assert_eq!(clean.1, faulty.1);
    let ratio = faulty.0.len() as f64 / clean.0.len() as f64;
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
    let second = |row: &Value| row["timestamp"].as_f64().unwrap() as i64 - 1_795_217_400;
    let silent = of(&faulty.0, Schema::LustreClient, "nid00013");
    assert!(!silent.iter().any(|row| (20..30).contains(&second(row))));
    let skewed = of(&faulty.0, Schema::LustreClient, "nid00014");
    assert!(skewed.iter().all(|row| row["timestamp"].as_f64().unwrap().fract() > 0.25));
    let reset = of(&faulty.0, Schema::LustreClient, "nid00012");
    let after = reset.iter().filter(|row| second(row) >= 40);
    assert!(after.clone().count() > 20);
    for row in after {
        assert!(number(row, "write_bytes.sum") < 40_000_000_000);
    }
    let late = of(&faulty.0, Schema::LustreClient, "nid00020");
    assert!(late.windows(2).any(|w| second(w[0]) > second(w[1])));
}

#[test]
fn delayed_rows_still_arrive_after_the_end() {
    let mut scenario = small();
    scenario.duration_s = Some(3);
    let count = play(scenario.clone(), 1).0.len();
    scenario.faults.delay_probability = 1.0;
    scenario.faults.delay_s = 5.0..6.0;
    assert_eq!(play(scenario, 1).0.len(), count);
}

#[test]
fn speed_of_the_demo() {
    let mut cluster = Cluster::new(demo(), START, 1).unwrap();
    let mut out = Rows::default();
    let begin = std::time::Instant::now();
    let (mut seconds, mut bytes) = (0, 0);
    while cluster.tick(&mut out) {
        seconds += 1;
        bytes += Schema::ALL.map(|schema| out.bytes(schema).len()).iter().sum::<usize>();
    }
    let speed = f64::from(seconds) / begin.elapsed().as_secs_f64();
    eprintln!("demo: {speed:.0} simulated seconds a second, {} MB", bytes / 1_000_000);
}

#[test]
fn an_onset_inside_a_second_gives_a_partial_tick() {
    let mut scenario = ior(25, 0.0).unwrap();
    scenario.jobs[1].start_s = 120.4;
    let (rows, truth) = play(scenario, 1);
    let rates = rates(&of(&rows, Schema::LustreClient, "nid00012"));
    let expected = 0.4 * 1e9 + 0.6 * 64e9 / 277.0;
    assert!((rates[120] / expected - 1.0).abs() < 0.02, "{}", rates[120]);
    assert!((truth.jobs[0].contended[0].start - (START.seconds() + 120.4)).abs() < 1e-5);
}

#[test]
fn checkpoints_slow_each_other_only_while_they_overlap() {
    let mut scenario = Scenario::empty("checkpoints", 1);
    scenario.reporting.routers = crate::scenario::Chosen::Only(vec![]);
    let checkpoint = Checkpoint { bytes_per_s: 0.9e9, on_s: 20.0..60.0, off_s: 60.0..180.0, run_s: 900.0 };
    scenario.jobs = [vec![4, 5, 6], vec![8, 9, 10]]
        .map(|nodes| JobSpec {
            name: "writer".into(),
            user: "gus".into(),
            nodes,
            start_s: 0.0,
            behaviour: Behaviour::CheckpointWriter(checkpoint.clone()),
        })
        .into();
    let (rows, truth) = play(scenario, 2);
    let rates = rates(&of(&rows, Schema::LustreClient, "nid00004"));
    assert!(rates.iter().filter(|r| **r == 0.0).count() > 300);
    assert!(rates.iter().all(|r| *r < 0.9e9 * 1.1));
    let [a, b] = [&truth.jobs[0], &truth.jobs[1]];
    assert_eq!(a.contended, b.contended);
    assert!(a.contended_s > 0.0 && a.contended_s < 400.0, "{}", a.contended_s);
    assert!(a.end.is_some_and(|end| (end - START.seconds() - 900.0).abs() < 1e-3));
}
