//! Raw topics are deleted and created again while Tailback runs: the rows of the new ones are used like any other.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows::{self, Row};
use super::site::Site;
use super::tables::Tables;
use support::stack::turn;

/// A line of the log.
const WARNING: &str = "raw topic was deleted and created again";

#[test]
fn rows_of_raw_topics_that_are_created_again_are_in_the_tables() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "created_again");
    let rows = rows::undisturbed();
    let middle = rows.iter().position(|row| row.arrival_us - rows[0].arrival_us > 60_000_000).unwrap();
    let (before, after): (&[Row], &[Row]) = rows.split_at(middle);
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
