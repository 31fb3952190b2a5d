//! A start waits for brokers and a database that do not answer yet, unless the process shall stop.

use super::http::Health;
use super::stop::Wishes;
use detector::postgres::{PgError, PgStore};
use std::time::Duration;

/// Wait between two tries.
const AGAIN: Duration = Duration::from_secs(1);

/// Tries until the brokers answer; `None` if the process shall stop before.
pub(super) async fn until_there<T, F: Future<Output = anyhow::Result<T>>>(
    wishes: &Wishes,
    health: &Health,
    try_it: impl Fn() -> F,
) -> anyhow::Result<Option<T>> {
    while !wishes.stopping() {
        match try_it().await {
            Ok(there) => return Ok(Some(there)),
            Err(error) if error.downcast_ref::<rdkafka::error::KafkaError>().is_some() => {
                tracing::warn!("{error:#}; trying on");
                health.report("kafka", Some(format!("{error:#}")));
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Tries until the database answers; `None` if the process shall stop before.
pub(super) async fn until_connected<F: Future<Output = Result<PgStore, PgError>>>(
    wishes: &Wishes,
    health: &Health,
    stage: &'static str,
    connect: impl Fn() -> F,
) -> anyhow::Result<Option<PgStore>> {
    while !wishes.stopping() {
        match connect().await {
            Ok(store) => return Ok(Some(store)),
            Err(error) if error.is_retryable() => {
                tracing::warn!(stage, "{error}; trying on");
                health.report(stage, Some(error.to_string()));
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
