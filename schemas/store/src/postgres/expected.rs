//! Expected sources of the site file.

use super::connect::connect;
use super::{PgError, PgSettings};
use schemas::site::Expected;

/// Replaces the expected sources of the database by `expected`.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer; [`PgError::Stop`] for missing rights.
pub async fn put_expected(settings: &PgSettings, expected: &[Expected]) -> Result<(), PgError> {
    let mut client = connect(settings).await?;
    let producers: Vec<&str> = expected.iter().map(|e| e.producer.as_str()).collect();
    let schemas: Vec<&str> = expected.iter().map(|e| e.source_schema.as_str()).collect();
    let components: Vec<&str> = expected.iter().map(|e| e.component.as_str()).collect();
    let copies: Vec<i16> = expected.iter().map(|e| i16::try_from(e.copies).unwrap_or(i16::MAX)).collect();
    let event_driven: Vec<bool> = expected.iter().map(|e| e.event_driven).collect();
    let transaction = client.transaction().await?;
    transaction.execute(include_str!("../../sql/postgres/clear_expected.sql"), &[]).await?;
    transaction
        .execute(
            include_str!("../../sql/postgres/put_expected.sql"),
            &[&producers, &schemas, &components, &copies, &event_driven],
        )
        .await?;
    transaction.commit().await?;
    Ok(())
}
