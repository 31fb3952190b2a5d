//! States as each version wrote them, in `tests/fixtures/states`: `KIND.VERSION.zst`, and `KIND.VERSION.layout` with a line for
//! each of its fields. `UPDATE_GOLDEN=1` writes those of the current version where they are missing, and changes none.

mod converting;
mod layout;
mod scene;

use super::{Format, restore};
use crate::detecting::Detecting;
use crate::rolling::Rolling;
use crate::stage::Stage;
use layout::Layout;
use schemas::JobResult;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// A stored file of a kind of state; the message has what is missing.
fn stored(kind: &str, version: u32, ending: &str, fresh: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let folder = support::paths::root().join("tests/fixtures/states");
    let file: PathBuf = folder.join(format!("{kind}.{version}.{ending}"));
    if !file.exists() && std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&file, fresh()).unwrap();
    }
    fs::read(&file).unwrap_or_else(|error| {
        panic!("{}: {error}; UPDATE_GOLDEN=1 writes it, once for each version", file.display())
    })
}

fn state(kind: &str, version: u32, fresh: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let packed = stored(kind, version, "zst", || zstd::encode_all(fresh().as_slice(), 19).unwrap());
    zstd::decode_all(packed.as_slice()).unwrap()
}

fn detector(version: u32) -> Vec<u8> {
    state("detector", version, || scene::first_part()[0].clone())
}

fn roll_up(version: u32) -> Vec<u8> {
    state("rollup", version, || scene::first_part()[1].clone())
}

/// Compares the layout with that of the current version's stored state.
fn has_layout_of<S: Stage + Serialize>(kind: &str, bytes: &[u8]) {
    let version = S::FORMAT.version();
    let advice = format!(
        "the layout of {kind} states differs from version {version}: add a converter in detector/stages/src/state.rs, which \
         makes a new version, and write its files with UPDATE_GOLDEN=1"
    );
    let read = S::read(bytes).unwrap_or_else(|error| panic!("{advice} ({error})"));
    let mut found = Layout::default();
    found.add(&read);
    let found: String = found.lines.iter().map(|line| format!("{line}\n")).collect();
    let known = stored(kind, version, "layout", || found.clone().into_bytes());
    let known = String::from_utf8(known).unwrap();
    let differ: Vec<&str> = found.lines().filter(|line| !known.lines().any(|other| other == *line)).collect();
    assert!(found == known, "{advice}; new lines: {differ:#?}");
    assert_eq!(read.write().unwrap().len(), bytes.len(), "{advice}");
}

#[test]
fn layout_of_states_changes_with_their_version_only() {
    has_layout_of::<Detecting>("detector", &detector(Detecting::FORMAT.version()));
    has_layout_of::<Rolling>("rollup", &roll_up(Rolling::FORMAT.version()));
    let version = Detecting::FORMAT.version();
    let waiting = state("detector_inbox", version, scene::waiting_rows);
    has_layout_of::<Detecting>("detector_inbox", &waiting);
}

/// Versions that are read.
fn versions(format: Format) -> std::ops::RangeInclusive<u32> {
    format.oldest..=format.version()
}

/// What jobs lost is about what it is without a restart: another model may judge the second part.
fn are_close(found: &[JobResult], expected: &[JobResult]) {
    let jobs = |results: &[JobResult]| -> Vec<String> {
        results.iter().map(|result| result.job_id.to_string()).collect()
    };
    assert_eq!(jobs(found), jobs(expected));
    for (found, expected) in found.iter().zip(expected) {
        let differ_s = (found.slowdown_s - expected.slowdown_s).abs();
        assert!(differ_s <= 1.0 + 0.1 * expected.slowdown_s, "{found:?} instead of {expected:?}");
    }
}

#[test]
fn states_of_all_versions_continue() {
    let expected = scene::whole();
    assert!(expected.iter().any(|result| result.slowdown_s > 10.0), "{expected:?}");
    let newest = [Detecting::FORMAT.version(), Rolling::FORMAT.version()];
    let pairs = versions(Detecting::FORMAT).map(|version| [version, newest[1]]);
    for [of_detector, of_roll_up] in
        pairs.chain(versions(Rolling::FORMAT).map(|version| [newest[0], version]))
    {
        let states = [(of_detector, &*detector(of_detector)), (of_roll_up, &*roll_up(of_roll_up))];
        are_close(&scene::second_part(states), &expected);
    }
}

#[test]
fn waiting_rows_of_all_versions_are_used() {
    for version in versions(Detecting::FORMAT) {
        let bytes = state("detector_inbox", version, scene::waiting_rows);
        let restored: Detecting = restore(version, &bytes).unwrap();
        assert_eq!(scene::rows_used(restored), scene::ROWS);
    }
}
