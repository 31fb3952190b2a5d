//! Topics are deleted and created again: the rows of the new ones are used like any other.
//!
//! What was sampled in a minute is in Kafka before a process starts. Pushed at once to partitions that were read to their
//! end, rows of one would be later than those of another by more than rows may be.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows::{self, Row};
use super::site::Site;
use super::tables::Tables;
use support::stack::turn;

const WARNING: &str = "raw topic was deleted and created again";

/// Where the rows of a second end, past the middle: what is sent to new topics arrives later than what was sent to the old ones.
fn middle(rows: &[Row]) -> usize {
    let arrival_us = |at: usize| rows[at].arrival_us - rows[0].arrival_us;
    (1..rows.len())
        .find(|at| arrival_us(*at) > 60_000_000 && arrival_us(*at) - arrival_us(at - 1) > 100_000)
        .unwrap()
}

/// Where the rows of the first second end.
fn first_second(rows: &[Row]) -> usize {
    rows.partition_point(|row| row.arrival_us - rows[0].arrival_us < 1_000_000)
}

#[test]
fn rows_of_raw_topics_that_are_created_again_are_in_the_tables() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "created_again");
    let rows = rows::in_order_of_arrival(rows::undisturbed());
    let (before, after) = rows.split_at(middle(&rows));
    Feed::to(&site).all(before);
    let process = site.start();
    site.settled_for_now();
    site.delete_raw_topics();
    site.create_raw_topics();
    // Eight times as fast as sampled, a partition that is found half a second after the others is later than rows may be. So
    // the partitions are found first, with rows that are not too late for each other.
    let (first, rest) = after.split_at(first_second(after));
    Feed::to(&site).all(first);
    site.wait_until_read();
    Feed::to(&site).paced(rest, 8.0, |_| {});
    equal_signals(&site);
    let log = process.log();
    assert!(log.contains(WARNING), "{log}");
    process.finish();
}

#[test]
fn own_topics_deleted_during_a_run_are_recreated_and_read() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "own_deleted");
    let rows = rows::in_order_of_arrival(rows::undisturbed());
    let (before, after) = rows.split_at(middle(&rows));
    Feed::to(&site).all(before);
    let mut process = site.start();
    site.settled_for_now();
    site.delete_own_topics();
    // Each restarts, by what it notices first: its input is another topic, or its output is gone.
    for stage in ["detector", "rollup"] {
        process.wait_for(&format!("stage restarts stage=\"{stage}\""));
        process.wait_for_times(&format!("partitions claimed stage=\"{stage}\""), 2);
    }
    Feed::to(&site).paced(after, 8.0, |_| {});
    equal_signals(&site);
    process.finish();
}

#[test]
fn own_topics_deleted_between_runs_are_read_from_the_start() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "own_deleted_stopped");
    let rows = rows::in_order_of_arrival(rows::undisturbed());
    let (before, after) = rows.split_at(middle(&rows));
    Feed::to(&site).all(before);
    // Stopped in the order of the stages, so that each has read all that the one before it wrote: unread messages are lost
    // with their topic.
    let [aggregator, detector, rollup] =
        ["aggregator", "detector", "rollup"].map(|stage| site.start_stages(stage));
    site.settled_for_now();
    aggregator.finish();
    site.wait_until_read();
    detector.finish();
    site.wait_until_read();
    rollup.finish();
    assert!(site.states_hold_all_messages(), "the stop lost the last states");
    // What a stage writes to a topic that is being deleted is lost with it.
    site.delete_own_topics().wait_until_gone();
    let process = site.start();
    Feed::to(&site).paced(after, 8.0, |_| {});
    equal_signals(&site);
    process.finish();
}

/// Regions that are open may end in the pause; rows and what is made of each series do not depend on it.
fn equal_signals(site: &Site) {
    let found = site.settled();
    let expected = undisturbed(site.services);
    let signals = |tables: &Tables| tables.only("signals");
    signals(&found).rows_equal(&signals(expected));
    found.drops_equal(expected);
}
