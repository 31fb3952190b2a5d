//! Sums by minute and hour for dashboards, and what incidents of file systems cost. The statements are functions of the
//! database (`upkeep.sql`, `answers/incidents.sql`), since the rows that they read are there.

use super::connect::connect;
use super::{PgError, PgSettings};

/// Rounds that one call makes at most, an hour of event time each.
const ROUNDS_MAX: u32 = 48;

/// Sums up what is new; after an outage, or in a database that is older than the sums, two days at most.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer; [`PgError::Stop`] for missing rights.
pub async fn roll_up(settings: &PgSettings) -> Result<(), PgError> {
    let client = connect(settings).await?;
    for _ in 0..ROUNDS_MAX {
        let more: bool = client.query_one(include_str!("../../sql/postgres/roll_up.sql"), &[]).await?.get(0);
        if !more {
            break;
        }
    }
    client.query_one(include_str!("../../sql/postgres/sum_storage_losses.sql"), &[]).await?;
    Ok(())
}
