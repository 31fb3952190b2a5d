//! Fixed rows for the answers: four jobs on three Aries routers, one contended region that merged with another.

use schemas::{
    Cause, CauseKind, CauseShare, Counts, Episode, EpisodeId, Evidence, Interval, Job, JobFactors,
    JobProgress, JobResult, LastSeen, LossPoint, MeasuredLoss, Metric, Name, Region, RegionCause,
    RegionChange, RegionId, RegionStep, RegionVictim, ResultBatch, SeriesIndex, SeriesInfo, Signal, State,
    Time,
};
use store::postgres::{PartCommit, PgStore};
use store::storage_policy::{StoragePolicy, StoredRows, Thinner};

/// 2026-11-20 10:00:00 UTC, when job 1234 starts.
const START_S: f64 = 1_795_168_800.0;

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn at(seconds: f64) -> Time {
    Time::from_seconds(START_S + seconds)
}

fn interval(value: f64) -> Interval {
    Interval { value, lo: value * 0.75, hi: value * 1.25 }
}

const ROUTERS: [&str; 3] = ["c0-0c0s0", "c0-0c0s1", "c2-0c0s0"];

/// Two tiles of each router, and one mount of node 4.
pub fn table() -> Vec<SeriesInfo> {
    let tile = |router: &str, tile: &str| SeriesInfo {
        metric: Metric::from_name("aries_stall_ratio").unwrap(),
        component: name(router),
        part: Some(name(tile)),
    };
    let mut table: Vec<SeriesInfo> =
        ROUTERS.iter().flat_map(|r| [tile(r, "r0c0"), tile(r, "r0c1")]).collect();
    table.push(SeriesInfo {
        metric: Metric::from_name("lustre_write_rate").unwrap(),
        component: name("nid00004"),
        part: Some(name("snx11137")),
    });
    table
}

fn job(id: &str, user: &str, nodes: std::ops::Range<u32>, start: f64, end: Option<f64>) -> Job {
    Job {
        job_id: name(id),
        label: String::new(),
        user: user.to_string(),
        name: "cfd".to_string(),
        nodes: nodes.map(|n| name(&format!("nid{n:05}"))).collect(),
        start: at(start),
        end: end.map(at),
        end_presumed: false,
        app: Some("cfd".to_string()),
    }
}

fn result(id: &str, slowdown_s: f64, causes: Vec<CauseShare>) -> JobResult {
    JobResult {
        job_id: name(id),
        contended_s: slowdown_s * 2.0,
        slowdown_s,
        slowdown_lo_s: slowdown_s * 0.75,
        slowdown_hi_s: slowdown_s * 1.25,
        completeness: 1.0,
        judged: 1.0,
        causes,
        progress: if id == "1234" {
            vec![progress("steps", true), progress("writes", false)]
        } else {
            Vec::new()
        },
    }
}

/// What a job counted by its own reports.
fn progress(counted: &str, is_measured: bool) -> JobProgress {
    let loss = match is_measured {
        true => MeasuredLoss::Measured { lost_s: interval(50.0), cost: Some(interval(0.5)) },
        false => MeasuredLoss::TooFew,
    };
    JobProgress {
        name: name(counted),
        covered_s: 400.0,
        contended_s: 90.0,
        per_s: Some(2.5),
        counters_s: 100.0,
        loss,
    }
}

fn share(cause: Cause, source: &str, share: f64) -> CauseShare {
    CauseShare { cause, kind: CauseKind::Avoidable, series_or_job: source.to_string(), share }
}

/// An episode whose loss grows evenly.
fn episode(id: u64, series: u32, from: f64, to: f64, slowdown_s: f64) -> Episode {
    Episode {
        id: EpisodeId(id),
        series: SeriesIndex(series),
        start: at(from),
        end: at(to),
        open: false,
        peak: 4.0,
        baseline: 0.5,
        slowdown_s,
        slowdown_lo_s: slowdown_s * 0.75,
        slowdown_hi_s: slowdown_s * 1.25,
        completeness: 1.0,
        profile: vec![LossPoint { time: at(to), slowdown_s }],
        causes: vec![share(Cause::OtherJob, "1235", 0.5)],
    }
}

fn step(seconds: f64, change: RegionChange, other: Option<u64>, links: u32, worst: f64) -> RegionStep {
    RegionStep {
        time: at(seconds),
        change,
        other: other.map(RegionId),
        links,
        worst_series: "aries_stall_ratio/c0-0c0s0/r0c0".to_string(),
        worst,
    }
}

/// The region that remains: 1235 and 1234 load it, 1234 and 1240 wait in it.
pub fn region() -> Region {
    let cause = |cause, source: &str, share| RegionCause {
        cause,
        series_or_job: source.to_string(),
        share,
        confidence: 0.75,
        evidence: vec![Evidence::NodesOnRouter, Evidence::ChangePoint],
    };
    let victim =
        |job: &str, lost_s, share| RegionVictim { job_id: name(job), lost_s: interval(lost_s), share };
    Region {
        id: RegionId(1),
        metric: Metric::from_name("aries_stall_ratio").unwrap(),
        name: "router c0-0c0s0".to_string(),
        start: at(100.0),
        end: at(600.0),
        open: true,
        links: 2,
        links_most: 3,
        series: ["r0c0", "r0c1"].map(|tile| format!("aries_stall_ratio/c0-0c0s0/{tile}")).to_vec(),
        left: Vec::new(),
        peak: 4.0,
        kind: CauseKind::Avoidable,
        kind_confidence: 0.875,
        relief: 0.5,
        cause: Cause::OtherJob,
        confidence: 0.75,
        causes: vec![cause(Cause::OtherJob, "1235", 0.5), cause(Cause::SelfInflicted, "1234", 0.25)],
        victims: vec![victim("1234", 60.0, 0.75), victim("1240", 20.0, 0.25)],
        completeness: 1.0,
        steps: vec![
            step(100.0, RegionChange::Began, None, 1, 2.0),
            step(150.0, RegionChange::TookUp, Some(2), 3, 4.0),
            step(400.0, RegionChange::Shrank, None, 2, 3.0),
        ],
    }
}

/// The region that merged with it; only another user's job is involved.
fn taken_up() -> Region {
    let whole = region();
    Region {
        id: RegionId(2),
        name: "router c0-0c0s1".to_string(),
        start: at(120.0),
        end: at(150.0),
        open: false,
        series: vec!["aries_stall_ratio/c0-0c0s1/r0c0".to_string()],
        causes: Vec::new(),
        victims: vec![RegionVictim { job_id: name("1235"), lost_s: interval(5.0), share: 1.0 }],
        steps: vec![
            step(120.0, RegionChange::Began, None, 1, 1.5),
            step(150.0, RegionChange::WentInto, Some(1), 0, 1.5),
        ],
        ..whole
    }
}

fn factors(id: &str, configuration: &str, self_s: f64, other_s: f64, placement: Option<f64>) -> JobFactors {
    JobFactors {
        job_id: name(id),
        configuration: configuration.to_string(),
        self_s: interval(self_s),
        other_s: interval(other_s),
        placement: placement.map(interval),
        beta: interval(0.5),
        beta_version: 3,
        beta_runs: 12,
        caveat: String::new(),
    }
}

/// Ten minutes of signals, one a minute: tile 0 contended from the third on.
fn signals() -> Vec<Signal> {
    let signal = |series: u32, minute: u32| {
        let contended = series == 0 && minute >= 3;
        let counts = Counts { passed_per_s: 4e8, waited_per_s: if contended { 1.6e9 } else { 2e8 } };
        Signal {
            time: at(f64::from(minute) * 60.0),
            series: SeriesIndex(series),
            value: if contended { 4.0 } else { 0.5 },
            mean: if contended { 4.0 } else { 0.5 },
            baseline: 0.5,
            bound: 1.0,
            state: if contended { State::Contended } else { State::Clear },
            slowdown_s: 0.0,
            counts: if series < 6 { counts } else { Counts::NONE },
        }
    };
    (0..=10).flat_map(|minute| (0..7).map(move |series| signal(series, minute))).collect()
}

fn uses(id: &str, series: &[u32]) -> Vec<(Name, SeriesIndex)> {
    series.iter().map(|s| (name(id), SeriesIndex(*s))).collect()
}

/// All rows; `ann` has the jobs 1234 and 1198, `ben` the others.
pub fn batch(ann: &str, ben: &str) -> ResultBatch {
    let reporting = |node: u32| LastSeen {
        producer: name(&format!("nid{node:05}")),
        schema: name("metric_set_rtr_0_2_c"),
        component: name(ROUTERS[node as usize / 4]),
        part: None,
        last_time: at(600.0),
        rows: 600,
    };
    ResultBatch {
        series: (0..).map(SeriesIndex).zip(table()).collect(),
        signals: signals(),
        episodes: vec![
            episode(1, 0, 100.0, 600.0, 80.0),
            episode(2, 1, 150.0, 400.0, 20.0),
            episode(3, 2, 120.0, 150.0, 5.0),
            episode(4, 0, -86_400.0, -86_300.0, 10.0),
        ],
        jobs: vec![
            job("1198", ann, 0..4, -86_400.0, Some(-86_000.0)),
            job("1234", ann, 0..4, 0.0, Some(500.0)),
            job("1235", ben, 4..8, 50.0, Some(450.0)),
            job("1240", ben, 8..10, 100.0, None),
        ],
        job_results: vec![
            result("1198", 10.0, vec![share(Cause::SelfInflicted, "1198", 1.0)]),
            result(
                "1234",
                80.0,
                vec![share(Cause::OtherJob, "1235", 0.5), share(Cause::SelfInflicted, "1234", 0.25)],
            ),
            result("1235", 5.0, vec![share(Cause::OtherJob, "1234", 0.5)]),
            result("1240", 20.0, vec![share(Cause::OtherJob, "1235", 0.5)]),
        ],
        job_series: [
            uses("1198", &[0, 1]),
            uses("1234", &[0, 1]),
            uses("1235", &[2, 3, 6]),
            uses("1240", &[4, 5]),
        ]
        .concat(),
        last_seen: (0..10).map(reporting).collect(),
        regions: vec![taken_up(), region()],
        factors: vec![
            factors("1198", "cfd 4 nodes eager", 10.0, 0.0, None),
            factors("1234", "cfd 4 nodes rendezvous", 20.0, 40.0, Some(1.25)),
            factors("1235", "cfd 4 nodes eager", 0.0, 5.0, None),
        ],
        ..ResultBatch::default()
    }
}

/// Commits `results` to an empty store of a server.
pub async fn commit_to_server(store: &mut PgStore, results: &ResultBatch) {
    let epoch = store.claim("detector", 0, "a", None).await.unwrap().epoch;
    let mut stored = StoredRows::default();
    let mut thinner = Thinner::new(StoragePolicy::All);
    thinner.pass(&results.signals, &mut stored);
    thinner.close(Time(i64::MAX), &mut stored);
    let part = PartCommit {
        partition: 0,
        epoch,
        from_position: None,
        to_position: 1,
        results,
        stored: &stored,
        table: &results.series.iter().map(|(_, info)| info.clone()).collect::<Vec<_>>(),
        snapshot: None,
    };
    store.commit("detector", &[part]).await.unwrap();
}
