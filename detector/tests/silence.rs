//! Sources that go silent: push at t, expect a report between t1 and t2.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{CounterBatch, Metric, Name, Silence, SilenceEnd, Source, SourceIndex, Sources, Time};

/// Nodes that write.
const NODES: u32 = 4;

fn at(second: f64) -> Time {
    Time::from_seconds(1_000_000_000.0 + second)
}

fn sources() -> Sources {
    let mut sources = Sources::default();
    for node in 0..NODES {
        let node = Name::parse(&format!("nid0000{node}")).unwrap();
        let (schema, part) = (Name::parse("lustre_client").unwrap(), Name::parse("snx11168").unwrap());
        let metric = Metric::from_name("lustre_write_rate").unwrap();
        let (producer, component) = (node.clone(), node);
        sources.intern(Source {
            schema,
            producer,
            metrics: vec![metric],
            component,
            set: None,
            parts: vec![part],
            rank: 0,
            by_job: false,
        });
    }
    sources
}

/// Sets of one node: two file systems, and the second one mounted again, under another llite directory.
fn mounts() -> Sources {
    let mut sources = Sources::default();
    for (part, set) in [("home", "home-1"), ("scratch", "scratch-1"), ("scratch", "scratch-2")] {
        let [schema, node, part, set] =
            ["lustre_client", "nid00000", part, set].map(|text| Name::parse(text).unwrap());
        let (producer, component) = (node.clone(), node);
        let (metric, set) = (Metric::from_name("lustre_write_rate").unwrap(), Some(set));
        sources.intern(Source {
            schema,
            producer,
            metrics: vec![metric],
            component,
            set,
            parts: vec![part],
            rank: 0,
            by_job: false,
        });
    }
    sources
}

/// Rows come 0.2 s after they were sampled, but for `lost(node, second)`; all silences, with the second in which each
/// became known.
fn run(seconds: u32, lost: impl Fn(u32, u32) -> bool) -> Vec<(f64, Silence)> {
    run_with(&sources(), seconds, lost)
}

fn run_with(sources: &Sources, seconds: u32, lost: impl Fn(u32, u32) -> bool) -> Vec<(f64, Silence)> {
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    let mut reported = Vec::new();
    for tenth in 0..seconds * 10 {
        let (second, now) = (tenth / 10, f64::from(tenth) / 10.0);
        if tenth % 10 == 2 {
            let mut batch = CounterBatch::default();
            for node in (0..sources.as_slice().len() as u32).filter(|node| !lost(*node, second)) {
                batch.push(SourceIndex(node), at(f64::from(second)), &[u64::from(second) * 1_000_000]);
            }
            detector.rows(sources, &batch);
        }
        detector.look_for_silence(at(now));
        reported.extend(detector.take_apart(0).silences.into_iter().map(|silence| (now, silence)));
    }
    reported
}

#[test]
fn a_stopped_node_is_reported_within_three_seconds() {
    let reported = run(60, |node, second| node == 2 && second > 30);
    assert_eq!(reported.len(), 1, "{reported:?}");
    let (known, silence) = &reported[0];
    assert_eq!(
        (silence.producer.as_str(), silence.since, silence.end),
        ("nid00002", at(30.0), SilenceEnd::Open)
    );
    assert!(*known > 32.0 && *known <= 33.0, "reported at {known}");
}

#[test]
fn a_node_that_comes_back_ends_its_silence_with_its_next_row() {
    let reported = run(60, |node, second| node == 2 && (31..40).contains(&second));
    let ends: Vec<_> = reported.iter().map(|(_, silence)| (silence.since, silence.end)).collect();
    assert_eq!(ends, [(at(30.0), SilenceEnd::Open), (at(30.0), SilenceEnd::At(at(40.0)))]);
}

#[test]
fn a_whole_machine_that_stops_is_reported_too() {
    let reported = run(60, |_, second| second > 30);
    assert_eq!(reported.len(), NODES as usize, "{reported:?}");
    assert!(reported.iter().all(|(known, _)| *known <= 33.0), "{reported:?}");
}

#[test]
fn two_missing_rows_are_no_silence() {
    assert_eq!(run(60, |node, second| node == 1 && second == 30), []);
}

#[test]
fn the_next_mount_ends_the_silence_of_a_file_system() {
    let reported = run_with(&mounts(), 90, |set, second| match set {
        0 => false,
        1 => second > 30,
        _ => second < 50,
    });
    let reported: Vec<_> =
        reported.iter().map(|(_, s)| (s.part.as_ref().unwrap().as_str(), s.since, s.end)).collect();
    let since = at(30.0);
    assert_eq!(
        reported,
        [("scratch", since, SilenceEnd::Open), ("scratch", since, SilenceEnd::At(at(50.0)))]
    );
}

#[test]
fn of_two_mounts_of_one_file_system_one_may_go() {
    let reported = run_with(&mounts(), 90, |set, second| set == 1 && second > 30);
    assert_eq!(reported, []);
}
