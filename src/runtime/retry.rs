//! Retries at the start: waits for brokers and a database that do not answer yet, until the process stops.

use super::http::Health;
use super::outage;
use super::stop::Control;
use super::topics::{self, TopicsError};
use configuration::RunConfig;
use std::time::Duration;
use store::postgres::{PgError, PgStore};

/// Wait between two tries.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Tries until Tailback's topics are there; `None` if the process shall stop before. `waiting` is what waits for them, in the
/// health.
///
/// # Errors
/// What has to be corrected first.
pub(super) async fn until_topics_exist(
    config: &RunConfig,
    control: &Control,
    health: &Health,
    waiting: &'static str,
) -> Result<Option<(i32, i32)>, TopicsError> {
    while !control.stopping() {
        match topics::ensure(config).await {
            Ok(partitions) => {
                health.forget(waiting);
                return Ok(Some(partitions));
            }
            Err(error) if error.is_retryable() => {
                outage::KAFKA.failed(&error.to_string());
                health.report(waiting, Some(error.to_string()));
                tokio::time::sleep(RETRY_DELAY).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Tries until the database answers; `None` if the process shall stop before.
pub(super) async fn until_connected<F: Future<Output = Result<PgStore, PgError>>>(
    control: &Control,
    health: &Health,
    stage: &'static str,
    connect: impl Fn() -> F,
) -> Result<Option<PgStore>, PgError> {
    while !control.stopping() {
        match connect().await {
            Ok(store) => {
                outage::DATABASE.works();
                return Ok(Some(store));
            }
            Err(error) if error.is_retryable() => {
                outage::DATABASE.failed(&error.to_string());
                health.report(stage, Some(error.to_string()));
                tokio::time::sleep(RETRY_DELAY).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
