//! What may be reported of a job: seconds that had a quiet baseline are judged, the others widen the interval.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{
    Cause, CounterBatch, Job, JobResult, Metric, Name, ResultBatch, Source, SourceIndex, Sources, Time,
};

const GB: f64 = 1e9;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(second: f64) -> Time {
    Time::from_seconds(1e9 + second)
}

fn job(id: &str, node: &str, start: f64, end: Option<f64>) -> Job {
    Job {
        job_id: name(id),
        label: String::new(),
        user: "alice".to_string(),
        name: "ior".to_string(),
        nodes: vec![name(node)],
        start: at(start),
        end: end.map(at),
        end_presumed: false,
        app: None,
    }
}

/// A rate in GB/s at a second; `None` where the client sends no row.
type Rate<'a> = &'a dyn Fn(f64) -> Option<f64>;

/// Clients `nid0`, `nid1`, … of one file system, a row a second at `phase` after it, and jobs that are known from the start.
/// Readings vary by 2%. Nothing is read: what the clients do not do makes no job more judged.
fn played(seconds: u32, phase: f64, jobs: &[Job], rates: &[Rate<'_>]) -> ResultBatch {
    let mut sources = Sources::default();
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    jobs.iter().for_each(|job| detector.job(job.clone()));
    let mut source = |n: usize| -> SourceIndex {
        let node = name(&format!("nid{n}"));
        let metrics = ["lustre_read_rate", "lustre_write_rate"].map(|name| Metric::from_name(name).unwrap());
        let (schema, metrics, parts) = (name("test"), metrics.to_vec(), vec![name("snx")]);
        sources.intern(Source {
            schema,
            producer: node.clone(),
            metrics,
            component: node,
            set: None,
            parts,
            rank: 0,
            by_job: false,
        })
    };
    let clients: Vec<SourceIndex> = (0..rates.len()).map(&mut source).collect();
    let mut written = vec![0.0; rates.len()];
    for second in 0..seconds {
        let mut batch = CounterBatch::default();
        for (client, source) in clients.iter().enumerate() {
            // The rate is that of the second that ends with the row.
            let time = f64::from(second) + phase;
            let noise = 1.0 + 0.02 * f64::from((second * 7919 + client as u32 * 104_729) % 21) / 10.0 - 0.02;
            if let Some(rate) = rates[client](time - 0.5) {
                written[client] += rate * noise * GB;
                batch.push(*source, at(time), &[0, written[client] as u64]);
            }
        }
        detector.rows(&sources, &batch);
    }
    detector.finish();
    detector.take()
}

fn result<'a>(batch: &'a ResultBatch, id: &str) -> &'a JobResult {
    batch.job_results.iter().find(|result| result.job_id.as_str() == id).unwrap()
}

/// `before` until `since`, then `after` until `until`, then `before` again.
fn step(before: f64, after: f64, since: f64, until: f64) -> impl Fn(f64) -> Option<f64> {
    move |t| Some(if (since..until).contains(&t) { after } else { before })
}

#[test]
fn a_job_in_contention_since_its_start_is_not_judged() {
    let jobs = [job("1", "nid0", 0.0, Some(700.0)), job("2", "nid1", 200.0, Some(700.0))];
    let (victim, aggressor) = (step(1.0, 0.6, 201.0, 900.0), step(0.0, 1.4, 201.0, 900.0));
    let batch = played(720, 0.002, &jobs, &[&victim, &aggressor]);
    let second = result(&batch, "2");
    assert!(second.judged < 0.05 && second.completeness > 0.99, "{second:?}");
    assert!(second.slowdown_lo_s == 0.0 && second.slowdown_hi_s > 490.0, "{second:?}");
    assert!(second.not_judged(500.0).unwrap().contains("in contention since it started"));
    let first = result(&batch, "1");
    assert!(first.judged > 0.99 && (first.slowdown_s - 200.0).abs() < 6.0, "{first:?}");
    assert_eq!(first.causes[0].series_or_job, "2");
}

#[test]
fn a_quiet_job_is_judged_from_its_start_and_lost_nothing() {
    let jobs = [job("1", "nid0", 100.0, Some(300.0))];
    let batch = played(320, 0.002, &jobs, &[&|t| Some(if t > 101.0 { 1.0 } else { 0.0 }), &|_| Some(0.5)]);
    let found = result(&batch, "1");
    assert!(found.judged > 0.99 && found.not_judged(200.0).is_none(), "{found:?}");
    assert!(found.slowdown_s == 0.0 && found.slowdown_hi_s < 2.0, "{found:?}");
}

#[test]
fn a_quiet_spell_after_contention_makes_the_rest_judged() {
    let jobs = [job("1", "nid0", 0.0, Some(600.0)), job("2", "nid1", 100.0, Some(600.0))];
    let (victim, other) = (step(1.0, 0.5, 101.0, 300.0), |t: f64| {
        Some(if t < 101.0 {
            0.0
        } else if t < 300.0 {
            0.9
        } else {
            1.2
        })
    });
    let batch = played(620, 0.002, &jobs, &[&victim, &other]);
    let found = result(&batch, "2");
    assert!((0.5..0.65).contains(&found.judged), "{found:?}");
    assert!((190.0..240.0).contains(&found.slowdown_hi_s), "{found:?}");
}

#[test]
fn an_aggressor_is_found_however_soon_after_its_start_it_writes() {
    for tenth in 0..20 {
        let (start, phase) = (200.0, f64::from(tenth) / 20.0);
        let begins = start + 0.4 + f64::from(tenth % 7);
        let jobs = [job("1", "nid0", 0.0, Some(500.0)), job("2", "nid1", start, Some(500.0))];
        let (victim, aggressor) = (step(1.0, 0.6, begins, 900.0), step(0.0, 1.3, begins, 900.0));
        let batch = played(520, phase, &jobs, &[&victim, &aggressor]);
        let first = result(&batch, "1");
        let lost_s = 0.4 * (500.0 - begins);
        assert!((first.slowdown_s - lost_s).abs() < 0.05 * lost_s, "{begins} {phase}: {first:?}");
        assert!(
            first.causes[0].cause == Cause::OtherJob && first.causes[0].series_or_job == "2",
            "{first:?}"
        );
    }
}

#[test]
fn a_client_that_was_silent_is_no_witness() {
    let jobs = [job("1", "nid0", 0.0, Some(300.0)), job("2", "nid1", 0.0, Some(300.0))];
    let victim = step(1.0, 0.5, 150.0, 250.0);
    let silent = |t: f64| (t < 40.0).then_some(1.0);
    let alone = played(320, 0.002, &jobs[..1], &[&victim]);
    let beside = played(320, 0.002, &jobs, &[&victim, &silent]);
    assert!((result(&alone, "1").slowdown_s - 50.0).abs() < 2.0, "{:?}", result(&alone, "1"));
    assert_eq!(result(&alone, "1").slowdown_s, result(&beside, "1").slowdown_s);
    let second = result(&beside, "2");
    assert!(second.judged < 0.2 && second.slowdown_hi_s > 240.0, "{second:?}");
}

#[test]
fn a_client_that_was_seen_and_took_nothing_is_a_witness() {
    let jobs = [job("1", "nid0", 0.0, Some(300.0))];
    let batch = played(320, 0.002, &jobs, &[&step(1.0, 0.5, 150.0, 250.0), &|_| Some(1.0)]);
    assert_eq!(result(&batch, "1").slowdown_s, 0.0);
}

#[test]
fn a_job_that_was_not_seen_may_have_lost_all() {
    let jobs = [job("1", "nid0", 0.0, Some(300.0)), job("9", "nid77", 100.0, Some(300.0))];
    let batch = played(320, 0.002, &jobs, &[&|_| Some(1.0)]);
    let unseen = result(&batch, "9");
    assert!(unseen.judged == 0.0 && unseen.completeness == 0.0, "{unseen:?}");
    assert!((unseen.slowdown_hi_s - 200.0).abs() < 0.1, "{unseen:?}");
}

#[test]
fn a_node_that_slows_down_beside_its_siblings_is_suspected() {
    let nodes: Vec<Name> = (0..5).map(|n| name(&format!("nid{n}"))).collect();
    let of_five = Job { nodes, ..job("1", "nid0", 0.0, None) };
    let slow = |s: f64| Some(if (200.0..300.0).contains(&s) { 0.5 } else { 1.0 });
    let steady = |_: f64| Some(1.0);
    let batch = played(500, 0.0, &[of_five], &[&slow, &steady, &steady, &steady, &steady]);
    let result = result(&batch, "1");
    assert_eq!(result.causes[0].cause, Cause::Node, "{result:?}");
    assert!(result.slowdown_lo_s == 0.0 && (5.0..15.0).contains(&result.slowdown_s), "{result:?}");
    assert!(result.slowdown_hi_s >= 50.0, "the job may wait for that node: {result:?}");
}

#[test]
fn an_equal_share_among_many_is_contention_however_small() {
    let own = job("1", "nid0", 0.0, None);
    let nodes: Vec<Name> = (1..60).map(|n| name(&format!("nid{n}"))).collect();
    let many = Job { nodes, ..job("2", "nid1", 200.0, None) };
    let victim = |s: f64| Some(if s >= 200.0 { 1.0 / 60.0 } else { 1.0 });
    let small = |s: f64| Some(if s >= 200.0 { 1.0 / 60.0 } else { 0.0 });
    let mut rates: Vec<Rate<'_>> = vec![&victim];
    rates.extend((1..60).map(|_| -> Rate<'_> { &small }));
    let batch = played(400, 0.0, &[own, many], &rates);
    let result = result(&batch, "1");
    assert!((result.slowdown_s - 196.7).abs() < 5.0, "{result:?}");
    assert_eq!(result.causes[0].series_or_job, "2", "{result:?}");
}
