//! Retention that the server does not do itself: deletes expired rows, and runs policies at which the server's scheduler
//! failed.

use super::connect::connect;
use super::{PgError, PgSettings};
use schemas::Time;
use tokio_postgres::Client;

/// Lock in the database: one process at a time is enough.
const LOCK: i64 = i64::from_be_bytes(*b"tb_house");

/// Slices of rows that one round removes at most, so that a first round over years of rows ends.
const SLICES_MAX: u32 = 1_000;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// What a round did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Housekept {
    /// Whether another process was at it, so that nothing was done.
    pub elsewhere: bool,
    /// Policies of TimescaleDB that had failed and were run: `policy_retention of signal_rows`.
    pub policies_run: Vec<String>,
    /// Policies that failed again, with the server's message.
    pub policies_failed: Vec<(String, String)>,
}

/// One round. Rows older than the settings keep are removed in slices, each a transaction of its own. With TimescaleDB
/// its own policies do that for signals and tiers; those whose last run failed are run here.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer; [`PgError::Stop`] for missing rights.
pub async fn housekeep(settings: &PgSettings, now: Time) -> Result<Housekept, PgError> {
    let client = connect(settings).await?;
    let mine: bool =
        client.query_one(include_str!("../../sql/postgres/try_lock.sql"), &[&LOCK]).await?.get(0);
    if !mine {
        return Ok(Housekept { elsewhere: true, ..Housekept::default() });
    }
    let hypertables: bool =
        client.query_one(include_str!("../../sql/postgres/hypertable.sql"), &[]).await?.get(0);
    let done = if hypertables { run_failed_policies(&client).await? } else { Housekept::default() };
    expire(&client, settings, now, hypertables).await?;
    // After an error the lock goes with the connection.
    client.execute(include_str!("../../sql/postgres/unlock.sql"), &[&LOCK]).await?;
    Ok(done)
}

async fn expire(
    client: &Client,
    settings: &PgSettings,
    now: Time,
    has_policies: bool,
) -> Result<(), PgError> {
    let before = |days: Option<f64>| days.map(|days| now.seconds() - days * DAY_S);
    let keep = &settings.retention;
    let tiers = [keep.raw_days, keep.ten_seconds_days, keep.minutes_days, keep.hours_days];
    let [raw, tier, minutes, hours] = tiers.map(|days| if has_policies { None } else { before(days) });
    let ended = before(settings.episodes_days);
    for _ in 0..SLICES_MAX {
        let more: bool = client
            .query_one(
                include_str!("../../sql/postgres/expire.sql"),
                &[&raw, &tier, &minutes, &hours, &ended],
            )
            .await?
            .get(0);
        if !more {
            break;
        }
    }
    if let Some(before) = before(keep.raw_days) {
        client.execute(include_str!("../../sql/postgres/expire_rejected.sql"), &[&before]).await?;
    }
    Ok(())
}

async fn run_failed_policies(client: &Client) -> Result<Housekept, PgError> {
    let mut done = Housekept::default();
    for row in client.query(include_str!("../../sql/postgres/failed_policies.sql"), &[]).await? {
        let (job_id, name): (i32, String) = (row.get(0), row.get(1));
        // A number of the server's own; a procedure that commits takes no parameters in a prepared statement.
        let run = format!(include_str!("../../sql/postgres/run_policy.sql"), job_id = job_id);
        match client.batch_execute(&run).await {
            Ok(()) => done.policies_run.push(name),
            Err(error) if client.is_closed() => return Err(error.into()),
            Err(error) => done.policies_failed.push((name, PgError::from_server(&error).to_string())),
        }
    }
    Ok(done)
}
