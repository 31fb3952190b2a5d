//! The facts of the job as the detector would commit them, in an embedded store.

use super::facts::{at, episodes, job, name, result};
use super::network::{factors, region};
use schemas::{Counts, Metric, ResultBatch, SeriesIndex, SeriesInfo, Signal, State};
use std::path::PathBuf;
use store::sqlite::{Retention, Store};

/// The facts of `contended` as the detector would commit them.
pub(super) fn batch() -> ResultBatch {
    let series =
        |metric, component, part| SeriesInfo { metric, component: name(component), part: Some(name(part)) };
    let write = series(Metric::from_name("lustre_write_rate").unwrap(), "nid00012", "snx11137");
    let stalls = series(Metric::from_name("aries_stall_ratio").unwrap(), "c0-0c1s8", "r0c3");
    let signal = |series, seconds| Signal {
        time: at(seconds),
        series: SeriesIndex(series),
        value: 1.0,
        mean: 1.0,
        baseline: 1.0,
        bound: 1.0,
        state: State::Clear,
        slowdown_s: 0.0,
        counts: Counts::NONE,
    };
    ResultBatch {
        series: vec![(SeriesIndex(0), write), (SeriesIndex(1), stalls)],
        signals: vec![signal(0, 473.0), signal(1, 200.0)],
        episodes: episodes().into_iter().map(|e| e.episode).collect(),
        jobs: vec![job()],
        job_results: vec![result()],
        job_series: vec![(name("4711"), SeriesIndex(0)), (name("4711"), SeriesIndex(1))],
        factors: vec![factors()],
        regions: vec![region(7, "4698", Some("4711")), region(8, "4711", None)],
        ..ResultBatch::default()
    }
}

/// A store with this batch.
pub(super) fn stored(batch: &ResultBatch) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    Store::open(&path, Retention::default()).unwrap().commit(batch, &[]).unwrap();
    (folder, path)
}
