//! Raw topics are deleted and created again while Tailback runs: the rows of the new ones are used like any other.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows::{self, Row};
use super::site::Site;
use super::tables::Tables;
use support::stack::turn;

/// A line of the log.
const WARNING: &str = "raw topic was deleted and created again";

/// Where the rows of a second end, past the middle: what is sent to new topics arrives later than what was sent to the old ones.
fn middle(rows: &[Row]) -> usize {
    let arrival_us = |at: usize| rows[at].arrival_us - rows[0].arrival_us;
    (1..rows.len())
        .find(|at| arrival_us(*at) > 60_000_000 && arrival_us(*at) - arrival_us(at - 1) > 100_000)
        .unwrap()
}

#[test]
fn rows_of_raw_topics_that_are_created_again_are_in_the_tables() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "created_again");
    let rows = rows::in_order_of_arrival(rows::undisturbed());
    let (before, after) = rows.split_at(middle(&rows));
    let process = site.start();
    Feed::to(&site).all(before);
    site.settled_for_now();
    site.delete_raw_topics();
    site.create_raw_topics();
    Feed::to(&site).paced(after, 8.0, |_| {});
    let found = site.settled();
    // Regions that are open may end in the pause; rows and what is made of each series do not depend on it.
    let signals = |tables: &Tables| tables.of("signals").map(str::to_string).collect::<Vec<_>>();
    assert_eq!(signals(&found), signals(undisturbed(services)));
    found.drops_equal(undisturbed(services));
    let log = process.log();
    assert!(log.contains(WARNING), "{log}");
    process.finish();
}
