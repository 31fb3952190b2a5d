//! What a detector partition sends after a restart.

use super::*;
use crate::run::partition_state::PartitionState;
use detector::model::ModelKind;
use schemas::wire::{Origin, Reached, write_counters, write_progress, write_source};
use schemas::{Metric, Name, Source};
use std::time::Duration;
use store::postgres::Claim;

const NEVER: Duration = Duration::from_secs(3600);

fn settings() -> DetectingSettings {
    DetectingSettings {
        settings: Settings::of(ModelKind::Robust),
        waiting_rows_max: 1000,
        storage: Some(StoragePolicy::default()),
        links: false,
        alerts: false,
    }
}

fn at(second: i64) -> Time {
    Time::from_seconds(1_000_000_000.0 + second as f64)
}

/// A row of one writer, and the word that the raw partition was read up to it.
fn messages(second: i64) -> [Vec<u8>; 2] {
    messages_of("nid00001", second)
}

fn messages_of(node: &str, second: i64) -> [Vec<u8>; 2] {
    let name = |text: &str| Name::parse(text).unwrap();
    let (metric, node) = (Metric::LustreWriteRate, name(node));
    let source = Source {
        schema: name("lustre_client"),
        producer: node.clone(),
        metric,
        component: node,
        set: None,
        parts: vec![name("snx11168")],
        rank: 0,
    };
    let (mut described, mut row, mut progress) = (Vec::new(), Vec::new(), Vec::new());
    write_source(&mut described, &source);
    let origin = Origin { topic: "ldms.lustre_client", partition: 0, offset: second, arrived: at(second) };
    write_counters(&mut row, &origin, at(second), &described, &[second as u64 * 1_000_000]);
    let reached = [Reached { topic: "ldms.lustre_client".to_string(), partition: 0, time: at(second) }];
    write_progress(&mut progress, "a", at(second), &reached);
    [row, progress]
}

fn play(held: &mut PartitionState<Detecting>, seconds: std::ops::Range<i64>) {
    for second in seconds {
        for (message, offset) in messages(second).iter().zip(2 * second..) {
            held.message(offset, Some(message)).unwrap();
        }
    }
}

fn rows_stored(held: &mut PartitionState<Detecting>, all: bool) -> Option<u64> {
    let (part, _) = held.take(all, NEVER).unwrap()?;
    part.results.last_seen.last().map(|seen| seen.rows)
}

#[test]
fn unstored_source_is_stored_after_a_crash() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..5);
    let mut stored = rows_stored(&mut held, false);
    // Sources are stored at intervals: the last commit need not contain the latest count.
    for second in 5..20 {
        play(&mut held, second..second + 1);
        stored = rows_stored(&mut held, false).or(stored);
    }
    assert!(stored.is_some_and(|stored| stored < 19), "{stored:?}: nothing is left");
    // It dies; the results of all messages are in the database, but no state was written.
    let after = Claim { epoch: 2, position: Some(40), ..Claim::default() };
    let mut again = PartitionState::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..20);
    let stored = (0..3).filter_map(|_| rows_stored(&mut again, true)).last();
    assert_eq!(stored, Some(20), "the latest count is stored once no row arrives");
}

#[test]
fn replayed_results_take_no_memory() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..30);
    assert!(held.stage.load().result_bytes > 0);
    let after = Claim { epoch: 2, position: Some(60), ..Claim::default() };
    let mut again = PartitionState::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..29);
    assert!(again.stage.load().result_bytes > 0);
    assert!(again.take(true, NEVER).unwrap().is_none(), "the database has it");
    assert_eq!(again.stage.load().result_bytes, 0);
    play(&mut again, 29..31);
    let (part, _) = again.take(false, NEVER).unwrap().unwrap();
    assert_eq!(
        (part.results.signals.len(), part.results.series.len()),
        (1, 1),
        "what is new, and whose it is"
    );
}

#[test]
fn series_are_sent_without_other_results() {
    let mut outcome = Outcome::default();
    assert!(outcome.is_quiet());
    let node = Name::parse("nid00001").unwrap();
    let info = schemas::SeriesInfo { metric: Metric::LustreWriteRate, component: node, part: None };
    outcome.results.series.push((schemas::SeriesIndex(0), info));
    assert!(!outcome.is_quiet());
}

/// One node falls silent after 20 s; what is open of it is written a minute later, and then it dies.
#[test]
fn silent_series_are_not_written_twice_after_a_crash() {
    let play = |held: &mut PartitionState<Detecting>,
                seconds: std::ops::Range<i64>,
                written: &mut Vec<(u32, i64)>| {
        for second in seconds {
            let node = if second < 20 { "nid00001" } else { "nid00002" };
            for (message, offset) in messages_of(node, second).iter().zip(2 * second..) {
                held.message(offset, Some(message)).unwrap();
            }
            if second % 7 == 0
                && let Some((part, _)) = held.take(false, NEVER).unwrap()
            {
                written.extend(part.stored.buckets.iter().map(|bucket| (bucket.series.0, bucket.time.0)));
            }
        }
    };
    let mut written = Vec::new();
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..92, &mut written);
    assert_eq!(written.iter().filter(|(series, _)| *series == 0).count(), 2, "{written:?}");
    let after = Claim { epoch: 2, position: Some(184), ..Claim::default() };
    let mut again = PartitionState::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..120, &mut written);
    let all = written.len();
    written.sort_unstable();
    written.dedup();
    assert_eq!(written.len(), all, "rows were written twice");
    assert_eq!(written.iter().filter(|(series, _)| *series == 0).count(), 2, "{written:?}");
}

#[test]
fn sources_are_stored_in_batches_without_omission() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    let nodes = ["nid00001", "nid00002", "nid00003"];
    let played = nodes.into_iter().cycle().zip(0..30).flat_map(|(node, second)| messages_of(node, second));
    for (message, offset) in played.zip(0..) {
        held.message(offset, Some(&message)).unwrap();
    }
    let detector = &mut held.stage.stages.detector;
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

#[test]
fn undecodable_messages_are_kept_once_across_a_restart() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    assert!(held.message(0, Some(b"none of Tailback's")).unwrap().is_some());
    assert!(held.message(1, Some(&messages(1)[0])).unwrap().is_none());
    assert!(held.message(2, None).unwrap().is_none(), "a message of an earlier generation");
    let (part, _) = held.take(false, NEVER).unwrap().unwrap();
    assert_eq!(part.results.drops.get(DropReason::BadMessage), 1);
    let after = Claim { epoch: 2, position: Some(1), ..Claim::default() };
    let mut again = PartitionState::<Detecting>::restore(0, &after, &settings()).unwrap();
    assert!(again.message(0, Some(b"none of Tailback's")).unwrap().is_none(), "the database has it");
    assert!(again.message(1, Some(b"another")).unwrap().is_some());
}
