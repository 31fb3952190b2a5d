//! What the stored states are of: four minutes of the simulated cluster, of which the states hold 160 s; and rows that wait in an inbox.

use crate::detecting::{Detecting, DetectingSettings};
use crate::in_process::{InProcess, InProcessSettings};
use crate::stage::{Extent, Stage};
use aggregator::Decoded;
use alerts::AlertSettings;
use detector::fabric::Network;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::{Cluster, Rows, scenario};
use schemas::{JobResult, Time};
use std::sync::Arc;
use store::storage_policy::StoragePolicy;
use support::counters::messages_of;
use topology::Machine;
use topology::generate::Aries;

const SECONDS: usize = 240;
const SAVED_AT: usize = 160;
/// Rows of [`waiting_rows`].
pub const ROWS: u64 = 3 * SECONDS_OF_WRITERS as u64;
const SECONDS_OF_WRITERS: i64 = 40;
const WRITERS: [&str; 3] = ["nid00001", "nid00002", "nid00003"];

fn settings() -> InProcessSettings {
    let routers = Aries { populated: vec!["c0-0c0".to_string(), "c0-0c1".to_string()], ..Aries::new(1) };
    let rules = alerts::rule::load(&[]).unwrap();
    InProcessSettings {
        network: Some(Arc::new(Network::of(Machine::Aries(routers).build().unwrap()))),
        alerts: Arc::new(AlertSettings::new(rules, Vec::new(), &[])),
        ..InProcessSettings::of(Settings::of(ModelKind::Robust))
    }
}

/// Gives the stages the rows of some seconds; the decoder has seen all before.
fn play(stages: &mut InProcess, seconds: std::ops::Range<usize>) {
    let mut cluster = Cluster::new(scenario::demo(), Time::from_seconds(1_700_000_000.0), 1).unwrap();
    let mut rows = Rows::default();
    for second in 0..seconds.end {
        cluster.tick(&mut rows);
        let mut decoded = Decoded::default();
        for (schema, line) in rows.lines() {
            stages.decoder.json_line(Some(schema.name()), line, &mut decoded);
        }
        if second >= seconds.start {
            stages.feed(&decoded);
            stages.take();
        }
    }
}

/// The states of the detector and the roll-up after the first part.
pub fn first_part() -> [Vec<u8>; 2] {
    let mut stages = InProcess::new(&settings());
    play(&mut stages, 0..SAVED_AT);
    stages.write().unwrap()
}

/// The results of jobs after the second part, from states after the first one.
pub fn second_part(states: [(u32, &[u8]); 2]) -> Vec<JobResult> {
    let mut stages = InProcess::read(states, &settings()).unwrap();
    play(&mut stages, SAVED_AT..SECONDS);
    stages.finish();
    stages.job_results()
}

/// The results of jobs without a restart.
pub fn whole() -> Vec<JobResult> {
    let mut stages = InProcess::new(&settings());
    play(&mut stages, 0..SECONDS);
    stages.finish();
    stages.job_results()
}

/// A detector's state with rows that wait for the word that their raw partition was read.
pub fn waiting_rows() -> Vec<u8> {
    let settings = DetectingSettings {
        settings: Settings::of(ModelKind::Robust),
        waiting_rows_max: 1_000,
        storage: Some(StoragePolicy::default()),
        links: false,
        alerts: false,
    };
    let mut stage = Detecting::fresh(0, &settings);
    for second in 0..SECONDS_OF_WRITERS {
        for writer in WRITERS {
            let [row, progress] = messages_of(writer, second);
            stage.message(&row).unwrap();
            if second < SECONDS_OF_WRITERS / 2 {
                stage.message(&progress).unwrap();
            }
        }
    }
    stage.write().unwrap()
}

/// Rows that the database learns of once the rest was read.
pub fn rows_used(mut stage: Detecting) -> u64 {
    let [_, progress] = messages_of(WRITERS[0], SECONDS_OF_WRITERS);
    stage.message(&progress).unwrap();
    stage.drain(0, Extent::Everything).results.last_seen.iter().map(|seen| seen.rows).sum()
}
