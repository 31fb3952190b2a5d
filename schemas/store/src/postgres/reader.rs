//! A connection that only reads, for pages and reports.

use super::cause::Cause;
use super::connect::connect_to_read;
use super::migrate::check_schema;
use super::{PgError, PgSettings};
use tokio_postgres::Client;

/// Connects, and checks that the account may read everything and that the schema is this program's.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer, [`PgError::Stop`] for bad settings, missing rights or a schema that
/// needs `tailback migrate`.
pub async fn connect_reader(settings: &PgSettings) -> Result<Client, PgError> {
    let client = connect_to_read(settings).await?;
    // Before anything else: a writer's account may be all that there is.
    client.batch_execute(include_str!("../../sql/postgres/read_only.sql")).await?;
    let may: Option<bool> =
        client.query_one(include_str!("../../sql/postgres/may_read.sql"), &[]).await?.get(0);
    match may {
        Some(true) => check_schema(&client).await?,
        Some(false) => {
            let user: String =
                client.query_one(include_str!("../../sql/postgres/current_user.sql"), &[]).await?.get(0);
            return Err(PgError::of(Cause::ReaderRight, format!("{user} may not read the database")));
        }
        None => return Err(PgError::of(Cause::Schema, "the database has none of Tailback's tables")),
    }
    Ok(client)
}
