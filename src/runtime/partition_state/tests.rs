//! What a detector partition stores after a restart.

use super::*;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::DropReason;
use stages::detecting::{Detecting, DetectingSettings};
use std::time::Duration;
use store::postgres::Claim;
use store::storage_policy::StoragePolicy;
use support::counters::messages_of;

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

/// Messages of one writer in a second.
fn messages(second: i64) -> [Vec<u8>; 2] {
    messages_of("nid00001", second)
}

fn play(held: &mut PartitionState<Detecting>, seconds: std::ops::Range<i64>) {
    for second in seconds {
        for (message, offset) in messages(second).iter().zip(2 * second..) {
            held.message(offset, Some(Ok(message))).unwrap();
        }
    }
}

fn rows_stored(held: &mut PartitionState<Detecting>, extent: Extent) -> Option<u64> {
    let (part, _) = held.take(extent, NEVER).unwrap()?;
    part.results.last_seen.last().map(|seen| seen.rows)
}

#[test]
fn unstored_source_is_stored_after_a_crash() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..5);
    let mut stored = rows_stored(&mut held, Extent::Final);
    // Sources are stored at intervals: the last commit need not contain the latest count.
    for second in 5..20 {
        play(&mut held, second..second + 1);
        stored = rows_stored(&mut held, Extent::Final).or(stored);
    }
    assert!(stored.is_some_and(|stored| stored < 19), "{stored:?}: nothing is left");
    // It dies; the results of all messages are in the database, but no state was written.
    let after = Claim { epoch: 2, position: Some(40), ..Claim::default() };
    let mut again = PartitionState::<Detecting>::restore(0, &after, &settings()).unwrap();
    play(&mut again, 0..20);
    let stored = (0..3).filter_map(|_| rows_stored(&mut again, Extent::AllJobs)).last();
    assert_eq!(stored, Some(20), "the latest count is stored once no row arrives");
}

#[test]
fn a_stop_stores_all_seen_sources() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    play(&mut held, 0..5);
    rows_stored(&mut held, Extent::AllJobs);
    play(&mut held, 5..8);
    assert_eq!(rows_stored(&mut held, Extent::AllJobs), None, "not due yet");
    assert_eq!(rows_stored(&mut held, Extent::Everything), Some(8));
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
    assert!(again.take(Extent::AllJobs, NEVER).unwrap().is_none(), "the database has it");
    assert_eq!(again.stage.load().result_bytes, 0);
    play(&mut again, 29..31);
    let (part, _) = again.take(Extent::Final, NEVER).unwrap().unwrap();
    assert_eq!((part.stored.passed.count, part.results.series.len()), (1, 1), "what is new, and whose it is");
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
                held.message(offset, Some(Ok(message))).unwrap();
            }
            if second % 7 == 0
                && let Some((part, _)) = held.take(Extent::Final, NEVER).unwrap()
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
fn undecodable_messages_are_kept_once_across_a_restart() {
    let fresh = Claim { epoch: 1, ..Claim::default() };
    let mut held = PartitionState::<Detecting>::restore(0, &fresh, &settings()).unwrap();
    assert!(held.message(0, Some(Ok(&b"none of Tailback's"[..]))).unwrap().is_some());
    assert!(held.message(1, Some(Ok(&messages(1)[0]))).unwrap().is_none());
    assert!(held.message(2, None).unwrap().is_none(), "a message of an earlier generation");
    let (part, _) = held.take(Extent::Final, NEVER).unwrap().unwrap();
    assert_eq!(part.results.drops.get(DropReason::BadMessage), 1);
    let after = Claim { epoch: 2, position: Some(1), ..Claim::default() };
    let mut again = PartitionState::<Detecting>::restore(0, &after, &settings()).unwrap();
    assert!(again.message(0, Some(Ok(&b"none of Tailback's"[..]))).unwrap().is_none(), "the database has it");
    assert!(again.message(1, Some(Ok(&b"another"[..]))).unwrap().is_some());
}
