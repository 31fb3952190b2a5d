//! The two runners: rows through Kafka, with faults, and rows through `tailback replay` make the same tables, row for row.

use super::feed::Feed;
use super::rows::{self, Dice, Row, in_order_of_arrival, scatter};
use super::site::Site;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::stack::turn;

/// A table: its name, its query in the database of `tailback run`, and that in the store of `tailback replay`.
const TABLES: [(&str, &str, &str); 10] = [
    (
        "signals",
        "SELECT s.name, 't' || (extract(epoch FROM r.time) * 1000000)::bigint, tailback_state(r.state), r.value, r.mean,
                r.baseline, r.bound, r.slowdown_s, r.passed_per_s, r.waited_per_s
         FROM signal_rows r JOIN series s USING (series_id)",
        "SELECT s.name, 't' || CAST(round(r.time * 1000000) AS INTEGER), r.state, r.value, r.mean, r.baseline, r.bound,
                r.slowdown_s, r.passed_per_s, r.waited_per_s FROM signal_rows r JOIN series s USING (series_id)",
    ),
    (
        "episodes",
        "SELECT s.name, 't' || (extract(epoch FROM e.start_time) * 1000000)::bigint,
                't' || (extract(epoch FROM e.end_time) * 1000000)::bigint, e.peak, e.baseline, e.slowdown_s,
                e.slowdown_lo_s, e.slowdown_hi_s, e.completeness
         FROM episodes e JOIN series s USING (series_id)",
        "SELECT s.name, 't' || CAST(round(e.start_time * 1000000) AS INTEGER),
                't' || CAST(round(e.end_time * 1000000) AS INTEGER), e.peak, e.baseline, e.slowdown_s, e.slowdown_lo_s,
                e.slowdown_hi_s, e.completeness FROM episodes e JOIN series s USING (series_id)",
    ),
    ("job_results", JOB_RESULTS, JOB_RESULTS),
    ("job_causes", "SELECT * FROM job_causes", "SELECT * FROM job_causes"),
    ("job_nodes", "SELECT * FROM job_nodes", "SELECT * FROM job_nodes"),
    (
        "regions",
        "SELECT region_id, metric, name, 't' || (extract(epoch FROM start_time) * 1000000)::bigint,
                't' || (extract(epoch FROM end_time) * 1000000)::bigint, open::integer, links, links_most, peak, kind,
                kind_confidence, relief, cause, confidence, completeness FROM regions",
        "SELECT region_id, metric, name, 't' || CAST(round(start_time * 1000000) AS INTEGER),
                't' || CAST(round(end_time * 1000000) AS INTEGER), open, links, links_most, peak, kind,
                kind_confidence, relief, cause, confidence, completeness FROM regions",
    ),
    (
        "region_steps",
        "SELECT region_id, 't' || (extract(epoch FROM time) * 1000000)::bigint, change, other, links, worst_series, worst
         FROM region_steps",
        "SELECT region_id, 't' || CAST(round(time * 1000000) AS INTEGER), change, other, links, worst_series, worst
         FROM region_steps",
    ),
    ("region_series", REGION_SERIES, REGION_SERIES),
    ("region_causes", REGION_CAUSES, REGION_CAUSES),
    ("region_victims", REGION_VICTIMS, REGION_VICTIMS),
];
const JOB_RESULTS: &str =
    "SELECT job_id, contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, judged
     FROM job_results";
const REGION_SERIES: &str = "SELECT region_id, series, position FROM region_series";
const REGION_CAUSES: &str =
    "SELECT region_id, position, cause, series_or_job, share, confidence FROM region_causes";
const REGION_VICTIMS: &str =
    "SELECT region_id, job_id, position, lost_s, lost_lo_s, lost_hi_s, share FROM region_victims";
/// Differing rows that are shown of a table.
const SHOWN: usize = 6;

/// A cell as text. Numbers have the precision of the narrower of the two databases.
fn cell(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_string(), number)
}

fn number(value: f64) -> String {
    (value as f32).to_string()
}

/// Rows of a query in the store of a replay.
pub(super) fn stored(store: &Connection, query: &str) -> BTreeSet<String> {
    let mut query = store.prepare(query).unwrap();
    let columns = query.column_count();
    let mut rows = query.query([]).unwrap();
    let mut found = BTreeSet::new();
    while let Some(row) = rows.next().unwrap() {
        let cells = (0..columns).map(|at| match row.get_ref(at).unwrap() {
            ValueRef::Null => "null".to_string(),
            ValueRef::Integer(value) => cell(&value.to_string()),
            ValueRef::Real(value) => number(value),
            ValueRef::Text(text) | ValueRef::Blob(text) => cell(&String::from_utf8_lossy(text)),
        });
        found.insert(cells.collect::<Vec<_>>().join(" | "));
    }
    found
}

/// Rows of a query in the database of a site.
pub(super) fn written(site: &Site, query: &str) -> BTreeSet<String> {
    let rows = site.database.rows(query);
    rows.iter().map(|row| row.split(" | ").map(cell).collect::<Vec<_>>().join(" | ")).collect()
}

/// Replays the rows with the site's settings; the store that this makes.
pub(super) fn replayed(site: &Site, rows: &[Row], folder: &Path) -> Connection {
    let input = folder.join("rows.jsonl");
    let lines: Vec<&[u8]> = rows.iter().map(|row| row.payload.as_slice()).collect();
    std::fs::write(&input, lines.join(&b'\n')).unwrap();
    let out = folder.join("out");
    let mut command = Command::new(crate::TAILBACK);
    command.arg("replay").arg(&input).arg("--topology").arg(site.topology());
    let done = command.arg("--out").arg(&out).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Connection::open(out.join("tailback.db")).unwrap()
}

/// What differs, with the first rows of each side.
pub(super) fn difference(table: &str, kafka: &BTreeSet<String>, replay: &BTreeSet<String>) -> Option<String> {
    let shown = |sign: &str, a: &BTreeSet<String>, b: &BTreeSet<String>| -> String {
        a.difference(b).take(SHOWN).map(|row| format!("\n{sign} {row}")).collect()
    };
    let (more, missing) = (kafka.difference(replay).count(), replay.difference(kafka).count());
    (more + missing > 0).then(|| {
        format!(
            "{table}: of {} and {} rows {more} are in Kafka's alone, {missing} in the replay's alone{}{}",
            kafka.len(),
            replay.len(),
            shown("+", kafka, replay),
            shown("-", replay, kafka)
        )
    })
}

#[test]
fn kafka_with_faults_and_replay_make_the_same_rows() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "replayed");
    let rows = rows::settled();
    let mut disturbed = rows.clone();
    scatter(&mut disturbed, &mut Dice::new("replayed"));
    Feed::to(&site).all(&in_order_of_arrival(disturbed));
    let mut moments = Dice::new("replayed kills");
    for _ in 0..3 {
        let process = site.start();
        std::thread::sleep(Duration::from_millis(500 + moments.below(4_000)));
        process.kill();
    }
    let process = site.start();
    let settled = site.settled();
    let folder = tempfile::tempdir().unwrap();
    let store = replayed(&site, &rows, folder.path());
    let differences: Vec<String> = TABLES
        .iter()
        .filter_map(|(table, kafka, replay)| {
            difference(table, &written(&site, kafka), &stored(&store, replay))
        })
        .collect();
    assert!(differences.is_empty(), "drops {:?}\n{}", settled.drops, differences.join("\n"));
    assert!(settled.of("regions").next().is_some(), "the rows make no region");
    process.finish();
}
