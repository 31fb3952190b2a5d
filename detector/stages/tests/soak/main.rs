//! A simulated day of a machine of which much changes: every book is flat over its second half, and what lasts has the results
//! that it has alone. Hosts are few and sample every ten seconds, so that it takes a minute.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and print its measurements"
)]

mod pipeline;
mod world;

use pipeline::{Found, Pipeline};
use std::collections::BTreeMap;
use world::{TICK_S, World};

const HOUR_S: usize = 3_600;
const DAY_S: usize = 24 * HOUR_S;
/// Seconds between two looks at the books.
const LOOKED_S: usize = 300;
/// Seconds between two restarts from the written states.
const RESTARTED_S: usize = 5 * HOUR_S + 1_230;
/// By what share, and by how many entries, the most of the last quarter may exceed that of the quarter before.
const MARGIN: f64 = 0.1;
const MARGIN_ENTRIES: usize = 8;
/// Megabytes by which the process may grow in the second half.
const GROWTH_MB: f64 = 16.0;

type Sizes = BTreeMap<&'static str, usize>;

/// Resident memory of this process, in megabytes.
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1e3
}

/// The most entries of each book in each quarter of the day.
fn note(quarters: &mut [Sizes; 4], second: usize, sizes: Sizes) {
    for (book, size) in sizes {
        let most = quarters[second * 4 / DAY_S].entry(book).or_default();
        *most = (*most).max(size);
    }
}

fn is_flat(before: usize, after: usize) -> bool {
    after as f64 <= before as f64 * (1.0 + MARGIN) + MARGIN_ENTRIES as f64
}

/// What is known of the lasting jobs after a day without anything else.
fn alone() -> Found {
    let mut pipeline = Pipeline::new(World::new(false), DAY_S - HOUR_S / 6);
    (0..DAY_S).step_by(TICK_S).for_each(|second| pipeline.tick(second));
    pipeline.found
}

#[test]
fn books_are_flat_and_results_the_same_through_a_day_of_churn() {
    let mut quarters: [Sizes; 4] = std::array::from_fn(|_| Sizes::new());
    let mut pipeline = Pipeline::new(World::new(true), DAY_S - HOUR_S / 6);
    let mut resident = Vec::new();
    for second in (0..DAY_S).step_by(TICK_S) {
        pipeline.tick(second);
        if second > 0 && second.is_multiple_of(RESTARTED_S) {
            pipeline.restart();
        }
        if second.is_multiple_of(LOOKED_S) {
            note(&mut quarters, second, pipeline.sizes());
        }
        if second.is_multiple_of(HOUR_S) {
            resident.push(resident_mb());
        }
    }
    println!("{} rows; MB by hour: {resident:.0?}", pipeline.rows);
    let [_, second, third, last] = &quarters;
    for (book, size) in last {
        println!("{book:22} {:>8} {:>8} {size:>8}", second[book], third[book]);
    }
    let grown: Vec<_> = last.iter().filter(|(book, size)| !is_flat(third[*book], **size)).collect();
    assert!(grown.is_empty(), "grew over the last six hours: {grown:?}");
    let growth_mb = resident[23] - resident[12];
    assert!(growth_mb < GROWTH_MB, "the process grew by {growth_mb:.1} MB: {resident:.0?}");
    assert!(last["series"] > 60 && last["jobs"] > 100, "the churn is there: {last:?}");
    let alone = alone();
    assert!(alone.episodes.len() >= 4 && alone.jobs["1"].slowdown_s > 1_000.0, "{:#?}", alone.jobs);
    assert_eq!(pipeline.found.jobs, alone.jobs);
    assert_eq!(pipeline.found.episodes, alone.episodes);
    assert_eq!(pipeline.found.signals, alone.signals);
}
