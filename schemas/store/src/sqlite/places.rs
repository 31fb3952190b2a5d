//! Locations of nodes and links in the topology.

use rusqlite::{Connection, TransactionBehavior, params};
use topology::{LinkPlace, NodePlace};

/// Replaces what is known of nodes, in one transaction.
pub(super) fn replace_nodes(connection: &mut Connection, places: &[NodePlace]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(include_str!("../../sql/sqlite/clear_places.sql"), [])?;
    let mut put = transaction.prepare_cached(include_str!("../../sql/sqlite/put_place.sql"))?;
    for place in places {
        put.execute(params![place.node.as_str(), place.switch.as_str(), place.group])?;
    }
    drop(put);
    transaction.commit()
}

/// Replaces what is known of links, in one transaction. Where one series is said to measure several links, the first counts.
pub(super) fn replace_links(connection: &mut Connection, links: &[LinkPlace]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(include_str!("../../sql/sqlite/clear_links.sql"), [])?;
    let mut put = transaction.prepare_cached(include_str!("../../sql/sqlite/put_link.sql"))?;
    for link in links {
        let ends = (link.from.as_str(), link.to.as_str());
        put.execute(params![link.series, link.class, ends.0, ends.1, link.bundle, link.bytes_per_s])?;
    }
    drop(put);
    transaction.commit()
}
