//! Retention: rows that are too old or too many are deleted, in slices short enough to run between two commits.

use super::Retention;
use super::commit::BUCKET_US;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use schemas::Time;
use std::path::Path;
use std::time::Duration;

/// Signals deleted by one call.
const SIGNALS_A_SLICE: i64 = 50_000;

/// Episodes or jobs deleted by one call; a job takes its nodes and series with it.
const EPISODES_A_SLICE: i64 = 500;

/// Pages given back to the file system by one call: 16 MiB.
const PAGES_A_SLICE: u64 = 4_096;

/// Size of the write-ahead log from which it is emptied, in bytes.
const LOG_BYTES: u64 = 64 << 20;

/// Deletes one slice, gives space back, shortens the log; `true` if more is due.
pub(super) fn expire(
    connection: &mut Connection,
    path: &Path,
    retention: &Retention,
    now: Time,
) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let aged_signals = expire_signals(&transaction, now.plus_seconds(-retention.signals_s))?;
    let aged_episodes = expire_episodes(&transaction, now.plus_seconds(-retention.episodes_s))?;
    let beyond_size = !aged_signals && expire_by_size(&transaction, retention, now)?;
    transaction.commit()?;
    let vacuum = give_back(connection, retention)?;
    shorten_log(connection, path)?;
    Ok(aged_signals || aged_episodes || beyond_size || vacuum)
}

/// Deletes the oldest signals of buckets that end before `before`; `true` if the slice was not enough.
fn expire_signals(from: &Connection, before: Time) -> rusqlite::Result<bool> {
    let bucket = before.0.div_euclid(BUCKET_US);
    let slice_end = from
        .prepare_cached(include_str!("../../sql/sqlite/signal_slice_end.sql"))?
        .query_row(params![bucket, SIGNALS_A_SLICE], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (bucket, series): (i64, i64) = slice_end.unwrap_or((bucket, i64::MIN));
    from.prepare_cached(include_str!("../../sql/sqlite/expire_signals.sql"))?
        .execute(params![bucket, series])?;
    Ok(slice_end.is_some())
}

/// Deletes ended episodes, regions and jobs from before `before`; `true` if a slice was not enough.
fn expire_episodes(from: &Connection, before: Time) -> rusqlite::Result<bool> {
    let mut more = false;
    for statement in [
        include_str!("../../sql/sqlite/expire_episodes.sql"),
        include_str!("../../sql/sqlite/expire_regions.sql"),
        include_str!("../../sql/sqlite/expire_jobs.sql"),
    ] {
        let parameters = params![before.seconds(), EPISODES_A_SLICE];
        more |= from.prepare_cached(statement)?.execute(parameters)? as i64 == EPISODES_A_SLICE;
    }
    Ok(more)
}

/// If the rows fill more than the file may hold: the oldest signals go, and when none is left but those
/// of the current bucket, the oldest ended episodes and jobs. `true` if a slice went.
fn expire_by_size(from: &Connection, retention: &Retention, now: Time) -> rusqlite::Result<bool> {
    let Some(bytes_max) = retention.bytes_max else {
        return Ok(false);
    };
    // A sixteenth stays free, so that the file need not shrink and grow again at every commit.
    let pages = Pages::read(from)?;
    if pages.used_bytes() <= bytes_max - bytes_max / 16 {
        return Ok(false);
    }
    let oldest: Option<i64> = from
        .prepare_cached(include_str!("../../sql/sqlite/oldest_bucket.sql"))?
        .query_row([], |row| row.get(0))?;
    match oldest.filter(|bucket| *bucket < now.0.div_euclid(BUCKET_US)) {
        Some(bucket) => {
            expire_signals(from, Time((bucket + 1).saturating_mul(BUCKET_US)))?;
            Ok(true)
        }
        None => expire_episodes(from, now),
    }
}

/// Cuts free pages off the file where they are many or the file is too large; `true` if some remain to cut.
fn give_back(connection: &Connection, retention: &Retention) -> rusqlite::Result<bool> {
    let pages = Pages::read(connection)?;
    let too_large = retention.bytes_max.is_some_and(|max| pages.file_bytes() > max);
    if pages.free == 0 || (pages.free < pages.count / 8 && !too_large) {
        return Ok(false);
    }
    let mut vacuum = connection.prepare_cached(include_str!("../../sql/sqlite/give_back.sql"))?;
    let mut rows = vacuum.query([])?;
    // Each step cuts one page.
    while rows.next()?.is_some() {}
    Ok(pages.free > PAGES_A_SLICE)
}

/// Empties the write-ahead log once it is long. A reader in the middle of a query prevents it, and is not
/// waited for: a later call will do it.
fn shorten_log(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(&log).is_ok_and(|m| m.len() > LOG_BYTES) {
        connection.busy_timeout(Duration::ZERO)?;
        let emptied = connection.query_row(include_str!("../../sql/sqlite/empty_log.sql"), [], |_| Ok(()));
        connection.busy_timeout(super::open::BUSY_TIMEOUT)?;
        emptied?;
    }
    Ok(())
}

/// Pages of the file, and how many of them hold nothing.
struct Pages {
    count: u64,
    free: u64,
    bytes: u64,
}

impl Pages {
    fn read(connection: &Connection) -> rusqlite::Result<Pages> {
        let value = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok(Pages {
            count: value("page_count")? as u64,
            free: value("freelist_count")? as u64,
            bytes: value("page_size")? as u64,
        })
    }

    fn used_bytes(&self) -> u64 {
        (self.count - self.free) * self.bytes
    }

    fn file_bytes(&self) -> u64 {
        self.count * self.bytes
    }
}
