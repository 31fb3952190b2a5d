//! Clocks that are wrong: they harm no other series and no other job, are counted and named, and are forgiven within
//! seconds once they are right again.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{CounterBatch, DropReason, Job, JobResult, Metric, Name, Source, SourceIndex, Sources, Time};

const SECONDS: u32 = 400;
const DAY_S: f64 = 86_400.0;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(second: f64) -> Time {
    Time::from_seconds(1_500_000_000.0 + second)
}

/// A client's rate falls to a half in the middle of the run.
fn rate(second: u32) -> u64 {
    if (150..250).contains(&second) { 400_000_000 } else { 800_000_000 }
}

/// A job on each of `nodes` clients, without an end, after rows whose clocks are `ahead(node, second)` seconds ahead. The
/// first `apart` ones write to another file system.
fn run(nodes: u32, apart: u32, ahead: impl Fn(u32, u32) -> f64) -> Detector {
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    let mut sources = Sources::default();
    for number in 0..nodes {
        let node = name(&format!("c{number:03}"));
        detector.job(Job {
            job_id: name(&format!("{}", 100 + number)),
            label: String::new(),
            user: String::new(),
            name: String::new(),
            nodes: vec![node.clone()],
            start: at(0.0),
            end: None,
            end_presumed: false,
            app: None,
        });
        // Nodes of wrong clocks have a file system of their own: they are no witnesses of the others.
        let part = if number < apart { "scratch" } else { "work" };
        let (metric, parts) = (Metric::from_name("lustre_write_rate").unwrap(), vec![name(part)]);
        let (schema, producer, component) = (name("lustre_client"), node.clone(), node);
        sources.intern(Source {
            schema,
            producer,
            metrics: vec![metric],
            component,
            set: None,
            parts,
            rank: 0,
            by_job: false,
        });
    }
    let mut written = 0;
    for second in 0..SECONDS {
        let mut batch = CounterBatch::default();
        for node in 0..nodes {
            batch.push(SourceIndex(node), at(f64::from(second) + ahead(node, second)), &[written]);
        }
        written += rate(second);
        detector.rows(&sources, &batch);
        detector.take();
    }
    detector.finish();
    detector.take();
    detector
}

/// Results of the jobs whose nodes' numbers are at least `from`.
fn results(detector: &Detector, from: usize) -> Vec<JobResult> {
    detector.job_results().into_iter().skip(from).collect()
}

fn assert_as_undisturbed(found: &[JobResult], undisturbed: &[JobResult], case: &str) {
    assert_eq!(found.len(), undisturbed.len());
    for (found, right) in found.iter().zip(undisturbed) {
        let lost = (found.slowdown_s - right.slowdown_s).abs() < 0.01;
        assert!(lost, "{case}: {} s instead of {}", found.slowdown_s, right.slowdown_s);
        let complete = (found.completeness - right.completeness).abs() < 0.01;
        assert!(complete, "{case}: {} instead of {}", found.completeness, right.completeness);
    }
}

#[test]
fn clocks_ahead_or_behind_harm_no_other_job() {
    let mine = |wrong: u32, step_s: f64| {
        move |node: u32, second: u32| {
            if node < wrong && (100..300).contains(&second) { step_s } else { 0.0 }
        }
    };
    for (nodes, wrong) in [(2, 1), (4, 1), (20, 2)] {
        let undisturbed = run(nodes, wrong, |_, _| 0.0);
        let right = results(&undisturbed, wrong as usize);
        assert!(right.iter().all(|job| job.slowdown_s > 40.0 && job.completeness > 0.98), "{right:?}");
        for step_s in [-30.0 * DAY_S, -600.0, 7.0, 45.0, 3_600.0, 30.0 * DAY_S] {
            let found = run(nodes, wrong, mine(wrong, step_s));
            let case = format!("{wrong} of {nodes} {step_s} s ahead");
            assert_as_undisturbed(&results(&found, wrong as usize), &right, &case);
            assert_eq!(found.drops().get(DropReason::ClockAhead) > 0, step_s > 60.0, "{case}");
            let named: Vec<&str> = found.wrong_clocks().map(|(producer, _)| producer.as_str()).collect();
            assert_eq!(named.contains(&"c000"), step_s > 60.0, "{case}: {named:?}");
            assert!(named.len() <= wrong as usize, "{case}: {named:?}");
        }
    }
}

#[test]
fn a_clock_that_jumps_back_and_forth_harms_no_other_job() {
    let right = results(&run(3, 1, |_, _| 0.0), 1);
    let found = run(3, 1, |node, second| if node == 0 && (second / 20) % 2 == 1 { 7_200.0 } else { 0.0 });
    assert_as_undisturbed(&results(&found, 1), &right, "back and forth");
}

#[test]
fn a_clock_that_is_right_again_is_forgiven_within_seconds() {
    for nodes in [1, 2, 5] {
        let right = results(&run(nodes, 0, |_, _| 0.0), 0);
        // One client alone cannot be compared with others: for days ahead its job counts as over.
        for step_s in [25.0, 600.0, 30.0 * DAY_S].into_iter().take(if nodes == 1 { 2 } else { 3 }) {
            let found = run(nodes, 0, |node, second| if node == 0 && second < 30 { step_s } else { 0.0 });
            let case = format!("{step_s} s, {nodes} nodes");
            let (own, right) = (&results(&found, 0)[0], &right[0]);
            assert!((own.slowdown_s - right.slowdown_s).abs() < 2.0, "{case}: {own:?}");
            // The seconds in which it was ahead are missing, and the few until it is believed.
            assert!(own.completeness > 1.0 - 36.0 / f64::from(SECONDS), "{case}: {}", own.completeness);
        }
    }
}
