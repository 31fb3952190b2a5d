//! How many messages each stage has not read yet, for the view `monitor_health`: of stages that do not run, too.
//!
//! Where a stage has come is in the database, or with the aggregator's consumer group at the brokers; the brokers know the ends.

use super::housekeeping::noted;
use super::stop::Control;
use configuration::RunConfig;
use doctor::facts::{kafka, stages};
use std::time::Duration;
use store::outage::Outage;
use store::postgres::{PgError, connect_to_read, put_backlog};
use store::read::doctor::{Position, positions};

/// Time before the first measurement: a stage that just started catches up.
const FIRST: Duration = Duration::from_secs(5);
/// Time between two measurements.
const ROUND: Duration = Duration::from_secs(60);
/// Time for which brokers may take for each answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The database refuses.
pub static STORING: Outage = Outage::new("storing of the stages' backlog");
/// The brokers refuse, or do not answer.
pub static MEASURING: Outage = Outage::new("measurement of the stages' backlog");

/// Measures and stores until the process stops.
pub async fn measure_and_store(config: RunConfig, control: Control) {
    let settings = config.database.pg_settings();
    let mut wait = FIRST;
    while control.waited(wait).await {
        wait = ROUND;
        // Before the ends: the other way round, working stages seem ahead.
        let known = async || Ok::<_, PgError>(positions(&connect_to_read(&settings).await?, false).await?);
        let Some(known) = noted(&STORING, known().await) else { continue };
        match measured(config.clone(), known).await {
            Ok(unread) => {
                MEASURING.works();
                noted(&STORING, put_backlog(&settings, &unread).await);
            }
            Err(why) => MEASURING.failed(&why),
        }
    }
}

async fn measured(config: RunConfig, known: Vec<Position>) -> Result<Vec<(&'static str, i64)>, String> {
    let measuring = tokio::task::spawn_blocking(move || {
        let facts = kafka::offsets(&config, REQUEST_TIMEOUT)?;
        Ok(stages::unread(&config, &facts, &known))
    });
    measuring.await.map_err(|panicked| panicked.to_string())?
}
