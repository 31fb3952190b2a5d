//! The simulated rows, and what happens to them between sampler and Kafka.
//!
//! Eight Lustre clients, of which six disturb two; a server that counts by job, a job without samplers among them; two routers,
//! reported by four nodes each, whose links two jobs share for a while. Times and rows depend on the seed alone.

use samplers::jobs::{Behaviour, Halo, JobSpec};
use samplers::scenario::Chosen;
use samplers::{Cluster, Rows, Scenario, Schema};
use schemas::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Seconds of simulated rows.
pub const SECONDS: u32 = 150;
/// When they begin: seconds since the epoch.
const START_S: i64 = 1_790_000_000;
/// Seconds that the job on all routers takes when no other job uses its links.
const HALO_S: f64 = 100.0;
/// Microseconds from a sample to Kafka when nothing goes wrong.
const WAY_US: i64 = 4_000;
/// Partitions of a raw topic.
pub const RAW_PARTITIONS: u32 = 4;

/// Schema of what servers count by job, and a job whose nodes have no sampler.
pub const OF_SERVERS: &str = "lustre_ost_job_stats";
const UNSEEN_JOB: u64 = 990_001;

/// Schema of what jobs report of their own progress.
pub const OF_JOBS: &str = "tailback_progress";

/// The seed of rows and moments; printed once.
pub static SEED: LazyLock<u64> = LazyLock::new(|| {
    let seed = std::env::var("TAILBACK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_121);
    eprintln!("TAILBACK_SEED={seed}");
    seed
});

/// A row on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// LDMS schema: the end of the topic's name.
    pub schema: &'static str,
    /// The sampler's timestamp, microseconds.
    pub time_us: i64,
    /// When Kafka gets it, microseconds.
    pub arrival_us: i64,
    /// Partition of the raw topic.
    pub partition: i32,
    /// What Kafka gets.
    pub payload: Vec<u8>,
}

/// Random numbers of a scenario: as good as needed, the same everywhere.
pub struct Dice(u64);

impl Dice {
    /// The numbers of one purpose.
    pub fn new(purpose: &str) -> Dice {
        let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        Dice(purpose.bytes().fold(*SEED ^ 0xCBF2_9CE4_8422_2325, mix))
    }

    /// From 0 to `below`, without it.
    pub fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    }

    /// Whether something of this many percent happens.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The rows as they are sampled, each in some partition, in order of arrival.
pub fn undisturbed() -> Vec<Row> {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| simulate(scenario(HALO_S), START_S));
    ROWS.clone()
}

/// The rows where every second reporter of a router and every client has a clock that is 300 ms ahead.
pub fn skewed() -> Vec<Row> {
    let mut scenario = scenario(HALO_S);
    scenario.faults.skew_ms = (0..64).filter(|node| node % 2 == 1).map(|node| (node, 300.0)).collect();
    simulate(scenario, START_S)
}

/// So many seconds of rows that begin at `start_s`, seconds since the epoch.
pub fn live(start_s: i64, seconds: u32) -> Vec<Row> {
    let mut scenario = scenario(HALO_S);
    scenario.duration_s = Some(seconds - 1);
    simulate(scenario, start_s)
}

/// Rows that last so long after the contention that later ones change no estimate.
pub fn settled() -> Vec<Row> {
    let mut scenario = scenario(230.0);
    scenario.duration_s = Some(260);
    simulate(scenario, START_S)
}

/// Puts every row in another partition.
pub fn scatter(rows: &mut [Row], dice: &mut Dice) {
    for row in rows {
        row.partition = dice.below(u64::from(RAW_PARTITIONS)) as i32;
    }
}

/// What a server counts by job: what the clients of each wrote, and a job whose nodes have no sampler. The jobs report it, too.
struct Server {
    start_s: i64,
    by_node: BTreeMap<String, u64>,
    by_job: BTreeMap<u64, u64>,
}

impl Server {
    /// Takes the rows of a tick; returns those of the server, and of the jobs.
    fn tick(&mut self, clients: &[Row]) -> Vec<Row> {
        let Some(time_us) = clients.iter().map(|row| row.time_us).max() else { return Vec::new() };
        let mut running: BTreeSet<u64> = [UNSEEN_JOB].into();
        for client in clients {
            let row: serde_json::Value = serde_json::from_slice(&client.payload).unwrap();
            let (node, written) = (row["producer"].to_string(), row["write_bytes.sum"].as_u64().unwrap());
            let before = self.by_node.insert(node, written).unwrap_or(written);
            let job = row["job_id"].as_u64().unwrap();
            running.insert(job);
            *self.by_job.entry(job).or_default() += written - before;
        }
        let second = time_us / 1_000_000 - self.start_s;
        let rate = if (70..100).contains(&second) { 900_000_000 } else { 20_000_000 };
        *self.by_job.entry(UNSEEN_JOB).or_default() += rate;
        let time_us = time_us + 1_000;
        let (seconds, micros) = (time_us / 1_000_000, time_us % 1_000_000);
        let report = |(job, written): (&u64, &u64)| {
            let megabytes = written / 1_000_000;
            let payload = format!(
                r#"{{"schema":"tailback_progress","timestamp":{seconds}.{micros:06},"producer":"{job}","job_id":"{job}","progress_name":"megabytes","progress_rank":"0","progress_count":{megabytes}}}"#
            );
            Row {
                schema: OF_JOBS,
                time_us,
                arrival_us: time_us + WAY_US,
                partition: 0,
                payload: payload.into_bytes(),
            }
        };
        let row = |(job, written): (&u64, &u64)| {
            let payload = format!(
                r#"{{"timestamp":{seconds}.{micros:06},"producer":"oss1","fs_name":"snx11137","ost":"snx11137-OST0000","job_id":"{job}","snapshot_time":{seconds},"read_bytes_sum":0,"write_bytes_sum":{written}}}"#
            );
            let arrival_us = time_us + WAY_US;
            Row { schema: OF_SERVERS, time_us, arrival_us, partition: 0, payload: payload.into_bytes() }
        };
        let jobs = || self.by_job.iter().filter(|(job, _)| **job != 0);
        // A server knows a job for longer than it runs.
        jobs().map(row).chain(jobs().filter(|(job, _)| running.contains(job)).map(report)).collect()
    }
}

/// Puts rows in the order in which Kafka gets them.
pub fn in_order_of_arrival(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| row.arrival_us);
    rows
}

fn simulate(scenario: Scenario, start_s: i64) -> Vec<Row> {
    let mut cluster = Cluster::new(scenario, Time(start_s * 1_000_000), *SEED).unwrap();
    let (mut tick, mut rows) = (Rows::default(), Vec::new());
    let mut server = Server { start_s, by_node: BTreeMap::new(), by_job: BTreeMap::new() };
    while cluster.tick(&mut tick) {
        let of_tick: Vec<Row> = tick.lines().map(|(schema, line)| row(schema, line)).collect();
        let (clients, others): (Vec<Row>, Vec<Row>) =
            of_tick.into_iter().partition(|row| row.schema == "lustre_client");
        rows.extend(server.tick(&clients));
        rows.extend(clients.into_iter().chain(others));
    }
    scatter(&mut rows, &mut Dice::new("partitions"));
    in_order_of_arrival(rows)
}

fn row(schema: Schema, line: &[u8]) -> Row {
    let value: serde_json::Value = serde_json::from_slice(line).unwrap();
    let time_us = (value["timestamp"].as_f64().unwrap() * 1e6).round() as i64;
    let arrival_us = time_us + WAY_US;
    Row { schema: schema.name(), time_us, arrival_us, partition: 0, payload: line.to_vec() }
}

/// `halo_s` are the seconds that the job on all routers takes when no other job uses its links.
fn scenario(halo_s: f64) -> Scenario {
    let nodes = |slots: std::ops::Range<u32>, places: std::ops::Range<u32>| -> Vec<u32> {
        slots.flat_map(|slot| places.clone().map(move |place| slot * 4 + place)).collect()
    };
    let job = |name: &str, user: &str, nodes: Vec<u32>, start_s: f64, behaviour: Behaviour| JobSpec {
        name: name.to_string(),
        user: user.to_string(),
        nodes,
        start_s,
        behaviour,
    };
    let write = |gigabytes: f64| Behaviour::Write {
        bytes_per_node: gigabytes * 1e9,
        limit_bytes_per_s: f64::INFINITY,
    };
    let clients = nodes(0..4, 2..4);
    let mut scenario = Scenario::empty("streaming", 1);
    scenario.jobs = vec![
        job("ior_first", "alice", clients[..2].to_vec(), 3.0, write(90.0)),
        job("ior_storm", "bob", clients[2..].to_vec(), 60.0, write(20.0)),
        job("cth", "erin", nodes(0..16, 0..2), 0.0, Behaviour::HaloExchange(Halo::like_cth(1.2e9, halo_s))),
        job(
            "imb_alltoall",
            "frank",
            nodes(8..16, 2..4),
            45.0,
            Behaviour::AllToAll { node_bytes_per_s: 8e9, work_s: 30.0 },
        ),
    ];
    scenario.reporting.clients = Chosen::Only(clients);
    scenario.reporting.routers = Chosen::Only(vec![8, 9]);
    scenario.duration_s = Some(SECONDS);
    scenario
}
