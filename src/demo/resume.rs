//! What a restart after `kill -9` continues from: the detector's state and the position in the input,
//! committed in one transaction with the results.

use crate::pipeline::Pipeline;
use anyhow::Context;
use detector::alerts::{Alerts, STATE_VERSION as ALERTS_VERSION};
use detector::detector::{Detector, STATE_VERSION};
use detector::fabric::{Fabric, STATE_VERSION as FABRIC_VERSION};
use detector::store::{Retention, StateBlob, Store};
use schemas::ResultBatch;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Times that a commit waits for another process' lock.
const COMMIT_TRIES: u32 = 5;
/// Version of [`Position`].
const POSITION_VERSION: u8 = 1;

/// Where a demo stands. The simulation is deterministic, so seed, start and ticks are all of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Seed of the simulation.
    pub seed: u64,
    /// First simulated second, in seconds since the epoch.
    pub start_s: i64,
    /// Simulated seconds whose results are committed.
    pub ticks: u64,
    /// Whether the demo ended and nothing is left to continue.
    pub ended: bool,
}

/// What a demo that was killed left.
pub struct Left {
    /// Where it stood.
    pub position: Position,
    /// Its detector.
    pub detector: Detector,
    /// Its view of all links, without the network.
    pub fabric: Fabric,
    /// Its alerts, without their rules.
    pub alerts: Alerts,
}

/// Opens the store: to continue if a demo was killed, to restart otherwise. A file that is no demo's stays as it is.
///
/// # Errors
/// A file that holds something else, or a disk that refuses.
pub fn open(path: &Path) -> anyhow::Result<(Store, Option<Left>)> {
    if !path.exists() {
        return Ok((Store::open(path, Retention::default())?, None));
    }
    let store = Store::open(path, Retention::default())?;
    let position = load_position(&store)?;
    anyhow::ensure!(
        position.is_some() || store.load_series()?.is_empty(),
        "{} holds no demo; name another file with --store",
        path.display()
    );
    if let Some(position) = position.filter(|position| !position.ended)
        && let Some(state) = load(&store, "detector", STATE_VERSION)?
        && let Some(links) = load(&store, "fabric", FABRIC_VERSION)?
        && let Some(alerts) = load(&store, "alerts", ALERTS_VERSION)?
    {
        let damaged = || format!("the detector's state in {} is damaged", path.display());
        let detector = postcard::from_bytes(&state).with_context(damaged)?;
        let fabric = postcard::from_bytes(&links).with_context(damaged)?;
        let alerts = postcard::from_bytes(&alerts).with_context(damaged)?;
        return Ok((store, Some(Left { position, detector, fabric, alerts })));
    }
    drop(store);
    Store::remove(path).with_context(|| format!("{} cannot be replaced", path.display()))?;
    Ok((Store::open(path, Retention::default())?, None))
}

/// Commits results, position and state together.
///
/// # Errors
/// The store's.
pub fn commit(
    store: &mut Store,
    batch: &ResultBatch,
    pipeline: &Pipeline,
    position: &Position,
) -> anyhow::Result<()> {
    let state = postcard::to_allocvec(&pipeline.detector)?;
    let links = pipeline.fabric.as_ref().map(postcard::to_allocvec).transpose()?.unwrap_or_default();
    let alerts = pipeline.alerts.as_ref().map(postcard::to_allocvec).transpose()?.unwrap_or_default();
    let bytes = postcard::to_allocvec(position)?;
    let states = [
        StateBlob { name: "detector", version: STATE_VERSION.into(), content: &state },
        StateBlob { name: "fabric", version: FABRIC_VERSION.into(), content: &links },
        StateBlob { name: "alerts", version: ALERTS_VERSION.into(), content: &alerts },
        StateBlob { name: "demo", version: POSITION_VERSION.into(), content: &bytes },
    ];
    let mut tries = 1;
    while let Err(error) = store.commit(batch, &states) {
        // Another process holds the lock; the store has waited for it already.
        anyhow::ensure!(error.is_retryable() && tries < COMMIT_TRIES, error);
        tries += 1;
    }
    if let Some(newest) = pipeline.detector.newest() {
        store.expire(newest)?;
    }
    Ok(())
}

fn load_position(store: &Store) -> anyhow::Result<Option<Position>> {
    let content = load(store, "demo", POSITION_VERSION)?;
    Ok(content.and_then(|content| postcard::from_bytes(&content).ok()))
}

/// The state of that name, if it has this version.
fn load(store: &Store, name: &str, version: u8) -> anyhow::Result<Option<Vec<u8>>> {
    let state = store.load_state(name)?.filter(|(found, _)| *found == u32::from(version));
    Ok(state.map(|(_, content)| content))
}
