//! Tests of the store, and the batches they write.

mod kill;
mod opening;
mod retention;
mod writing;

use super::{Retention, StateBlob, Store};
use rusqlite::Connection;
use schemas::{
    Cause, CauseKind, CauseShare, Counts, Episode, EpisodeId, Job, JobResult, LastSeen, LossPoint, Metric,
    Name, ResultBatch, SeriesIndex, SeriesInfo, Signal, State, Time,
};

/// Start of the simulated history, in seconds since the epoch.
const START_S: f64 = 1.795e9;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(seconds: f64) -> Time {
    Time::from_seconds(START_S + seconds)
}

fn series(number: u32) -> (SeriesIndex, SeriesInfo) {
    let info = SeriesInfo {
        metric: Metric::from_name("lustre_write_rate").unwrap(),
        component: name(&format!("nid{number:05}")),
        part: Some(name("snx11137")),
    };
    (SeriesIndex(number), info)
}

fn signal(number: u32, seconds: f64) -> Signal {
    Signal {
        time: at(seconds),
        series: SeriesIndex(number),
        value: seconds,
        mean: 2.0,
        baseline: 3.0,
        bound: f64::NAN,
        state: State::Clear,
        slowdown_s: 0.5,
        counts: Counts { passed_per_s: 100.0, waited_per_s: 25.0 },
    }
}

/// One tick of `count` series, the series themselves with the first.
fn tick(count: u32, second: u32) -> ResultBatch {
    let first = if second == 0 { count } else { 0 };
    ResultBatch {
        series: (0..first).map(series).collect(),
        signals: (0..count).map(|n| signal(n, f64::from(second))).collect(),
        ..ResultBatch::default()
    }
}

fn episode(id: u64, from: f64, to: f64) -> Episode {
    Episode {
        id: EpisodeId(id),
        series: SeriesIndex(0),
        start: at(from),
        end: at(to),
        open: false,
        peak: 1.0,
        baseline: 4.0,
        slowdown_s: (to - from) * 0.75,
        slowdown_lo_s: (to - from) * 0.7,
        slowdown_hi_s: (to - from) * 0.8,
        completeness: 1.0,
        profile: vec![LossPoint { time: at(to), slowdown_s: (to - from) * 0.75 }],
        causes: vec![cause("9", 0.8)],
    }
}

fn cause(job: &str, share: f64) -> CauseShare {
    CauseShare { cause: Cause::OtherJob, kind: CauseKind::Capacity, series_or_job: job.to_string(), share }
}

fn job(id: &str, nodes: &[&str], end: Option<f64>) -> Job {
    Job {
        job_id: name(id),
        user: "alice".to_string(),
        name: "ior".to_string(),
        nodes: nodes.iter().map(|n| name(n)).collect(),
        start: at(0.0),
        end: end.map(at),
        end_presumed: false,
        label: String::new(),
        app: None,
    }
}

fn job_result(id: &str, causes: &[(&str, f64)]) -> JobResult {
    JobResult {
        job_id: name(id),
        contended_s: 10.0,
        slowdown_s: 5.0,
        slowdown_lo_s: 4.0,
        slowdown_hi_s: 6.0,
        completeness: 0.98,
        judged: 1.0,
        causes: causes.iter().map(|(job, share)| cause(job, *share)).collect(),
        progress: Vec::new(),
    }
}

fn producer(rows: u64) -> LastSeen {
    LastSeen {
        producer: name("nid00000"),
        schema: name("lustre_client"),
        component: name("nid00000"),
        part: Some(name("snx11168")),
        last_time: at(1.0),
        rows,
    }
}

/// One number from the tables, as a reader sees it.
fn number(connection: &Connection, sql: &str) -> f64 {
    connection.query_row(&format!("SELECT CAST(({sql}) AS REAL)"), [], |row| row.get(0)).unwrap()
}
