//! Where nodes stand, as the topology says.

use rusqlite::{Connection, TransactionBehavior, params};
use schemas::topology::NodePlace;

/// Replaces all of them in one transaction.
pub(super) fn replace(connection: &mut Connection, places: &[NodePlace]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute(include_str!("../../sql/clear_places.sql"), [])?;
    let mut put = transaction.prepare_cached(include_str!("../../sql/put_place.sql"))?;
    for place in places {
        put.execute(params![place.node.as_str(), place.switch.as_str(), place.group])?;
    }
    drop(put);
    transaction.commit()
}
