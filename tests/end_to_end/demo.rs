//! The demo as a user runs it, without the page; the page has a test in a browser (`dashboards/tests/browser.py`).

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// Simulated seconds: both contentions begin within them, on Lustre at 120 and on Aries at 58.
const SECONDS: &str = "200";

fn demo(store: &Path, speed: &str) -> Command {
    let mut command = Command::new(crate::TAILBACK);
    command.args(["demo", "--no-page", "--seconds", SECONDS, "--start", "1700000000", "--speed", speed]);
    command.arg("--store").arg(store).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// One complete run of the demo for all tests that read it: its store and its output.
fn whole_demo() -> &'static (PathBuf, String) {
    static DEMO: OnceLock<(PathBuf, String)> = OnceLock::new();
    DEMO.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo");
        // Left by an earlier run of the tests.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let store = folder.join("demo.db");
        let output = demo(&store, "0").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (store, String::from_utf8(output.stderr).unwrap())
    })
}

/// Every row of every table of results, as text, in a fixed order.
fn dump(store: &Path) -> Vec<String> {
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut rows = Vec::new();
    for table in [
        "series",
        "signals",
        "series_latest",
        "episodes",
        "jobs",
        "job_nodes",
        "job_results",
        "job_causes",
        "job_series",
        "dropped_rows",
        "producers",
    ] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let cells: Vec<String> = (0..columns).map(|c| format!("{:?}", row.get_ref_unwrap(c))).collect();
            rows.push(format!("{table}: {}", cells.join(", ")));
        }
    }
    rows.sort();
    rows
}

/// The newest tick in the store; 0 before the first commit.
fn newest_tick(store: &Path) -> i64 {
    let newest = |connection: Connection| {
        connection.query_row("SELECT coalesce(max(time), 0) FROM signals", [], |row| row.get::<_, f64>(0))
    };
    let opened = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY);
    opened.and_then(newest).map_or(0, |time_s| time_s as i64)
}

/// Milliseconds to live after the first commit of each round, by a fixed generator.
fn lifetimes(seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 700
    };
    (0..6).map(|_| next()).collect()
}

#[test]
fn after_kill_9_tables_equal_those_of_an_undisturbed_run() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.db");
    let seed = 20_261_120;
    let mut continued = 0;
    for lifetime_ms in lifetimes(seed) {
        let before = newest_tick(&broken);
        let mut child = demo(&broken, "60").spawn().unwrap();
        while newest_tick(&broken) == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(lifetime_ms));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        continued += usize::from(String::from_utf8_lossy(&output.stderr).contains("continuing the demo"));
    }
    assert!(demo(&broken, "0").status().unwrap().success());
    assert!(continued >= 2, "seed {seed}: only {continued} of the killed runs had something to continue");
    let (whole, broken) = (dump(&whole_demo().0), dump(&broken));
    assert!(whole.iter().filter(|row| row.starts_with("signals")).count() > 100_000);
    let differs = whole.iter().zip(&broken).find(|(a, b)| a != b);
    assert!(differs.is_none(), "seed {seed}: {differs:?}");
    assert_eq!(whole.len(), broken.len(), "seed {seed}");
}

#[test]
fn summary_compares_estimates_with_the_truth() {
    let (_, text) = whole_demo();
    let victim: Vec<&str> =
        text.lines().find(|line| line.starts_with("1001")).unwrap().split_whitespace().collect();
    let found_s: f64 = victim[3].parse().unwrap();
    let true_s: f64 = victim[6].parse().unwrap();
    assert!((found_s - true_s).abs() < 0.05 * true_s, "{text}");
    assert!(text.contains("jobs of a round that was stopped"), "{text}");
    assert!(
        text.contains("as fast as the machine can. What to look at") && text.contains("2:00 into the round"),
        "{text}"
    );
}

/// Of text like `the interval holds the truth for 3 of 4 jobs`: both numbers.
fn held(text: &str) -> (usize, usize) {
    let (_, rest) = text.split_once("the interval holds the truth for ").unwrap();
    let words: Vec<&str> = rest.split_whitespace().collect();
    (words[0].parse().unwrap(), words[2].parse().unwrap())
}

#[test]
fn summary_has_the_last_complete_round_and_the_store_keeps_to_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("small.db");
    let mut command = Command::new(crate::TAILBACK);
    command.args(["demo", "--no-page", "--seconds", "700", "--start", "1700000000", "--speed", "0"]);
    let output = command.args(["--max-size", "16", "--store"]).arg(&store).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let marks = ["holds the truth", "MISSES the truth", "no data"];
    let jobs: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("10") && marks.iter().any(|m| line.contains(m)))
        .collect();
    assert!(
        jobs.iter().any(|line| line.contains("ior_first")) && jobs.iter().any(|line| line.contains("cth")),
        "{text}"
    );
    let (held, all) = held(&text);
    assert_eq!(
        (all, held),
        (jobs.len(), jobs.iter().filter(|line| line.contains("holds the truth")).count()),
        "{text}"
    );
    assert!(text.contains("of the last complete round"), "{text}");
    // One round alone: the jobs of the next one have started, too.
    assert_eq!(jobs.iter().filter(|line| line.contains("ior_first")).count(), 1, "{text}");
    let bytes = store.metadata().unwrap().len();
    assert!(bytes <= 16_000_000, "{bytes}");
    assert!(text.contains(&format!("has {:.1} MB, of at most 16 MB", bytes as f64 / 1e6)), "{text}");
}

#[test]
fn file_that_is_not_a_store_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("precious.db");
    std::fs::write(&file, b"not a store of ours").unwrap();
    let output = demo(&file, "0").output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("precious.db"));
    assert_eq!(std::fs::read(&file).unwrap(), b"not a store of ours");
}

#[test]
fn nodes_and_links_have_the_places_of_the_topology() {
    let (store, _) = whole_demo();
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT count(*), count(n.node) FROM producers p
               LEFT JOIN node_switches n ON n.node = p.producer AND n.switch = p.component
               WHERE p.schema LIKE '%rtr%'";
    let (reporting, placed): (u32, u32) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(reporting > 0);
    assert_eq!(placed, reporting);
    // Every link between routers has a series where its receiving router reports; some links are parallel.
    let sql = "SELECT count(*), count(s.name), count(*) FILTER (WHERE l.bundle <> '') FROM link_places l
               LEFT JOIN series s ON s.name = l.series
               WHERE l.class <> 'host' AND l.to_name IN (SELECT component FROM series)";
    let (links, reporting, parallel): (u32, u32, u32) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert!(links > 0 && parallel > 0, "{links} links, {parallel} parallel");
    assert_eq!(reporting, links);
}

#[test]
fn report_names_the_loss_and_its_cause() {
    let (store, _) = whole_demo();
    let report = |job: &str| {
        Command::new(crate::TAILBACK).args(["report", job, "--store"]).arg(store).output().unwrap()
    };
    let text = String::from_utf8(report("1001").stdout).unwrap();
    assert!(text.contains("job 1004") && text.contains("2/snx11137"), "{text}");
    let unknown = report("9999");
    assert!(!unknown.status.success());
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("9999"));
}
