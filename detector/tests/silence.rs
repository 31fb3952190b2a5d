//! Sources that go silent: push at t, want it told between t1 and t2.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

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
        let metric = Metric::LustreWriteRate;
        let (producer, component) = (node.clone(), node);
        sources.intern(Source { schema, producer, metric, component, set: None, parts: vec![part], rank: 0 });
    }
    sources
}

/// Rows come 0.2 s after they were sampled, but for `lost(node, second)`; all silences, with the second in which each
/// became known.
fn run(seconds: u32, lost: impl Fn(u32, u32) -> bool) -> Vec<(f64, Silence)> {
    let (sources, mut detector) = (sources(), Detector::new(Settings::of(ModelKind::Robust)));
    let mut told = Vec::new();
    for tenth in 0..seconds * 10 {
        let (second, now) = (tenth / 10, f64::from(tenth) / 10.0);
        if tenth % 10 == 2 {
            let mut batch = CounterBatch::default();
            for node in (0..NODES).filter(|node| !lost(*node, second)) {
                batch.push(SourceIndex(node), at(f64::from(second)), &[u64::from(second) * 1_000_000]);
            }
            detector.rows(&sources, &batch);
        }
        detector.look_for_silence(at(now));
        told.extend(detector.take_apart(false).silences.into_iter().map(|silence| (now, silence)));
    }
    told
}

#[test]
fn a_node_that_stops_is_told_within_three_seconds_of_its_last_row() {
    let told = run(60, |node, second| node == 2 && second > 30);
    assert_eq!(told.len(), 1, "{told:?}");
    let (known, silence) = &told[0];
    assert_eq!(
        (silence.producer.as_str(), silence.since, silence.end),
        ("nid00002", at(30.0), SilenceEnd::Open)
    );
    assert!(*known > 32.0 && *known <= 33.0, "told at {known}");
}

#[test]
fn a_node_that_comes_back_ends_its_silence_with_its_next_row() {
    let told = run(60, |node, second| node == 2 && (31..40).contains(&second));
    let ends: Vec<_> = told.iter().map(|(_, silence)| (silence.since, silence.end)).collect();
    assert_eq!(ends, [(at(30.0), SilenceEnd::Open), (at(30.0), SilenceEnd::At(at(40.0)))]);
}

#[test]
fn a_whole_machine_that_stops_is_told_too() {
    let told = run(60, |_, second| second > 30);
    assert_eq!(told.len(), NODES as usize, "{told:?}");
    assert!(told.iter().all(|(known, _)| *known <= 33.0), "{told:?}");
}

#[test]
fn two_missing_rows_are_no_silence() {
    assert_eq!(run(60, |node, second| node == 1 && second == 30), []);
}
