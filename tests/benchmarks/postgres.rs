//! Rows a second into PostgreSQL, and their CPU time on both sides.
//!
//! `TAILBACK_PG_URL=… cargo bench -p benchmarks --bench postgres [-- SERIES SECONDS]` creates a new database on that
//! server for each case and drops it. The server's CPU is that of all its processes, read from /proc: the server
//! has to run on this machine, and do nothing else meanwhile. Core figures are for 220,000 series at 1 Hz.
#![allow(missing_docs)]
#![allow(clippy::print_stdout, reason = "the measurements are the output")]
#![allow(clippy::unwrap_used, reason = "a measurement may stop at an error")]

use schemas::{Counts, Metric, Name, ResultBatch, SeriesIndex, SeriesInfo, Signal, State, Time};
use std::time::{Duration, Instant};
use store::postgres::{DirectColumnstore, PartCommit, PgRetention, PgSettings, PgStore, migrate};
use store::storage_policy::{StoragePolicy, StoredRows, Thinner};
use tokio_postgres::{Client, NoTls};

/// One case: how the server stores, and how much a transaction holds.
struct Case {
    name: &'static str,
    timescale: bool,
    direct: DirectColumnstore,
    /// Statements after the migrations, as the owner.
    setup: &'static str,
}

const KEEP: PgRetention =
    PgRetention { raw_days: None, ten_seconds_days: None, minutes_days: None, hours_days: None };

const NO_INDEX: &str = "DROP INDEX signal_rows_by_series; DROP INDEX signal_rows_by_time";

/// One batch per series instead of the order of `0002_columnstore`.
const BY_SERIES: &str = "ALTER TABLE signal_rows SET (timescaledb.compress_segmentby = 'series_id', \
                         timescaledb.compress_orderby = 'time')";

const CASES: &[Case] = &[
    Case { name: "plain, no index", timescale: false, direct: DirectColumnstore::Off, setup: NO_INDEX },
    Case {
        name: "plain, brin (time)",
        timescale: false,
        direct: DirectColumnstore::Off,
        setup: "DROP INDEX signal_rows_by_series",
    },
    Case {
        name: "plain, btree (series_id, time) and brin",
        timescale: false,
        direct: DirectColumnstore::Off,
        setup: "",
    },
    Case { name: "hypertable, rows", timescale: true, direct: DirectColumnstore::Off, setup: "" },
    Case {
        name: "hypertable, straight into the columnstore",
        timescale: true,
        direct: DirectColumnstore::On,
        setup: "",
    },
    Case {
        name: "the same, segmented by series",
        timescale: true,
        direct: DirectColumnstore::On,
        setup: BY_SERIES,
    },
];

/// The series of one partition and its next seconds.
struct Load {
    table: Vec<SeriesInfo>,
    second: i64,
    random: u64,
}

impl Load {
    fn new(series: usize) -> Load {
        let info = |i: usize| SeriesInfo {
            metric: Metric::from_name("aries_stall_ratio").unwrap(),
            component: Name::parse(&format!("c{}-0c0s{}", i / 640, i / 40 % 16)).unwrap(),
            part: Some(Name::parse(&format!("r{}c{}", i % 40 / 8, i % 8)).unwrap()),
        };
        Load { table: (0..series).map(info).collect(), second: 0, random: 1 }
    }

    /// A figure in 0..1, the same in every run.
    fn noise(&mut self) -> f64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One second of every series; one in fifty is contended.
    fn tick(&mut self, signals: &mut Vec<Signal>) {
        for i in 0..self.table.len() {
            let level = 1.0 + (i % 13) as f64;
            let contended = i % 50 == 0;
            signals.push(Signal {
                // The samplers of one machine fire within a few milliseconds.
                time: Time(1_700_000_000_000_000 + self.second * 1_000_000 + (i / 40) as i64),
                series: SeriesIndex(i as u32),
                value: level * (0.85 + 0.3 * self.noise()),
                mean: level * (0.98 + 0.04 * self.noise()),
                baseline: level,
                bound: level * 1.5,
                state: if contended { State::Contended } else { State::Clear },
                slowdown_s: if contended { self.second as f64 * 0.4 } else { 0.0 },
                counts: Counts {
                    passed_per_s: (1e6 * self.noise()) as f32,
                    waited_per_s: (1e6 * level * self.noise()) as f32,
                },
            });
        }
        self.second += 1;
    }
}

/// CPU time of a process line of /proc, with that of its ended children if `ended`.
fn cpu_of(stat: &str, ended: bool) -> Option<(u32, f64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let figure = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok());
    let children = if ended { figure(13)? + figure(14)? } else { 0.0 };
    Some((fields.get(1)?.parse().ok()?, (figure(11)? + figure(12)? + children) / 100.0))
}

/// CPU seconds of all processes of the server whose parent process is `postmaster`.
fn server_cpu_s(postmaster: u32) -> f64 {
    let own = std::fs::read_to_string(format!("/proc/{postmaster}/stat")).unwrap_or_default();
    let mut sum = cpu_of(&own, true).map_or(0.0, |(_, s)| s);
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        sum += cpu_of(&stat, false).filter(|(parent, _)| *parent == postmaster).map_or(0.0, |(_, s)| s);
    }
    sum
}

fn own_cpu_s() -> f64 {
    cpu_of(&std::fs::read_to_string("/proc/self/stat").unwrap(), false).map_or(0.0, |(_, s)| s)
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn postmaster(admin: &Client) -> u32 {
    let pid: i32 = admin.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    cpu_of(&stat, false).map_or(0, |(parent, _)| parent)
}

/// Measurements of a case.
#[derive(Default)]
struct Took {
    wall_s: f64,
    own_s: f64,
    server_s: f64,
    rows: u64,
}

async fn measure(case: &Case, policy: StoragePolicy, load: (usize, i64, i64), admin: &Client, url: &str) {
    let (series, seconds, ticks) = load;
    admin.batch_execute("DROP DATABASE IF EXISTS tailback_bench WITH (FORCE)").await.unwrap();
    admin.batch_execute("CREATE DATABASE tailback_bench").await.unwrap();
    let url = format!("{}/tailback_bench", url.rsplit_once('/').unwrap().0);
    let settings = PgSettings {
        timescale: case.timescale,
        direct_columnstore: case.direct,
        // The rows are years old: a policy would merge or drop them during the measurement.
        merge_after_hours: None,
        retention: KEEP,
        ..PgSettings::at(&url)
    };
    migrate(&settings).await.unwrap();
    let owner = client(&url).await;
    owner.batch_execute(case.setup).await.unwrap();
    let mut store = PgStore::connect(&settings).await.unwrap();
    let epoch = store.claim("bench", 0, "bench", None).await.unwrap().epoch;
    admin.batch_execute("CHECKPOINT").await.unwrap();
    let server = postmaster(admin).await;
    let took = commits(&mut store, epoch, policy, Load::new(series), (seconds, ticks), server).await;
    let size = "SELECT pg_database_size('tailback_bench')";
    let bytes: i64 = admin.query_one(size, &[]).await.unwrap().get(0);
    let of_trinity = 220_000.0 / (series as f64 * seconds as f64);
    println!(
        "{:42} {ticks:2} ticks {:8.0} signals/s  server {:5.2} s/M rows {:5.2} core  tailback {:5.2} core  {:6.1} B/row",
        format!("{} ({policy:?})", case.name),
        series as f64 * seconds as f64 / took.wall_s,
        took.server_s / took.rows as f64 * 1e6,
        took.server_s * of_trinity,
        took.own_s * of_trinity,
        bytes as f64 / took.rows as f64,
    );
    drop((store, owner));
    admin.batch_execute("DROP DATABASE tailback_bench WITH (FORCE)").await.unwrap();
}

/// Commits all seconds; only the time of the store is counted.
async fn commits(
    store: &mut PgStore,
    epoch: i64,
    policy: StoragePolicy,
    mut load: Load,
    (seconds, ticks): (i64, i64),
    server: u32,
) -> Took {
    let (mut thinner, mut stored, mut took) = (Thinner::new(policy), StoredRows::default(), Took::default());
    let mut results = ResultBatch::default();
    let mut position = None;
    // The first commit numbers the series, which happens once in their life: it is not counted.
    for to in 0..=seconds / ticks {
        results.signals.clear();
        (0..if to == 0 { 0 } else { ticks }).for_each(|_| load.tick(&mut results.signals));
        stored.clear();
        let (start, own, before) = (Instant::now(), own_cpu_s(), server_cpu_s(server));
        let numbered: Vec<_> = (0..).map(SeriesIndex).zip(load.table.iter().cloned()).collect();
        thinner.know(&numbered);
        thinner.pass(&results.signals, &mut stored);
        let (results, stored, table) = (&results, &stored, load.table.as_slice());
        let part = PartCommit {
            partition: 0,
            epoch,
            from_position: position,
            to_position: to,
            results,
            stored,
            table,
            snapshot: None,
        };
        let figures = store.commit("bench", &[part]).await.unwrap();
        position = Some(to);
        if to == 0 {
            continue;
        }
        took.wall_s += start.elapsed().as_secs_f64();
        // The write-ahead log is written behind the commit.
        tokio::time::sleep(Duration::from_millis(100)).await;
        took.own_s += own_cpu_s() - own;
        took.server_s += server_cpu_s(server) - before;
        took.rows += figures.signals;
    }
    took
}

fn main() {
    let Ok(url) = std::env::var("TAILBACK_PG_URL") else {
        println!("skipped: TAILBACK_PG_URL names no server");
        return;
    };
    let numbers: Vec<i64> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (series, seconds) = (
        numbers.first().map_or(220_000, |n| n.unsigned_abs() as usize),
        numbers.get(1).copied().unwrap_or(20),
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(&url).await;
        let found = "SELECT current_setting('shared_preload_libraries') ~ 'timescaledb'";
        let timescale: bool = admin.query_one(found, &[]).await.unwrap().get(0);
        for case in CASES.iter().filter(|c| timescale || !c.timescale) {
            for ticks in [1, 10] {
                measure(case, StoragePolicy::All, (series, seconds, ticks), &admin, &url).await;
            }
        }
        for case in CASES.iter().filter(|c| c.setup.is_empty() && (timescale || !c.timescale)) {
            measure(case, StoragePolicy::Changes, (series, seconds, 1), &admin, &url).await;
        }
    });
}
