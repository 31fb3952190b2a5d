//! Jobs whose end event was not received.

use super::*;
use crate::settings::JOBS_KEPT_S;

const HOUR_S: f64 = 3_600.0;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(seconds: f64) -> Option<Time> {
    Some(Time::from_seconds(seconds))
}

fn job(id: &str, nodes: &[&str], start_s: f64, end_s: Option<f64>) -> Job {
    Job {
        job_id: name(id),
        label: String::new(),
        user: String::new(),
        name: String::new(),
        nodes: nodes.iter().map(|node| name(node)).collect(),
        start: Time::from_seconds(start_s),
        end: end_s.map(Time::from_seconds),
        end_presumed: false,
        app: None,
    }
}

fn ledger(shared_nodes: bool) -> JobLedger {
    JobLedger::new(JobSettings { open_max_s: HOUR_S, shared_nodes })
}

/// The jobs that are reported at `now`, with their ends, `~` before a presumed one.
fn listed(ledger: &mut JobLedger, now_s: f64) -> Vec<String> {
    let shown = |job: &Job| {
        let end = job.end.map_or("…".into(), |end| end.seconds().to_string());
        format!("{} {}{end}", job.job_id, if job.end_presumed { "~" } else { "" })
    };
    ledger.take_changed(at(now_s)).iter().map(shown).collect()
}

fn on_node(ledger: &JobLedger, node: &str, now_s: f64) -> Vec<String> {
    let node = name(node);
    let jobs = ledger.on_node_at(&node, Time::from_seconds(now_s));
    jobs.map(|job| job.job_id.to_string()).collect()
}

#[test]
fn a_job_whose_end_never_comes_is_over_after_its_time() {
    let mut ledger = ledger(true);
    ledger.put(job("1", &["a"], 100.0, None));
    assert_eq!(listed(&mut ledger, 200.0), ["1 …"]);
    assert_eq!(listed(&mut ledger, 3_699.0), [""; 0]);
    assert_eq!(listed(&mut ledger, 3_700.0), ["1 ~3700"], "reported once, when the time has come");
    assert_eq!(listed(&mut ledger, 9_000.0), [""; 0]);
    assert_eq!(on_node(&ledger, "a", 3_000.0), ["1"]);
    assert_eq!(on_node(&ledger, "a", 4_000.0), [""; 0], "its losses end");
    ledger.put(job("1", &["a"], 100.0, Some(5_000.0)));
    assert_eq!(listed(&mut ledger, 9_000.0), ["1 5000"], "an end that comes after all counts");
}

#[test]
fn on_nodes_that_are_not_shared_the_next_job_ends_the_one_before() {
    for backwards in [false, true] {
        let mut ledger = ledger(false);
        let mut jobs = [job("1", &["a", "b"], 100.0, None), job("2", &["b", "c"], 400.0, None)];
        if backwards {
            jobs.reverse();
        }
        jobs.into_iter().for_each(|job| drop(ledger.put(job)));
        assert_eq!(listed(&mut ledger, 500.0), ["1 ~400", "2 …"], "backwards: {backwards}");
        assert_eq!(on_node(&ledger, "a", 450.0), [""; 0]);
        ledger.put(job("1", &["a", "b"], 100.0, Some(390.0)));
        assert_eq!(listed(&mut ledger, 500.0), ["1 390"]);
        // The job that pushed the other out turns out to have been elsewhere.
        ledger.put(job("1", &["a", "b"], 100.0, None));
        let nodes = ledger.put(job("2", &["c"], 400.0, None));
        assert_eq!(nodes.iter().map(Name::as_str).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(listed(&mut ledger, 500.0), ["1 …", "2 …"]);
    }
}

#[test]
fn on_shared_nodes_jobs_run_side_by_side() {
    let mut ledger = ledger(true);
    ledger.put(job("1", &["a"], 100.0, None));
    ledger.put(job("2", &["a"], 400.0, None));
    assert_eq!(on_node(&ledger, "a", 500.0), ["1", "2"]);
}

#[test]
fn nodes_that_a_job_does_not_have_any_more_are_free_of_it() {
    let mut ledger = ledger(true);
    ledger.put(job("1", &["a", "b"], 100.0, Some(200.0)));
    ledger.put(job("1", &["b"], 100.0, Some(200.0)));
    assert_eq!(on_node(&ledger, "a", 150.0), [""; 0]);
    assert_eq!(on_node(&ledger, "b", 150.0), ["1"]);
}

#[test]
fn jobs_over_for_a_day_are_forgotten_though_no_rows_come() {
    let mut ledger = ledger(true);
    ledger.put(job("1", &["a"], 100.0, Some(200.0)));
    ledger.put(job("2", &["a"], 100.0, None));
    let day = |seconds: f64| Time::from_seconds(JOBS_KEPT_S + seconds);
    ledger.forget(day(300.0), JOBS_KEPT_S);
    assert!(ledger.get(&name("1")).is_some(), "its updates were not taken yet");
    assert_eq!(listed(&mut ledger, 300.0), ["1 200", "2 …"]);
    ledger.forget(day(300.0), JOBS_KEPT_S);
    assert!(ledger.get(&name("1")).is_none() && ledger.get(&name("2")).is_some());
    ledger.forget(day(3_800.0), JOBS_KEPT_S);
    assert_eq!(listed(&mut ledger, 300.0), ["2 ~3700"], "a presumed end is reported before it is forgotten");
    assert!(ledger.jobs.is_empty() && ledger.by_node.is_empty() && ledger.presumed.is_empty());
}

#[test]
fn a_job_that_passes_is_reported_once_and_takes_no_room() {
    let mut ledger = ledger(true);
    ledger.pass(job("1", &["a"], 100.0, Some(200.0)));
    assert_eq!(listed(&mut ledger, 300.0), ["1 200"]);
    assert_eq!(listed(&mut ledger, 300.0), [""; 0]);
    assert!(ledger.jobs.is_empty() && ledger.by_node.is_empty());
}
