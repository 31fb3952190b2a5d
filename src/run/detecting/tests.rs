//! What a detector partition tells after a restart.

use super::*;
use crate::run::partitions::Held;
use detector::model::ModelKind;
use detector::postgres::Claim;
use schemas::wire::{Origin, Reached, write_counters, write_progress, write_source};
use schemas::{Metric, Name, Source};
use std::time::Duration;

const NEVER: Duration = Duration::from_secs(3600);

fn settings() -> DetectingSettings {
    DetectingSettings {
        settings: Settings::of(ModelKind::Robust),
        waiting_rows_max: 1000,
        storage: StoragePolicy::default(),
        links: false,
        alerts: false,
        payload_bytes_max: 100_000,
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

fn play(held: &mut Held<Detecting>, seconds: std::ops::Range<i64>) {
    for second in seconds {
        for (message, offset) in messages(second).iter().zip(2 * second..) {
            held.message(offset, Some(message)).unwrap();
        }
    }
}

fn rows_told(held: &mut Held<Detecting>, all: bool) -> Option<u64> {
    let (part, _) = held.take(all, NEVER).unwrap()?;
    part.results.heard.last().map(|heard| heard.rows)
}

#[test]
fn a_source_that_was_not_told_before_a_crash_is_told_after_the_restart() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = Held::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..5);
    let mut told = rows_told(&mut held, false);
    // Sources are told now and then: what was committed at the end need not hold the latest count.
    for second in 5..20 {
        play(&mut held, second..second + 1);
        told = rows_told(&mut held, false).or(told);
    }
    assert!(told.is_some_and(|told| told < 19), "{told:?}: nothing is left to tell");
    // It dies; the results of all messages are in the database, but no state was written.
    let after = Claim { epoch: 2, position: Some(40), ..Claim::default() };
    let mut again = Held::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..20);
    let told = (0..3).filter_map(|_| rows_told(&mut again, true)).last();
    assert_eq!(told, Some(20), "the latest count is told once nothing more comes");
}

#[test]
fn what_is_found_again_after_a_crash_takes_no_memory() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = Held::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..30);
    assert!(held.work.result_bytes() > 0);
    let after = Claim { epoch: 2, position: Some(60), ..Claim::default() };
    let mut again = Held::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..29);
    assert!(again.work.result_bytes() > 0);
    assert!(again.take(true, NEVER).unwrap().is_none(), "the database has it");
    assert_eq!(again.work.result_bytes(), 0);
    play(&mut again, 29..31);
    let (part, _) = again.take(false, NEVER).unwrap().unwrap();
    assert_eq!(
        (part.results.signals.len(), part.results.series.len()),
        (1, 1),
        "what is new, and whose it is"
    );
}

#[test]
fn series_are_told_though_nothing_else_is_known() {
    let mut outcome = Outcome::default();
    assert!(outcome.is_quiet());
    let node = Name::parse("nid00001").unwrap();
    let info = schemas::SeriesInfo { metric: Metric::LustreWriteRate, component: node, part: None };
    outcome.results.series.push((schemas::SeriesIndex(0), info));
    assert!(!outcome.is_quiet());
}

/// One node falls silent after 20 s; what is open of it is written a minute later, and then it dies.
#[test]
fn what_was_written_of_a_silent_series_before_a_crash_is_not_written_again() {
    let play = |held: &mut Held<Detecting>, seconds: std::ops::Range<i64>, written: &mut Vec<(u32, i64)>| {
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
    let mut held = Held::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..92, &mut written);
    assert_eq!(written.iter().filter(|(series, _)| *series == 0).count(), 2, "{written:?}");
    let after = Claim { epoch: 2, position: Some(184), ..Claim::default() };
    let mut again = Held::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..120, &mut written);
    let all = written.len();
    written.sort_unstable();
    written.dedup();
    assert_eq!(written.len(), all, "rows were written twice");
    assert_eq!(written.iter().filter(|(series, _)| *series == 0).count(), 2, "{written:?}");
}

#[test]
fn sources_are_told_some_at_a_time_and_none_is_left_out() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = Held::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    let nodes = ["nid00001", "nid00002", "nid00003"];
    let played = nodes.into_iter().cycle().zip(0..30).flat_map(|(node, second)| messages_of(node, second));
    for (message, offset) in played.zip(0..) {
        held.message(offset, Some(&message)).unwrap();
    }
    let detector = &mut held.work.stages.detector;
    let mut told = Vec::new();
    for (most, want, more) in
        [(0, 0, false), (2, 2, true), (2, 1, false), (2, 0, false), (usize::MAX, 0, false)]
    {
        let heard = detector.take_apart(most).heard;
        assert_eq!((heard.len(), detector.has_more_heard()), (want, more), "at most {most}");
        told.extend(heard.into_iter().map(|heard| heard.producer.to_string()));
    }
    told.sort();
    assert_eq!(told, nodes);
}

#[test]
fn undecodable_messages_are_kept_until_the_next_commit_and_not_found_again() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = Held::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    assert!(held.message(0, Some(b"none of Tailback's")).unwrap().is_some());
    assert!(held.message(1, Some(&messages(1)[0])).unwrap().is_none());
    assert!(held.message(2, None).unwrap().is_none(), "a message of an earlier generation");
    let (part, _) = held.take(false, NEVER).unwrap().unwrap();
    assert_eq!(part.results.drops.get(DropReason::BadMessage), 1);
    let after = Claim { epoch: 2, position: Some(1), ..Claim::default() };
    let mut again = Held::<Detecting>::restore(0, &after, &settings()).unwrap();
    assert!(again.message(0, Some(b"none of Tailback's")).unwrap().is_none(), "the database has it");
    assert!(again.message(1, Some(b"another")).unwrap().is_some());
}
