//! What the database holds, as text; waiting until it does not change any more.

use super::site::{PARTITIONS, Site};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Error, NoTls, SimpleQueryMessage};

/// Longest wait for the end of a run.
const RUN_TIMEOUT: Duration = Duration::from_secs(500);
/// Nothing changed for so long: links of a partition without rows are waited for half a minute.
pub const QUIET: Duration = Duration::from_secs(38);
/// What a slow machine adds to it at most.
pub const SLOWER_MAX: Duration = Duration::from_secs(90);
/// Tables that are as expected stay so: results of jobs are written every two seconds.
pub const STAY: Duration = Duration::from_secs(5);
/// Nothing changed for so long, and the tables are not as expected.
const GIVEN_UP: Duration = Duration::from_secs(120);
/// Time between two looks at all tables.
const POLL: Duration = Duration::from_millis(500);
/// Differing rows that are shown.
const SHOWN: usize = 12;

/// Stages with state, and the topics that they read.
const STAGES: [(&str, &str); 2] = [("detector", "counters"), ("rollup", "partials")];

/// Tables and the queries that give their rows, without numbers that depend on the order of writers.
const QUERIES: [(&str, &str); 19] = [
    (
        "signals",
        "SELECT s.name, r.time, r.value, r.mean, r.baseline, r.bound, tailback_state(r.state), r.slowdown_s, r.ticks,
                r.passed_per_s, r.waited_per_s
         FROM signal_rows r JOIN series s USING (series_id)",
    ),
    (
        "buckets",
        "SELECT s.name, b.time, b.slowdown_s, b.value, b.value_min, b.value_max, b.mean, b.baseline, b.ticks,
                b.contended_ticks FROM signal_buckets b JOIN series s USING (series_id)",
    ),
    (
        "minutes",
        "SELECT s.name, m.time, m.slowdown_s, m.value, m.value_min, m.value_max, m.mean, m.baseline, m.ticks,
                m.contended_ticks, m.passed_per_s, m.waited_per_s FROM signal_minutes m JOIN series s USING (series_id)",
    ),
    (
        "hours",
        "SELECT s.name, h.time, h.slowdown_s, h.value, h.value_min, h.value_max, h.mean, h.baseline, h.ticks,
                h.contended_ticks, h.passed_per_s, h.waited_per_s FROM signal_hours h JOIN series s USING (series_id)",
    ),
    // Commits cut the sums into other parts each time; what they add up to is the same.
    (
        "places",
        "SELECT kind, name, metric, time, sum(series), sum(contended_series), sum(ticks), sum(contended_ticks),
                sum(value_sum)::real, max(value_max) FROM place_buckets GROUP BY 1, 2, 3, 4",
    ),
    (
        "episodes",
        "SELECT s.name, e.start_time, e.end_time, e.open, e.peak, e.baseline, e.slowdown_s, e.slowdown_lo_s,
                e.slowdown_hi_s, e.completeness, e.profile, e.causes FROM episodes e JOIN series s USING (series_id)",
    ),
    ("jobs", "SELECT * FROM jobs"),
    ("job_nodes", "SELECT * FROM job_nodes"),
    ("job_results", "SELECT * FROM job_results"),
    ("job_causes", "SELECT * FROM job_causes"),
    ("job_progress", "SELECT * FROM job_progress"),
    ("job_series", "SELECT j.job_id, s.name FROM job_series j JOIN series s USING (series_id)"),
    ("producers", "SELECT * FROM producers"),
    // All columns: silences that are reported while the stream is read depend on its speed, but the source's next row
    // revokes or corrects them, and ends depend on the rows' own times alone. The rows of a scenario are old, so at its end
    // every source is silent since its last row, which is in this table without an end.
    ("silences", "SELECT * FROM silences"),
    ("regions", "SELECT * FROM regions"),
    ("region_steps", "SELECT * FROM region_steps"),
    ("region_series", "SELECT * FROM region_series"),
    ("region_causes", "SELECT * FROM region_causes"),
    ("region_victims", "SELECT * FROM region_victims"),
];

/// What changes when anything changed.
const FINGERPRINT: &str =
    "SELECT (SELECT count(*) FROM signal_rows), (SELECT sum(slowdown_s) FROM signal_rows),
    (SELECT md5(string_agg(e::text, ',' ORDER BY source_partition, id)) FROM episodes e),
    (SELECT md5(string_agg(r::text, ',' ORDER BY job_id)) FROM job_results r),
    (SELECT md5(string_agg(c::text, ',' ORDER BY job_id, position)) FROM job_causes c),
    (SELECT md5(string_agg(d::text, ',' ORDER BY stage, partition, reason)) FROM dropped_counts d),
    (SELECT md5(string_agg(r::text, ',' ORDER BY region_id)) FROM regions r),
    (SELECT md5(string_agg(v::text, ',' ORDER BY region_id, position)) FROM region_victims v),
    (SELECT count(*) FROM region_steps), (SELECT count(*) FROM job_nodes),
    (SELECT sum(rows) FROM producers),
    (SELECT md5(string_agg(s::text, ',' ORDER BY producer, schema, component, part, from_time)) FROM silences s)";

/// Sources that are not silent.
const REPORTING: &str = "SELECT count(*) FROM producers p WHERE NOT EXISTS (
    SELECT FROM silences s WHERE (s.producer, s.schema, s.component, s.part)
        = (p.producer, p.schema, p.component, p.part) AND s.until_time IS NULL)";

/// The database of one scenario.
pub struct Database {
    /// For its queries.
    pub runtime: Runtime,
    /// Where it is.
    pub url: String,
    /// The connection of the latest query: a new one for each would cost the server more than the query.
    client: Mutex<Option<Client>>,
}

impl Database {
    /// Creates an empty database.
    pub fn create(server: &str, name: &str) -> Database {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let common = Database { runtime, url: format!("{server}/postgres"), client: Mutex::default() };
        common.rows(&format!("CREATE DATABASE {name}"));
        Database { url: format!("{server}/{name}"), client: Mutex::default(), ..common }
    }

    /// The rows of a query as text.
    pub fn rows(&self, query: &str) -> Vec<String> {
        self.try_rows(query).unwrap()
    }

    fn try_rows(&self, query: &str) -> Result<Vec<String>, Error> {
        let mut held = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        self.runtime.block_on(async {
            if let Some(client) = held.take() {
                match client.simple_query(query).await {
                    // The server was restarted since.
                    Err(error) if error.is_closed() || error.code().is_none() => {}
                    found => {
                        *held = Some(client);
                        return found.map(texts);
                    }
                }
            }
            let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
            tokio::spawn(connection);
            let found = client.simple_query(query).await?;
            *held = Some(client);
            Ok(texts(found))
        })
    }

    /// All tables.
    pub fn dump(&self) -> Tables {
        let mut rows = Vec::new();
        for (table, query) in QUERIES {
            rows.extend(self.rows(query).into_iter().map(|row| format!("{table}: {row}")));
        }
        rows.sort();
        let drops = self.rows("SELECT reason, count FROM dropped_rows WHERE count > 0");
        let drops = drops.iter().filter_map(|row| row.split_once(" | "));
        Tables { rows, drops: drops.map(|(reason, n)| (reason.to_string(), n.parse().unwrap())).collect() }
    }

    /// Waits until every source is silent: then the stream was read beyond the last row of each, and no row waits for
    /// another one.
    pub fn wait_until_silent(&self) {
        let begun = Instant::now();
        while self.rows(REPORTING) != ["0"] {
            let reporting = || self.rows(&REPORTING.replace("count(*)", "producer, schema, component, part"));
            assert!(begun.elapsed() < RUN_TIMEOUT, "sources are not silent: {:?}", reporting());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Waits until nothing has changed for so long.
    pub fn wait_until_quiet(&self, quiet: Duration) {
        let (begun, mut since, mut before) = (Instant::now(), Instant::now(), self.rows(FINGERPRINT));
        while since.elapsed() < quiet {
            assert!(begun.elapsed() < RUN_TIMEOUT, "the tables still change after the timeout: {before:?}");
            std::thread::sleep(POLL);
            let now = self.rows(FINGERPRINT);
            if now != before {
                (since, before) = (Instant::now(), now);
            }
        }
    }

    /// Waits until the rows are these and stay so; panics with the difference when nothing changes any more before.
    pub fn wait_until_rows_are(&self, expected: &Tables) -> Tables {
        let (begun, mut since, mut before) = (Instant::now(), Instant::now(), self.rows(FINGERPRINT));
        let mut equal = self.dump().has_rows_of(expected);
        loop {
            let waited = since.elapsed();
            let found = (equal && waited > STAY) || waited > GIVEN_UP || begun.elapsed() > RUN_TIMEOUT;
            if found {
                let tables = self.dump();
                tables.rows_equal(expected);
                return tables;
            }
            std::thread::sleep(POLL);
            let now = self.rows(FINGERPRINT);
            if now != before {
                (since, before) = (Instant::now(), now);
                equal = self.dump().has_rows_of(expected);
            }
        }
    }

    /// Offsets that a stage has committed, by partition.
    pub fn positions(&self, stage: &str) -> BTreeMap<i32, i64> {
        let query = format!(
            "SELECT partition, position - offset_base FROM stage_positions WHERE stage = '{stage}' AND position > 0"
        );
        let rows = self.try_rows(&query).unwrap_or_default();
        let parsed = rows.iter().filter_map(|row| row.split_once(" | "));
        parsed.map(|(partition, position)| (partition.parse().unwrap(), position.parse().unwrap())).collect()
    }

    /// Waits until the server answers.
    pub fn wait_until_there(&self) {
        let deadline = Instant::now() + RUN_TIMEOUT;
        while self.try_rows("SELECT 1").is_err() {
            assert!(Instant::now() < deadline, "the database does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Site {
    /// Waits until the aggregators have read all raw topics, and the other stages what was made of it. Returns how long it took.
    pub fn wait_until_read(&self) -> Duration {
        let consumer = |group: &str| -> BaseConsumer {
            let mut config = ClientConfig::new();
            config.set("bootstrap.servers", &self.services.broker).set("group.id", group).create().unwrap()
        };
        let raw = consumer(&format!("{}.aggregator", self.name));
        let begun = Instant::now();
        loop {
            let unread = unread_raws(&raw, &format!("{}.ldms.", self.name));
            if unread == Some(0) {
                break;
            }
            assert!(begun.elapsed() < RUN_TIMEOUT, "{unread:?} rows were not read");
            std::thread::sleep(Duration::from_millis(100));
        }
        for (stage, topic) in STAGES {
            // The last messages about jobs and progress are still on their way.
            std::thread::sleep(Duration::from_millis(700));
            let ends = self.ends(&raw, topic);
            while !self.has_read(stage, &ends) {
                let (found, dropped) = (self.database.positions(stage), begun.elapsed() > RUN_TIMEOUT);
                assert!(!dropped, "the {stage} stage has read {found:?} of {ends:?}");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        begun.elapsed()
    }

    /// Whether the stages have read all messages of their topics, whatever wrote them, and their states hold them all.
    pub fn states_hold_all_messages(&self) -> bool {
        let consumer: BaseConsumer =
            ClientConfig::new().set("bootstrap.servers", &self.services.broker).create().unwrap();
        let behind = "SELECT count(*) FROM stage_positions p LEFT JOIN stage_snapshots s USING (stage, partition) \
                      WHERE p.position > 0 AND s.position IS DISTINCT FROM p.position";
        self.database.rows(behind) == ["0"]
            && STAGES.iter().all(|(stage, topic)| self.has_read(stage, &self.ends(&consumer, topic)))
    }

    /// Ends of the partitions of one of the site's own topics.
    fn ends(&self, consumer: &BaseConsumer, topic: &str) -> Vec<i64> {
        let topic = format!("{}.{topic}", self.name);
        (0..PARTITIONS).map(|p| consumer.fetch_watermarks(&topic, p, RUN_TIMEOUT).unwrap().1).collect()
    }

    fn has_read(&self, stage: &str, ends: &[i64]) -> bool {
        let found = self.database.positions(stage);
        let read =
            |(partition, end): (usize, &i64)| found.get(&(partition as i32)).is_some_and(|at| at >= end);
        ends.iter().enumerate().all(|(partition, end)| *end == 0 || read((partition, end)))
    }
}

/// Rows in topics that begin with `prefix` after the group's offsets; `None` while the broker does not say.
fn unread_raws(consumer: &BaseConsumer, prefix: &str) -> Option<i64> {
    let second = Duration::from_secs(2);
    let metadata = consumer.fetch_metadata(None, second).ok()?;
    let mut asked = TopicPartitionList::new();
    for topic in metadata.topics().iter().filter(|topic| topic.name().starts_with(prefix)) {
        for p in topic.partitions() {
            asked.add_partition(topic.name(), p.id());
        }
    }
    let committed = consumer.committed_offsets(asked, second).ok()?;
    let mut unread = 0;
    for element in committed.elements() {
        let (_, end) = consumer.fetch_watermarks(element.topic(), element.partition(), second).ok()?;
        let Offset::Offset(read) = element.offset() else {
            unread += end;
            continue;
        };
        // A topic that was created again ends before what was read of the old one, until its rows are read.
        unread += if end == 0 { 0 } else { (end - read).abs() };
    }
    Some(unread)
}

/// Rows as text, cells divided by ` | `.
fn texts(found: Vec<SimpleQueryMessage>) -> Vec<String> {
    let text = |message| match message {
        SimpleQueryMessage::Row(row) => {
            let cells = (0..row.len()).map(|at| row.get(at).unwrap_or("null"));
            Some(cells.collect::<Vec<_>>().join(" | "))
        }
        _ => None,
    };
    found.into_iter().filter_map(text).collect()
}

/// All rows of all tables, sorted, and what was not used.
#[derive(Debug, Clone)]
pub struct Tables {
    /// `table: column | column …`
    pub rows: Vec<String>,
    /// Count of rows or intervals by reason.
    pub drops: BTreeMap<String, u64>,
}

impl Tables {
    /// Rows of one table.
    pub fn of<'a>(&'a self, table: &str) -> impl Iterator<Item = &'a str> {
        let begin = format!("{table}: ");
        self.rows.iter().filter_map(move |row| row.strip_prefix(&begin))
    }

    /// One table alone.
    pub fn only(&self, table: &str) -> Tables {
        let rows = self.rows.iter().filter(|row| row.starts_with(&format!("{table}: "))).cloned().collect();
        Tables { rows, drops: BTreeMap::new() }
    }

    /// Asserts that what was not used is the same.
    pub fn drops_equal(&self, undisturbed: &Tables) {
        assert_eq!(self.drops, undisturbed.drops, "what was not used differs from the undisturbed run");
    }

    /// Whether the rows of all tables are the same.
    fn has_rows_of(&self, other: &Tables) -> bool {
        self.rows == other.rows
    }

    /// Asserts that the rows of all tables are the same.
    pub fn rows_equal(&self, undisturbed: &Tables) {
        let (missing, more) =
            (only_in(&undisturbed.rows, &self.rows), only_in(&self.rows, &undisturbed.rows));
        if missing.is_empty() && more.is_empty() {
            return;
        }
        let shown = |sign: &str, rows: &[&String]| -> Vec<String> {
            // Signals show the first difference.
            let (signals, others): (Vec<&&String>, _) =
                rows.iter().partition(|row| row.starts_with("signals"));
            let first = signals.into_iter().take(SHOWN / 2).chain(others.into_iter().take(SHOWN));
            first.map(|row| format!("{sign} {row}")).collect()
        };
        panic!(
            "{} rows of the undisturbed run's {} are missing, {} are there that it does not have; drops {:?} \
             instead of {:?}; the first of them:\n{}\n{}",
            missing.len(),
            undisturbed.rows.len(),
            more.len(),
            self.drops,
            undisturbed.drops,
            shown("-", &missing).join("\n"),
            shown("+", &more).join("\n")
        );
    }
}

/// Rows of `a`, with repetitions, that `b` does not have; both are sorted.
fn only_in<'a>(a: &'a [String], b: &[String]) -> Vec<&'a String> {
    let (mut at, mut only) = (0, Vec::new());
    for row in a {
        while b.get(at).is_some_and(|other| other < row) {
            at += 1;
        }
        if b.get(at) == Some(row) {
            at += 1;
        } else {
            only.push(row);
        }
    }
    only
}
