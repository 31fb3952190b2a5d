//! The facts of the job as the detector would commit them, in an embedded store.

use super::facts::{at, cause, episodes, job, name, result};
use super::network::{factors, region};
use schemas::{
    Cause, CauseKind, Counts, Job, JobResult, Metric, ResultBatch, SeriesIndex, SeriesInfo, Signal, State,
};
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
        jobs: [vec![job()], ["4698", "4700"].map(without_nodes).to_vec()].concat(),
        job_results: [vec![result()], victims()].concat(),
        job_series: vec![(name("4711"), SeriesIndex(0)), (name("4711"), SeriesIndex(1))],
        factors: vec![factors()],
        regions: vec![region(7, "4698", Some("4711")), region(8, "4711", None)],
        ..ResultBatch::default()
    }
}

/// A job of which only number and times are known.
fn without_nodes(job_id: &str) -> Job {
    Job { job_id: name(job_id), nodes: Vec::new(), ..job() }
}

/// Jobs that lost half of their loss to the job, one of them to two sorts of its traffic.
fn victims() -> Vec<JobResult> {
    let of = |job_id: &str, lost: [f64; 3], causes: &[(Cause, f64)]| JobResult {
        job_id: name(job_id),
        slowdown_s: lost[0],
        slowdown_lo_s: lost[1],
        slowdown_hi_s: lost[2],
        causes: causes
            .iter()
            .map(|(sort, share)| cause(*sort, CauseKind::Capacity, "4711", *share))
            .collect(),
        ..result()
    };
    vec![
        of("4698", [24.0, 18.0, 30.0], &[(Cause::OtherJob, 0.25), (Cause::IoOnMpi, 0.25)]),
        of("4700", [60.0, 0.0, 120.0], &[(Cause::OtherJob, 0.5), (Cause::SelfInflicted, 0.5)]),
    ]
}

/// A store with this batch.
pub(super) fn stored(batch: &ResultBatch) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    Store::open(&path, Retention::default()).unwrap().commit(batch, &[]).unwrap();
    (folder, path)
}
