//! Bytes that the stages take for each series, counted by the allocator.
//!
//! The stages judge a machine for some minutes, as `tailback replay` has them do. What is allocated then and not freed is theirs:
//! sources of the decoder, order and rates, models, jobs, links. Lists with more room than items count with all of it. The
//! allocator's own rounding is left out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod allocator;
mod machines;

use aggregator::Decoded;
use allocator::live_bytes;
use detector::model::ModelKind;
use detector::settings::Settings;
use machines::{Interfaces, Lines, Machine, Trinity};
use stages::in_process::{InProcess, InProcessSettings};
use std::sync::{Mutex, PoisonError};

/// Seconds of rows: each model has a baseline, and its ring of recent readings is full.
const SECONDS: u32 = 150;
/// Rows that the stages get at a time, as in a replay.
const ROWS_AT_ONCE: usize = 1_000;
/// Most bytes that a series may take.
const LIMIT: f64 = 2_048.0;

/// One test at a time: all would be counted together.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes that stay allocated for each series after [`SECONDS`] of a machine, whose own memory is not counted.
fn bytes_per_series(name: &str, mut machine: impl Machine) -> f64 {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut lines = Lines::default();
    let before = live_bytes();
    let mut stages = InProcess::new(&InProcessSettings::of(Settings::of(ModelKind::Robust)));
    let mut of_machine = live_bytes() - before;
    let (mut decoded, mut signals) = (Decoded::default(), 0);
    for _ in 0..SECONDS {
        let before = live_bytes();
        machine.second(&mut lines);
        of_machine += live_bytes() - before;
        signals = 0;
        for some in lines.chunks(ROWS_AT_ONCE) {
            for (schema, line) in some {
                stages.decoder.json_line(Some(schema), line, &mut decoded);
            }
            stages.feed(&decoded);
            decoded.clear();
            signals += stages.take().signals.len();
        }
    }
    drop(decoded);
    let series = stages.detector().series().len();
    assert_eq!((signals, stages.decoder.drops().total()), (series, 0), "{name}");
    let bytes = (live_bytes() - before - of_machine) as f64 / series as f64;
    eprintln!("{name}: {bytes:.0} bytes a series, of {series}");
    bytes
}

#[test]
fn series_of_slingshot_interfaces_take_two_kilobytes_at_most() {
    let bytes = bytes_per_series("Slingshot interfaces", Interfaces::of(1_300));
    assert!(bytes <= LIMIT, "{bytes}");
}

#[test]
fn series_of_a_trinity_take_two_kilobytes_at_most() {
    let bytes = bytes_per_series("Trinity", Trinity::new(0.05, SECONDS));
    assert!(bytes <= LIMIT, "{bytes}");
}
