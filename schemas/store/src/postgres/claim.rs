//! Taking a partition, giving it back, and the snapshot of its state.

use super::{Part, PgError, PgStore};
use tokio_postgres::{Row, Transaction};

/// Largest chunk of a snapshot, in bytes: a row of it fits the server's messages with room to spare.
const CHUNK_BYTES: usize = 8 << 20;

/// Lock of the states: each process with claimed partitions shares it for as long as it is connected.
pub(super) const STAGES_LOCK: i64 = i64::from_be_bytes(*b"tailback") + 1;

/// Level of zstd: the fastest; higher ones cost several times the time for a tenth of the bytes.
const LEVEL: i32 = 1;

/// A claimed partition, with the position to continue from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Distinguishes this claim from earlier ones, which cannot commit any more.
    pub epoch: i64,
    /// How often all states were reset; it determines the numbers that a fresh state gives.
    pub generation: i64,
    /// Next message to read; `None` if nothing was committed yet.
    pub position: Option<i64>,
    /// Commits of the partition in this database.
    pub commits: i64,
    /// Kafka's offset of a message is its position less this.
    pub offset_base: i64,
    /// Kafka's identity of the topic, at this claim or the last one that knew it.
    pub topic_id: Option<String>,
    /// The latest state kept; what lies between its position and `position` was committed but has to be read again
    /// to bring the state up to date.
    pub snapshot: Option<Snapshot>,
}

/// State of a stage at a position of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Next message to read for this state.
    pub position: i64,
    /// Version of its format.
    pub version: u32,
    /// The bytes as they were given to the commit.
    pub content: Vec<u8>,
}

impl Claim {
    /// Whether the state is an imported one, of which the database has no results yet.
    pub fn is_imported(&self) -> bool {
        self.commits == 0 && self.snapshot.is_some()
    }

    /// The first message to read: the one after the snapshot, or the first of a topic that was created again since.
    pub fn begin(&self) -> i64 {
        self.snapshot.as_ref().map_or(0, |snapshot| snapshot.position).max(self.offset_base)
    }
}

impl PgStore {
    /// Takes a partition of a stage's input for `owner`. `topic_id` is Kafka's identity of the topic: if it is another one than
    /// at the last claim, the topic was created again, and its first message follows the last one committed.
    ///
    /// The owner before cannot commit any more; its commit that is under way is waited for.
    ///
    /// # Errors
    /// [`PgError::Retry`], or [`PgError::Stop`] for a snapshot that is damaged.
    pub async fn claim(
        &mut self,
        stage: &str,
        partition: i32,
        owner: &str,
        topic_id: Option<&str>,
    ) -> Result<Claim, PgError> {
        let result = self.try_claim(stage, partition, owner, topic_id).await;
        self.settle(result)
    }

    async fn try_claim(
        &mut self,
        stage: &str,
        partition: i32,
        owner: &str,
        topic_id: Option<&str>,
    ) -> Result<Claim, PgError> {
        self.ready().await?;
        self.mark_active().await?;
        let transaction = self.client()?.transaction().await?;
        let row = transaction
            .query_one(include_str!("../../sql/postgres/claim.sql"), &[&stage, &partition, &owner, &topic_id])
            .await?;
        let snapshot = load(&transaction, stage, partition).await?;
        // Durable whatever the setting: a forgotten claim would let its predecessor commit again.
        transaction.batch_execute(include_str!("../../sql/postgres/commit_durably.sql")).await?;
        transaction.commit().await?;
        let (epoch, position, commits, generation) = (row.get(0), row.get(1), row.get(2), row.get(3));
        self.parts.insert((stage.to_string(), partition), Part { commits, ..Part::default() });
        let (offset_base, topic_id) = (row.get(4), row.get(5));
        Ok(Claim { epoch, generation, position, commits, offset_base, topic_id, snapshot })
    }

    /// Holds the session's lock by which an import sees that stages run; it waits for an import that is under way.
    pub(super) async fn mark_active(&mut self) -> Result<(), PgError> {
        if !self.is_marked {
            let lock = include_str!("../../sql/postgres/lock_stages_shared.sql");
            self.client()?.execute(lock, &[&STAGES_LOCK]).await?;
            self.is_marked = true;
        }
        Ok(())
    }

    /// Gives a partition back, so that it has no owner; without effect if another process owns it by now.
    ///
    /// # Errors
    /// [`PgError::Retry`]; the claim of the next owner makes up for it.
    pub async fn release(&mut self, stage: &str, partition: i32, epoch: i64) -> Result<(), PgError> {
        self.forget_partition(stage, partition);
        let result = self.try_release(stage, partition, epoch).await;
        self.settle(result)
    }

    async fn try_release(&mut self, stage: &str, partition: i32, epoch: i64) -> Result<(), PgError> {
        self.ready().await?;
        self.client()?
            .execute(include_str!("../../sql/postgres/release.sql"), &[&stage, &partition, &epoch])
            .await?;
        Ok(())
    }

    /// Deletes the positions and states of all stages; returns how many partitions that were. States that start again
    /// number their episodes and regions from a new generation's first number, so existing ones are kept. The current
    /// minute and the current hour become rows with what is known of them.
    ///
    /// # Errors
    /// [`PgError`] as for any other call.
    pub async fn forget_positions(&mut self) -> Result<u64, PgError> {
        self.ready().await?;
        let transaction = self.client()?.transaction().await?;
        // The hours first: minutes that are written are no longer made of anything.
        transaction.execute(include_str!("../../sql/postgres/keep_open_hours.sql"), &[]).await?;
        transaction.execute(include_str!("../../sql/postgres/keep_open_minutes.sql"), &[]).await?;
        transaction.execute(include_str!("../../sql/postgres/next_generation.sql"), &[]).await?;
        transaction.execute(include_str!("../../sql/postgres/clear_snapshots.sql"), &[]).await?;
        let forgotten =
            transaction.execute(include_str!("../../sql/postgres/clear_positions.sql"), &[]).await?;
        transaction.commit().await?;
        Ok(forgotten)
    }

    /// Forgets what is kept in memory of a partition, as after it was revoked or fenced.
    pub fn forget_partition(&mut self, stage: &str, partition: i32) {
        self.parts.remove(&(stage.to_string(), partition));
    }
}

async fn load(from: &Transaction<'_>, stage: &str, partition: i32) -> Result<Option<Snapshot>, PgError> {
    let rows =
        from.query(include_str!("../../sql/postgres/load_snapshot.sql"), &[&stage, &partition]).await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let (position, version): (i64, i32) = (first.get(0), first.get(1));
    let packed = joined(&rows);
    let content = zstd::stream::decode_all(packed.as_slice()).map_err(|e| {
        PgError::stop(format!(
            "the state of {stage}, partition {partition}, is damaged ({e}): restore the database from a backup"
        ))
    })?;
    Ok(Some(Snapshot { position, version: version.cast_unsigned(), content }))
}

/// The compressed bytes of a snapshot; none if there is none.
pub(super) async fn packed(from: &Transaction<'_>, stage: &str, partition: i32) -> Result<Vec<u8>, PgError> {
    let query = include_str!("../../sql/postgres/load_snapshot.sql");
    Ok(joined(&from.query(query, &[&stage, &partition]).await?))
}

fn joined(chunks: &[Row]) -> Vec<u8> {
    chunks.iter().map(|row| row.get::<_, &[u8]>(2)).collect::<Vec<_>>().concat()
}

/// Replaces the snapshot of a partition; returns the bytes it takes in the database.
pub(super) async fn put(
    to: &Transaction<'_>,
    stage: &str,
    partition: i32,
    position: i64,
    (version, content): (u32, &[u8]),
) -> Result<u64, PgError> {
    let packed = zstd::bulk::compress(content, LEVEL)
        .map_err(|e| PgError::stop(format!("the state cannot be compressed: {e}")))?;
    put_packed(to, stage, partition, position, (version, &packed)).await?;
    Ok(packed.len() as u64)
}

/// Replaces the snapshot of a partition by compressed bytes; by none if they are empty.
pub(super) async fn put_packed(
    to: &Transaction<'_>,
    stage: &str,
    partition: i32,
    position: i64,
    (version, packed): (u32, &[u8]),
) -> Result<(), PgError> {
    to.execute(include_str!("../../sql/postgres/clear_snapshot.sql"), &[&stage, &partition]).await?;
    let put = to.prepare(include_str!("../../sql/postgres/put_snapshot.sql")).await?;
    for (number, chunk) in packed.chunks(CHUNK_BYTES).enumerate() {
        let (version, number) = (version.cast_signed(), number as i32);
        to.execute(&put, &[&stage, &partition, &position, &version, &number, &chunk]).await?;
    }
    Ok(())
}
