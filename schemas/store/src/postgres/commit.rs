//! One transaction for several partitions: results, positions and states, all or nothing.

use super::copy::{CopyBuffer, Copying, TIERS, put_signals};
use super::dividing::{Dividing, Put, RefusedRows};
use super::rows::Of;
use super::{DirectColumnstore, Part, PgError, PgStore, claim, place_buckets, rows};
use crate::storage_policy::{StoredRows, StoredSignal};
use schemas::{ResultBatch, SeriesInfo};
use std::collections::{HashMap, HashSet};
use tokio_postgres::Transaction;

/// Rows of a commit from which COPY goes straight into the columnstore: ten of its batches.
const DIRECT_ROWS: usize = 10_000;

/// What a partition commits.
#[derive(Clone, Copy, Debug)]
pub struct PartCommit<'a> {
    /// The partition.
    pub partition: i32,
    /// Of its claim.
    pub epoch: i64,
    /// Position of its last commit, from the claim or the last `to_position`.
    pub from_position: Option<i64>,
    /// Next offset to read.
    pub to_position: i64,
    /// Results; the signals are taken from `stored`.
    pub results: &'a ResultBatch,
    /// The signals and buckets to keep.
    pub stored: &'a StoredRows,
    /// All series of the partition so far.
    pub table: &'a [SeriesInfo],
    /// State at `to_position`, with the version of its format; `None` leaves the earlier one.
    pub snapshot: Option<(u32, &'a [u8])>,
}

impl<'a> PartCommit<'a> {
    /// Whose rows they are.
    fn of(&self, stage: &'a str, kept: &'a Part) -> Of<'a> {
        Of { stage, partition: self.partition, position: self.to_position, ids: &kept.ids }
    }
}

/// What a commit wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitMetrics {
    /// Rows of `signals`.
    pub signals: u64,
    /// Rows of the tiers: ten seconds, minutes, hours.
    pub buckets: u64,
    /// Bytes of all as sent.
    pub copy_bytes: u64,
    /// Bytes of the snapshots as stored.
    pub snapshot_bytes: u64,
    /// Whether signals went straight into the columnstore.
    pub direct: bool,
    /// Whether the commit had happened before, and its interrupted call could not know.
    pub repeated: bool,
    /// Rows that the server refused, by table.
    pub refused: Vec<RefusedRows>,
}

impl PgStore {
    /// Commits several partitions of a stage in one transaction. After [`PgError::Retry`] the same call is made
    /// again: if the interrupted one had happened, it writes nothing and sets `repeated`. Rows that the server refuses for what
    /// they contain are left out and kept in `rejected_messages`.
    ///
    /// # Errors
    /// [`PgError::Fenced`] if a partition is no longer ours, or was not claimed by this store: nothing was written.
    /// [`PgError::Retry`], [`PgError::Stop`].
    pub async fn commit(&mut self, stage: &str, parts: &[PartCommit<'_>]) -> Result<CommitMetrics, PgError> {
        let mut result = self.try_commit(stage, parts, false).await;
        if matches!(&result, Err(PgError::Refused(_))) {
            result = self.try_commit(stage, parts, true).await;
        }
        // Broken off anywhere, also in the server's answer to COMMIT.
        self.in_doubt = matches!(&result, Err(PgError::Retry(_)));
        if result.is_ok() {
            for part in parts {
                if let Some(kept) = self.parts.get_mut(&(stage.to_string(), part.partition)) {
                    kept.commits += 1;
                }
            }
        }
        self.settle(result)
    }

    /// One try; if it `divides`, without the rows that the server refuses.
    async fn try_commit(
        &mut self,
        stage: &str,
        parts: &[PartCommit<'_>],
        divides: bool,
    ) -> Result<CommitMetrics, PgError> {
        self.ready().await?;
        if self.in_doubt && self.happened(stage, parts).await? {
            return Ok(CommitMetrics { repeated: true, ..CommitMetrics::default() });
        }
        self.number_series(stage, parts, divides).await?;
        let direct = Direct::of(self.hypertable, self.settings.direct_columnstore);
        let PgStore { client, parts: kept, buffer, sums, .. } = self;
        let client = client.as_mut().ok_or_else(|| PgError::retry("the connection is closed"))?;
        let kept = parts.iter().map(|p| known(kept, stage, p.partition)).collect::<Result<Vec<_>, _>>()?;
        let mut writing = Dividing::new(client.transaction().await?, divides);
        advance(&writing.to, stage, parts, &kept).await?;
        let mut metrics = match divides {
            false => copy(&writing.to, parts, &kept, buffer, direct).await?,
            true => copy_divided(&mut writing, stage, parts, &kept).await?,
        };
        sums.begin();
        parts.iter().zip(&kept).for_each(|(part, kept)| sums.add(&part.stored.buckets, &kept.places));
        for (at, (part, kept)) in parts.iter().zip(&kept).enumerate() {
            let of = part.of(stage, kept);
            if at == 0 {
                place_buckets::put(&mut writing, of, sums).await?;
            }
            rows::put(&mut writing, of, part.results).await?;
            if let Some(snapshot) = part.snapshot {
                metrics.snapshot_bytes +=
                    claim::put(&writing.to, stage, part.partition, part.to_position, snapshot).await?;
            }
        }
        metrics.refused = writing.commit().await?;
        Ok(metrics)
    }

    /// Whether an interrupted commit of these parts happened: all of them or none.
    async fn happened(&mut self, stage: &str, parts: &[PartCommit<'_>]) -> Result<bool, PgError> {
        let commits = parts
            .iter()
            .map(|p| known(&self.parts, stage, p.partition).map(|k| k.commits))
            .collect::<Result<Vec<i64>, _>>()?;
        let partitions: Vec<i32> = parts.iter().map(|p| p.partition).collect();
        let epochs: Vec<i64> = parts.iter().map(|p| p.epoch).collect();
        let to: Vec<i64> = parts.iter().map(|p| p.to_position).collect();
        let row = self
            .client()?
            .query_one(
                include_str!("../../sql/postgres/committed.sql"),
                &[&stage, &partitions, &epochs, &commits, &to],
            )
            .await?;
        Ok(!parts.is_empty() && row.get::<_, i64>(0) == parts.len() as i64)
    }
}

/// What is kept of a partition; one that was not claimed belongs to another process.
fn known<'a>(
    kept: &'a HashMap<(String, i32), Part>,
    stage: &str,
    partition: i32,
) -> Result<&'a Part, PgError> {
    kept.get(&(stage.to_string(), partition)).ok_or(PgError::Fenced { partition })
}

/// Which COPY goes straight into the columnstore.
#[derive(Clone, Copy)]
enum Direct {
    Never,
    Always,
    /// Of so many rows.
    From(usize),
}

impl Direct {
    fn of(hypertable: bool, setting: DirectColumnstore) -> Direct {
        match setting {
            _ if !hypertable => Direct::Never,
            DirectColumnstore::On => Direct::Always,
            DirectColumnstore::Off => Direct::Never,
            DirectColumnstore::Auto => Direct::From(DIRECT_ROWS),
        }
    }

    fn goes(self, rows: usize) -> bool {
        match self {
            Direct::Never => false,
            Direct::Always => true,
            Direct::From(least) => rows >= least,
        }
    }
}

/// Moves every position, or none: a process that lost a partition finds its epoch or position changed.
async fn advance(
    to: &Transaction<'_>,
    stage: &str,
    parts: &[PartCommit<'_>],
    kept: &[&Part],
) -> Result<(), PgError> {
    let partitions: Vec<i32> = parts.iter().map(|p| p.partition).collect();
    let epochs: Vec<i64> = parts.iter().map(|p| p.epoch).collect();
    let commits: Vec<i64> = kept.iter().map(|k| k.commits).collect();
    let from: Vec<Option<i64>> = parts.iter().map(|p| p.from_position).collect();
    let positions: Vec<i64> = parts.iter().map(|p| p.to_position).collect();
    let latest: Vec<Option<f64>> = parts.iter().map(|p| latest_s(p.stored)).collect();
    let moved = to
        .query(
            include_str!("../../sql/postgres/advance.sql"),
            &[&stage, &partitions, &epochs, &commits, &from, &positions, &latest],
        )
        .await?;
    let moved: HashSet<i32> = moved.iter().map(|row| row.get(0)).collect();
    match partitions.iter().find(|partition| !moved.contains(partition)) {
        None => Ok(()),
        Some(partition) => Err(PgError::Fenced { partition: *partition }),
    }
}

/// Time of the latest signal, in seconds since the epoch.
fn latest_s(stored: &StoredRows) -> Option<f64> {
    stored.passed.latest.map(|time| time.seconds().clamp(-2e11, 9e12))
}

async fn copy(
    to: &Transaction<'_>,
    parts: &[PartCommit<'_>],
    kept: &[&Part],
    buffer: &mut CopyBuffer,
    direct: Direct,
) -> Result<CommitMetrics, PgError> {
    let signals: usize = parts.iter().map(|p| p.stored.signals.len()).sum();
    let mut metrics = CommitMetrics { signals: signals as u64, ..CommitMetrics::default() };
    let mut is_direct = false;
    if signals > 0 {
        metrics.direct = direct.goes(signals);
        go_direct(to, metrics.direct, &mut is_direct).await?;
        let mut copying =
            Copying::begin(to, include_str!("../../sql/postgres/copy_signals.sql"), buffer).await?;
        for (part, kept) in parts.iter().zip(kept) {
            copying.signals(&part.stored.signals, &kept.ids).await?;
        }
        metrics.copy_bytes += copying.end().await?;
    }
    for tier in &TIERS {
        let rows: usize = parts.iter().map(|p| (tier.rows)(p.stored).len()).sum();
        if rows == 0 {
            continue;
        }
        go_direct(to, direct.goes(rows), &mut is_direct).await?;
        let mut copying = Copying::begin(to, tier.copy, buffer).await?;
        for (part, kept) in parts.iter().zip(kept) {
            copying.buckets((tier.rows)(part.stored), &kept.ids, tier.wide).await?;
        }
        metrics.copy_bytes += copying.end().await?;
        metrics.buckets += rows as u64;
    }
    // A few rows of sums come next.
    go_direct(to, false, &mut is_direct).await?;
    Ok(metrics)
}

/// Writes signals and tiers without the rows that the server refuses.
async fn copy_divided(
    to: &mut Dividing<'_>,
    stage: &str,
    parts: &[PartCommit<'_>],
    kept: &[&Part],
) -> Result<CommitMetrics, PgError> {
    // Refused here, not at the end, where no row can be named.
    to.to.batch_execute(include_str!("../../sql/postgres/check_constraints.sql")).await?;
    let mut metrics = CommitMetrics::default();
    for (part, kept) in parts.iter().zip(kept) {
        let (stored, of) = (part.stored, part.of(stage, kept));
        let put_signals: Put<StoredSignal> = |to, of, rows| Box::pin(put_signals(to, of, rows));
        to.put("signal_rows", of, &stored.signals, put_signals).await?;
        metrics.signals += stored.signals.len() as u64;
        for tier in &TIERS {
            to.put(tier.table, of, (tier.rows)(stored), tier.put).await?;
            metrics.buckets += (tier.rows)(stored).len() as u64;
        }
    }
    Ok(metrics)
}

/// Says for the next COPY of the transaction whether it goes straight into the columnstore.
async fn go_direct(to: &Transaction<'_>, wanted: bool, is_direct: &mut bool) -> Result<(), PgError> {
    if wanted != *is_direct {
        let on_or_off = if wanted { "on" } else { "off" };
        let set = format!(include_str!("../../sql/postgres/direct_copy.sql"), on_or_off = on_or_off);
        to.batch_execute(&set).await?;
        *is_direct = wanted;
    }
    Ok(())
}
