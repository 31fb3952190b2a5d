//! What a detector partition stores.

use super::*;
use detector::model::ModelKind;
use schemas::Metric;
use support::counters::messages_of;

fn settings() -> DetectingSettings {
    DetectingSettings {
        settings: Settings::of(ModelKind::Robust),
        waiting_rows_max: 1000,
        storage: Some(StoragePolicy::default()),
        links: false,
        alerts: false,
    }
}

#[test]
fn series_are_sent_without_other_results() {
    let mut outcome = Outcome::default();
    assert!(outcome.is_quiet());
    let node = Name::parse("nid00001").unwrap();
    let info =
        SeriesInfo { metric: Metric::from_name("lustre_write_rate").unwrap(), component: node, part: None };
    outcome.results.series.push((SeriesIndex(0), info));
    assert!(!outcome.is_quiet());
}

#[test]
fn sources_are_stored_in_batches_without_omission() {
    let mut stage = Detecting::fresh(0, &settings());
    let nodes = ["nid00001", "nid00002", "nid00003"];
    let played = nodes.into_iter().cycle().zip(0..30).flat_map(|(node, second)| messages_of(node, second));
    for message in played {
        stage.message(&message).unwrap();
    }
    let detector = &mut stage.ordered.detector;
    let mut stored = Vec::new();
    for (most, want, more) in
        [(0, 0, false), (2, 2, true), (2, 1, false), (2, 0, false), (usize::MAX, 0, false)]
    {
        let seen = detector.take_apart(most).last_seen;
        assert_eq!((seen.len(), detector.has_more_sources()), (want, more), "at most {most}");
        stored.extend(seen.into_iter().map(|seen| seen.producer.to_string()));
    }
    stored.sort();
    assert_eq!(stored, nodes);
}
