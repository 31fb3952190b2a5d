//! Bringing the schema up to date: numbered migrations, each recorded by name and checksum.

use super::cause::Cause;
use super::connect::connect;
use super::{PgError, PgRetention, PgSettings};
use crate::metrics::MetricRow;
use crate::migrations::{POSTGRES_MIGRATIONS, PgMigration};
use schemas::HealthLimits;
use std::collections::HashMap;
use tokio_postgres::Client;

/// Lock of the migrations in the database, the bytes of `tailback`: two at once would do the same twice.
const LOCK: i64 = i64::from_be_bytes(*b"tailback");

/// The migration that makes the roles.
const ROLES_IN: &str = "0001_schema";

/// How often the policies are tried to be set.
const POLICY_TRIES: u32 = 10;

/// A migration that was applied now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Its name, such as `0001_schema`.
    pub name: &'static str,
}

/// Applies what is missing, in order, each in a transaction of its own, and sets the policies of the tiers.
///
/// # Errors
/// [`PgError::Stop`] for an applied migration whose text changed, for missing rights, or for a database of a newer
/// Tailback; [`PgError::Retry`] when the server does not answer.
pub async fn migrate(settings: &PgSettings) -> Result<Vec<Applied>, PgError> {
    migrate_to(settings, POSTGRES_MIGRATIONS).await
}

/// [`migrate()`] with another list of migrations, such as one with a migration that is not released yet.
///
/// # Errors
/// As [`migrate()`].
pub async fn migrate_to(
    settings: &PgSettings,
    migrations: &'static [PgMigration],
) -> Result<Vec<Applied>, PgError> {
    let mut client = connect(settings).await?;
    // Another process may be migrating: wait until it ends, however long its indexes take.
    client.batch_execute(include_str!("../../sql/postgres/wait_for_locks.sql")).await?;
    client.execute(include_str!("../../sql/postgres/lock.sql"), &[&LOCK]).await?;
    let timescale = prepare(&client, settings).await?;
    let missing = missing(&client, migrations, timescale).await?;
    if missing.iter().any(|migration| migration.name == ROLES_IN) {
        check_roles(&client).await?;
    }
    let mut applied = Vec::with_capacity(missing.len());
    for migration in missing {
        apply(&mut client, migration).await?;
        applied.push(Applied { name: migration.name });
    }
    if timescale {
        // A policy that runs just now may hold a lock that its replacement or a refresh wants: a deadlock, which passes.
        let mut tries = 1;
        while let Err(error) = keep_tiers(&client, settings).await {
            if !error.is_retryable() || tries == POLICY_TRIES {
                return Err(error);
            }
            tries += 1;
        }
    }
    set_retention(&client, &settings.retention).await?;
    put_metrics_with(&client).await?;
    client.execute(include_str!("../../sql/postgres/unlock.sql"), &[&LOCK]).await?;
    Ok(applied)
}

/// Names of the migrations that [`migrate`] would apply.
///
/// # Errors
/// As [`migrate()`].
pub async fn pending(settings: &PgSettings) -> Result<Vec<&'static str>, PgError> {
    let client = connect(settings).await?;
    let timescale = settings.timescale && timescale_usable(&client).await?;
    Ok(missing(&client, POSTGRES_MIGRATIONS, timescale).await?.iter().map(|m| m.name).collect())
}

/// Refuses a schema that lacks a migration; those for TimescaleDB may come later.
pub(super) async fn check_schema(client: &Client) -> Result<(), PgError> {
    let lacking = missing(client, POSTGRES_MIGRATIONS, false).await?;
    match lacking.first() {
        None => Ok(()),
        Some(first) => {
            Err(PgError::of(Cause::Schema, format!("the database lacks the migration {}", first.name)))
        }
    }
}

/// Refuses an account that would have to make the roles and may not.
async fn check_roles(client: &Client) -> Result<(), PgError> {
    let row = client.query_one(include_str!("../../sql/postgres/missing_roles.sql"), &[]).await?;
    let (user, may, missing): (String, bool, Vec<String>) = (row.get(0), row.get(1), row.get(2));
    if may || missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = missing.iter().map(|role| format!("CREATE ROLE {role} NOLOGIN;")).collect();
    let text = format!("roles are missing, and {user} may not create them: {}", lines.join(" "));
    Err(PgError::of(Cause::Roles, text))
}

/// Makes the table of migrations and, where available, the extension; returns whether it is there.
async fn prepare(client: &Client, settings: &PgSettings) -> Result<bool, PgError> {
    client.batch_execute(include_str!("../../sql/postgres/schema_migrations.sql")).await?;
    if !settings.timescale || !timescale_usable(client).await? {
        return Ok(false);
    }
    client.batch_execute(include_str!("../../sql/postgres/create_timescale.sql")).await?;
    Ok(true)
}

/// Whether the extension is installed in the database, or loaded by the server and installable.
async fn timescale_usable(client: &Client) -> Result<bool, PgError> {
    Ok(client.query_one(include_str!("../../sql/postgres/timescale_usable.sql"), &[]).await?.get(0))
}

async fn missing(
    client: &Client,
    migrations: &'static [PgMigration],
    timescale: bool,
) -> Result<Vec<&'static PgMigration>, PgError> {
    let there: bool =
        client.query_one(include_str!("../../sql/postgres/has_migrations.sql"), &[]).await?.get(0);
    let mut recorded = HashMap::new();
    if there {
        for row in client.query(include_str!("../../sql/postgres/recorded_migrations.sql"), &[]).await? {
            recorded.insert(row.get::<_, String>(0), row.get::<_, i64>(1));
        }
    }
    let mut missing = Vec::new();
    for migration in migrations {
        match recorded.remove(migration.name) {
            Some(sum) if sum == checksum(migration.sql) => {}
            Some(_) => {
                let name = migration.name;
                return Err(PgError::stop(format!(
                    "the migration {name} was applied with another text: the database belongs to another build"
                )));
            }
            None if migration.timescale && !timescale => {}
            None => missing.push(migration),
        }
    }
    match recorded.keys().min() {
        None => Ok(missing),
        Some(name) => Err(PgError::stop(format!(
            "the database has the migration {name}, which this Tailback does not know: use a newer one"
        ))),
    }
}

async fn apply(client: &mut Client, migration: &PgMigration) -> Result<(), PgError> {
    let name = |e: tokio_postgres::Error| match PgError::from_server(&e) {
        PgError::Stop(why) => PgError::of(why.cause, format!("migration {}: {}", migration.name, &*why)),
        PgError::Refused(text) => PgError::stop(format!("migration {}: {text}", migration.name)),
        other => other,
    };
    let transaction = client.transaction().await?;
    transaction.batch_execute(migration.sql).await.map_err(name)?;
    let version: i32 = migration.name.split('_').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    transaction
        .execute(
            include_str!("../../sql/postgres/put_migration.sql"),
            &[&version, &migration.name, &checksum(migration.sql)],
        )
        .await?;
    transaction.commit().await.map_err(name)
}

/// Aggregates what was there before the aggregates, before there are policies, which do not reach back so far and drop what is old.
/// From the oldest row of the tier below: a refresh of what was dropped there would empty an aggregate. Each by itself: a refresh
/// commits, which a statement among others cannot.
async fn aggregate_history(client: &Client) -> Result<(), PgError> {
    for refresh in client.query(include_str!("../../sql/postgres/history_refreshes.sql"), &[]).await? {
        client.batch_execute(refresh.get(0)).await?;
    }
    Ok(())
}

async fn keep_tiers(client: &Client, settings: &PgSettings) -> Result<(), PgError> {
    aggregate_history(client).await?;
    set_policies(client, &settings.retention, settings.merge_after_hours).await
}

async fn set_policies(client: &Client, keep: &PgRetention, merge_hours: Option<f64>) -> Result<(), PgError> {
    let merge_days = merge_hours.map(|hours| hours / 24.0);
    client
        .execute(
            include_str!("../../sql/postgres/set_policies.sql"),
            &[&merge_days, &keep.raw_days, &keep.ten_seconds_days, &keep.minutes_days, &keep.hours_days],
        )
        .await?;
    Ok(())
}

/// Returns which tiers may contain an old span.
async fn set_retention(client: &Client, keep: &PgRetention) -> Result<(), PgError> {
    let days = [&keep.raw_days, &keep.ten_seconds_days, &keep.minutes_days, &keep.hours_days];
    client.execute(include_str!("../../sql/postgres/set_retention.sql"), &days.map(|days| days as _)).await?;
    Ok(())
}

/// Stores the catalogue of metrics.
///
/// # Errors
/// [`PgError::Retry`] when the server does not answer; [`PgError::Stop`] for missing rights.
pub async fn put_metrics(settings: &PgSettings) -> Result<(), PgError> {
    put_metrics_with(&connect(settings).await?).await
}

/// Stores the limits of Tailback's own condition.
///
/// # Errors
/// As of [`put_metrics`].
pub async fn put_health_limits(settings: &PgSettings, limits: &HealthLimits) -> Result<(), PgError> {
    let limits = limits.all();
    let names: Vec<_> = limits.iter().map(|limit| limit.name).collect();
    let above: Vec<_> = limits.iter().map(|limit| limit.above).collect();
    let meanings: Vec<_> = limits.iter().map(|limit| limit.meaning).collect();
    let sql = include_str!("../../sql/postgres/put_health_limits.sql");
    connect(settings).await?.execute(sql, &[&names, &above, &meanings]).await?;
    Ok(())
}

/// Stores how many messages each stage has not read yet.
///
/// # Errors
/// As of [`put_metrics`].
pub async fn put_backlog(settings: &PgSettings, unread: &[(&str, i64)]) -> Result<(), PgError> {
    let (stages, messages): (Vec<&str>, Vec<i64>) = unread.iter().copied().unzip();
    let sql = include_str!("../../sql/postgres/put_backlog.sql");
    connect(settings).await?.execute(sql, &[&stages, &messages]).await?;
    Ok(())
}

async fn put_metrics_with(client: &Client) -> Result<(), PgError> {
    let rows: Vec<_> = crate::metrics::rows().collect();
    let column = |of: fn(&MetricRow) -> &'static str| rows.iter().map(of).collect::<Vec<_>>();
    let resources: Vec<_> = rows.iter().map(|row| row.resource).collect();
    let (names, subjects, titles) =
        (column(|row| row.metric), column(|row| row.subject), column(|row| row.title));
    let (units, directions) = (column(|row| row.unit), column(|row| row.direction));
    let measures = column(|row| row.measures);
    client
        .execute(
            include_str!("../../sql/postgres/put_metrics.sql"),
            &[&names, &subjects, &titles, &units, &directions, &measures, &resources],
        )
        .await?;
    Ok(())
}

/// FNV-1a over 64 bits: it detects an edited file, not an attacker.
fn checksum(text: &str) -> i64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step).cast_signed()
}
