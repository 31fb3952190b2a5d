//! What a restart after `kill -9` continues from: the states of the stages and the position in the input,
//! committed in one transaction with the results.

use anyhow::Context;
use schemas::ResultBatch;
use serde::{Deserialize, Serialize};
use stages::detecting::Detecting;
use stages::in_process::{InProcess, InProcessSettings};
use stages::rolling::Rolling;
use stages::stage::Stage;
use std::path::Path;
use store::sqlite::{Retention, StateBlob, Store};

/// Times that a commit waits for another process' lock.
const COMMIT_TRIES: u32 = 5;
/// Slices of old results that go with one commit; as fast as possible, a commit adds many seconds.
const EXPIRED_SLICES: u32 = 32;
/// Version of [`Position`].
const POSITION_VERSION: u32 = 1;

/// Where a demo stands. The simulation is deterministic, so seed, start and ticks are all of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
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
pub(super) struct Left {
    /// Where it stood.
    pub position: Position,
    /// Its stages.
    pub stages: InProcess,
}

/// Opens the store: to continue if a demo was killed, to restart otherwise. A file that is no demo's stays as it is.
///
/// # Errors
/// A file that holds something else, or a disk that refuses.
pub(super) fn open(
    path: &Path,
    settings: &InProcessSettings,
    bytes_max: u64,
) -> anyhow::Result<(Store, Option<Left>)> {
    let retention = Retention { bytes_max: Some(bytes_max), ..Retention::default() };
    if !path.exists() {
        return Ok((Store::open(path, retention)?, None));
    }
    let store = Store::open(path, retention)?;
    let position = load_position(&store)?;
    anyhow::ensure!(
        position.is_some() || store.load_series()?.is_empty(),
        "{} holds no demo; name another file with --store",
        path.display()
    );
    if let Some(position) = position.filter(|position| !position.ended)
        && let Some((version, detector)) = store.load_state(Detecting::STAGE)?
        && let Some((rolling_version, rolling)) = store.load_state(Rolling::STAGE)?
    {
        let states = [(version, detector.as_slice()), (rolling_version, rolling.as_slice())];
        let stages = InProcess::read(states, settings).with_context(|| {
            let file = path.display();
            format!("the demo in {file} cannot continue; delete it, or name another file with --store")
        })?;
        return Ok((store, Some(Left { position, stages })));
    }
    drop(store);
    Store::remove(path).with_context(|| format!("{} cannot be replaced", path.display()))?;
    Ok((Store::open(path, retention)?, None))
}

/// Commits results, position and state together.
///
/// # Errors
/// The store's.
pub(super) fn commit(
    store: &mut Store,
    batch: &ResultBatch,
    stages: &InProcess,
    position: &Position,
) -> anyhow::Result<()> {
    let [detector, roll_up] = stages.write()?;
    let bytes = postcard::to_allocvec(position)?;
    let states = [
        StateBlob { name: Detecting::STAGE, version: Detecting::FORMAT.version(), content: &detector },
        StateBlob { name: Rolling::STAGE, version: Rolling::FORMAT.version(), content: &roll_up },
        StateBlob { name: "demo", version: POSITION_VERSION, content: &bytes },
    ];
    let mut tries = 1;
    while let Err(error) = store.commit(batch, &states) {
        // Another process holds the lock; the store has waited for it already.
        anyhow::ensure!(error.is_retryable() && tries < COMMIT_TRIES, error);
        tries += 1;
    }
    if let Some(newest) = stages.detector().newest() {
        for _ in 0..EXPIRED_SLICES {
            if !store.expire(newest)? {
                break;
            }
        }
    }
    Ok(())
}

fn load_position(store: &Store) -> anyhow::Result<Option<Position>> {
    let state = store.load_state("demo")?.filter(|(version, _)| *version == POSITION_VERSION);
    Ok(state.and_then(|(_, content)| postcard::from_bytes(&content).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use detector::model::ModelKind;
    use detector::settings::Settings;

    #[test]
    fn demo_of_a_newer_version_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("demo.db");
        let settings = InProcessSettings::of(Settings::of(ModelKind::Robust));
        let (mut store, left) = open(&path, &settings, 1 << 30).unwrap();
        assert!(left.is_none());
        let position = Position { seed: 1, start_s: 0, ticks: 7, ended: false };
        commit(&mut store, &ResultBatch::default(), &InProcess::new(&settings), &position).unwrap();
        drop(store);
        let (mut store, left) = open(&path, &settings, 1 << 30).unwrap();
        assert_eq!(left.map(|left| left.position), Some(position));
        let newer = StateBlob { name: Detecting::STAGE, version: 4_000, content: b"unknown" };
        store.commit(&ResultBatch::default(), &[newer]).unwrap();
        drop(store);
        let error = open(&path, &settings, 1 << 30).map(|_| ()).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("a newer Tailback") && text.contains("--store"), "{text}");
        let store = Store::open(&path, Retention::default()).unwrap();
        assert_eq!(store.load_state(Detecting::STAGE).unwrap(), Some((4_000, b"unknown".to_vec())));
    }
}
