//! Calibration from finished runs: `beta` by configuration, and the factors of each job's loss. The statements are functions
//! of the database (`upkeep.sql`), since they look at months of jobs.

use super::connect::connect;
use super::{PgError, PgSettings};

/// Learns from runs that ended, then stores the factors of jobs; returns how many versions of `beta` are new, and how many
/// jobs got factors.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer; [`PgError::Stop`] for missing rights.
pub async fn learn(settings: &PgSettings) -> Result<(i64, i64), PgError> {
    let client = connect(settings).await?;
    let betas = client.query_one(include_str!("../../sql/postgres/learn_betas.sql"), &[]).await?.get(0);
    let jobs = client.query_one(include_str!("../../sql/postgres/write_factors.sql"), &[]).await?.get(0);
    Ok((betas, jobs))
}
