//! Regions as they grow, merge, split and end.

use super::*;
use RegionChange::{Began, Ended, Grew, Shrank, Split, TookUp, WentInto};

fn chain(links: std::ops::Range<u32>) -> Vec<Stalling> {
    links.map(|at| Stalling { series: at, ends: [at, at + 1], ratio: 1.0 }).collect()
}

fn listed(changes: &[Change]) -> Vec<(u64, RegionChange, Option<u64>)> {
    changes.iter().map(|c| (c.id.0, c.change, c.other.map(|id| id.0))).collect()
}

#[test]
fn two_thousand_links_that_stall_in_one_second_are_one_region() {
    let mut book = RegionBook::default();
    // A switch of 2,048 links: all touch in vertex 0.
    let star: Vec<Stalling> = (0..2048)
        .map(|at| Stalling { series: at, ends: [0, at + 1], ratio: 0.5 + at as f32 / 4096.0 })
        .collect();
    assert_eq!(listed(&book.step(0, &star)), [(1, Began, None)]);
    assert_eq!(listed(&book.step(1, &star)), []);
}

#[test]
fn a_region_grows_shrinks_and_ends_after_five_quiet_ticks() {
    let mut book = RegionBook::default();
    assert_eq!(listed(&book.step(0, &chain(0..3))), [(1, Began, None)]);
    assert_eq!(listed(&book.step(1, &chain(0..5))), [(1, Grew, None)]);
    assert_eq!(listed(&book.step(2, &chain(1..3))), [(1, Shrank, None)]);
    assert_eq!(listed(&book.step(3, &[])), []);
    assert_eq!(listed(&book.step(7, &[])), []);
    assert_eq!(listed(&book.step(8, &[])), [(1, Ended, None)]);
    assert_eq!(book.open().count(), 0);
}

#[test]
fn a_new_state_takes_no_number_of_the_one_before() {
    let mut book = RegionBook::default();
    book.number_from(1_000_000_000);
    assert_eq!(listed(&book.step(0, &chain(0..3))), [(1_000_000_001, Began, None)]);
    // Said again after a restart it changes nothing.
    book.number_from(1_000_000_000);
    assert_eq!(listed(&book.step(1, &[chain(0..3), chain(10..12)].concat())), [(1_000_000_002, Began, None)]);
}

#[test]
fn a_region_that_was_quiet_for_a_moment_is_the_same() {
    let mut book = RegionBook::default();
    book.step(0, &chain(0..3));
    book.step(1, &[]);
    assert_eq!(listed(&book.step(4, &chain(0..3))), []);
}

#[test]
fn the_older_of_regions_that_meet_continues() {
    let mut book = RegionBook::default();
    assert_eq!(listed(&book.step(0, &chain(0..2))), [(1, Began, None)]);
    let apart = [chain(0..2), chain(4..9), chain(11..14)].concat();
    assert_eq!(listed(&book.step(1, &apart)), [(2, Began, None), (3, Began, None)]);
    let met = listed(&book.step(2, &chain(0..14)));
    let took = [(1, Grew, None), (1, TookUp, Some(2)), (1, TookUp, Some(3))];
    assert_eq!(met, [&took[..], &[(2, WentInto, Some(1)), (3, WentInto, Some(1))]].concat());
    assert_eq!(book.open().count(), 1);
}

#[test]
fn a_region_whose_larger_part_stays_apart_is_taken_up_by_none() {
    let mut book = RegionBook::default();
    assert_eq!(listed(&book.step(0, &chain(0..6))), [(1, Began, None)]);
    assert_eq!(listed(&book.step(1, &[chain(0..6), chain(8..12)].concat())), [(2, Began, None)]);
    // Link 5 joins the other region.
    let moved = [chain(0..4), chain(5..12)].concat();
    assert_eq!(listed(&book.step(2, &moved)), [(1, Shrank, None), (2, Grew, None)]);
}

#[test]
fn a_region_that_splits_keeps_its_number_in_the_larger_part() {
    let mut book = RegionBook::default();
    book.step(0, &chain(0..9));
    let parts = [chain(0..2), chain(5..9)].concat();
    let split = listed(&book.step(1, &parts));
    assert_eq!(split, [(1, Shrank, None), (1, Split, Some(2)), (2, Began, Some(1))]);
}

#[test]
fn links_that_touch_but_stall_otherwise_are_two_regions() {
    let mut book = RegionBook::default();
    let mut links = chain(0..4);
    (links[2].ratio, links[3].ratio) = (9.0, 9.0);
    assert_eq!(listed(&book.step(0, &links)), [(1, Began, None), (2, Began, None)]);
}

#[test]
fn the_order_of_the_links_does_not_matter() {
    let mut links = [chain(0..9), chain(20..30)].concat();
    let mut book = RegionBook::default();
    let changes = book.step(0, &links);
    links.reverse();
    assert_eq!(RegionBook::default().step(0, &links), changes);
}
