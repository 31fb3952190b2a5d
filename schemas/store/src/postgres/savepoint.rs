//! States and positions to a savepoint, and from one.

use super::claim::{STAGES_LOCK, packed, put_packed};
use super::connect::{connect, connect_to_read};
use super::migrate::check_schema;
use super::{PgError, PgSettings};
use crate::savepoint::{Head, SavedState, SavepointError, SavepointReader, SavepointWriter, StateHead};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use tokio_postgres::{Client, GenericClient, IsolationLevel, Row, Transaction};

/// A state that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedState {
    /// As the savepoint has it.
    pub head: StateHead,
    /// The next message of which results are written: later than the state's if the database had been read further.
    pub position: Option<i64>,
}

/// States of the database, without their bytes and checksums.
///
/// # Errors
/// [`PgError`] of the connection, or for missing rights.
pub async fn stored_states(settings: &PgSettings) -> Result<Vec<StateHead>, PgError> {
    let client = connect_to_read(settings).await?;
    check_schema(&client).await?;
    heads(&client).await
}

/// Writes all states as they are at one moment; `head` gets their generation. Returns the file and the heads.
///
/// # Errors
/// A database without states, or one that does not answer or lacks rights; a disk that refuses.
pub async fn export_states<W: Write>(
    settings: &PgSettings,
    head: impl FnOnce(i64) -> Head,
    out: W,
) -> Result<(W, Vec<StateHead>), SavepointError> {
    let mut client = connect_to_read(settings).await?;
    check_schema(&client).await?;
    let from = at_one_moment(&mut client).await?;
    let stored = heads(&from).await?;
    if stored.iter().all(|state| state.version.is_none()) {
        return Err(SavepointError::Refused("the database holds no states".to_string()));
    }
    let mut writer = SavepointWriter::new(out, &head(generation(&from).await?))?;
    let mut written = Vec::with_capacity(stored.len());
    for head in stored {
        let content = packed(&from, &head.stage, head.partition).await?;
        written.push(writer.state(&SavedState { head, content })?);
    }
    Ok((writer.finish()?, written))
}

/// Puts all states of a savepoint into the database in one transaction. Without `replaces` the database must hold none.
///
/// # Errors
/// A process that works with the states, states in the way, topics that differ, a savepoint that is damaged: nothing is
/// changed then.
pub async fn import_states<R: BufRead>(
    settings: &PgSettings,
    savepoint: &mut SavepointReader<R>,
    replaces: bool,
) -> Result<Vec<ImportedState>, SavepointError> {
    let mut client = connect(settings).await?;
    check_schema(&client).await?;
    let to = client.transaction().await.map_err(PgError::from)?;
    refuse_active(&to).await?;
    let mut known: BTreeMap<(String, i32), StateHead> = BTreeMap::new();
    for state in heads(&to).await? {
        known.insert((state.stage.clone(), state.partition), state);
    }
    if !known.is_empty() && !replaces {
        let text =
            "the database holds states already: import into an empty one, or replace them with --force";
        return Err(SavepointError::Refused(text.to_string()));
    }
    set_generation(&to, savepoint.head.generation, known.is_empty()).await?;
    let mut imported = Vec::new();
    while let Some(state) = savepoint.next_state()? {
        let known = known.remove(&(state.head.stage.clone(), state.head.partition));
        refuse_other_topic(&state.head, known.as_ref())?;
        imported.push(put(&to, state).await?);
    }
    if let Some((stage, partition)) = known.keys().next() {
        return Err(SavepointError::Refused(format!(
            "the database holds a state of {stage}/{partition}, and the savepoint has none: it is of fewer partitions; \
             import into an empty database"
        )));
    }
    to.commit().await.map_err(PgError::from)?;
    Ok(imported)
}

async fn at_one_moment(client: &mut Client) -> Result<Transaction<'_>, PgError> {
    let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    Ok(transaction.read_only(true).start().await?)
}

async fn heads(from: &impl GenericClient) -> Result<Vec<StateHead>, PgError> {
    let rows = from.query(include_str!("../../sql/postgres/stored_states.sql"), &[]).await?;
    Ok(rows.iter().map(head).collect())
}

fn head(row: &Row) -> StateHead {
    let (version, bytes): (Option<i32>, i64) = (row.get(2), row.get(6));
    StateHead {
        stage: row.get(0),
        partition: row.get(1),
        version: version.map(i32::cast_unsigned),
        position: row.get(3),
        offset_base: row.get(4),
        topic_id: row.get(5),
        bytes: bytes.cast_unsigned(),
        sha256: String::new(),
    }
}

async fn generation(from: &Transaction<'_>) -> Result<i64, PgError> {
    Ok(from.query_one(include_str!("../../sql/postgres/state_generation.sql"), &[]).await?.get(0))
}

/// States continue in the generation in which they were exported, so that messages of it count that are still on their way.
/// Where states of a later generation have worked since, all messages of before are skipped.
async fn set_generation(to: &Transaction<'_>, saved: i64, is_empty: bool) -> Result<(), PgError> {
    let found = generation(to).await?;
    let wanted = if is_empty || found <= saved { saved } else { found + 1 };
    if wanted != found {
        to.execute(include_str!("../../sql/postgres/set_generation.sql"), &[&wanted]).await?;
    }
    Ok(())
}

async fn refuse_active(to: &Transaction<'_>) -> Result<(), SavepointError> {
    let lock = include_str!("../../sql/postgres/try_lock_stages.sql");
    let row = to.query_one(lock, &[&STAGES_LOCK]).await.map_err(PgError::from)?;
    match row.get(0) {
        true => Ok(()),
        false => Err(SavepointError::Refused(
            "a `tailback run` works with the states of this database: stop all detectors and roll-ups first"
                .to_string(),
        )),
    }
}

/// Positions count messages of one topic: those of another one cannot be compared with them.
fn refuse_other_topic(saved: &StateHead, known: Option<&StateHead>) -> Result<(), SavepointError> {
    let Some(known) = known else { return Ok(()) };
    match (&saved.topic_id, &known.topic_id) {
        (Some(saved_id), Some(known_id)) if saved_id != known_id => Err(SavepointError::Refused(format!(
            "{}/{} of the database has read topic {known_id}, the savepoint is of topic {saved_id}: import into an empty \
             database",
            saved.stage, saved.partition
        ))),
        _ => Ok(()),
    }
}

async fn put(to: &Transaction<'_>, state: SavedState) -> Result<ImportedState, PgError> {
    let SavedState { head, content } = state;
    let position = head.version.map(|_| head.position);
    let row = to
        .query_one(
            include_str!("../../sql/postgres/import_position.sql"),
            &[&head.stage, &head.partition, &position, &head.topic_id, &head.offset_base],
        )
        .await?;
    let version = head.version.unwrap_or_default();
    put_packed(to, &head.stage, head.partition, head.position, (version, &content)).await?;
    Ok(ImportedState { head, position: row.get(0) })
}
