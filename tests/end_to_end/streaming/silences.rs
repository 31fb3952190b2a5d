//! A source that stops: reported in seconds of the rows' own time, silent in every answer until its next row.

use super::feed::{Feed, since_epoch};
use super::rows::{self, Row};
use super::site::Site;
use std::time::{Duration, Instant};
use support::documents;
use support::stack::turn;

/// Seconds of rows.
const SECONDS: u32 = 32;
/// The client that stops.
const STOPS: &str = "nid00006";
/// A client that does not.
const GOES_ON: &str = "nid00007";
/// Its first second without a row, and its first with one again.
const SILENT_S: std::ops::Range<i64> = 12..24;
/// Longest wait for what must be seen.
const WAIT_TIMEOUT: Duration = Duration::from_secs(240);

/// Takes the stopped client's rows of these seconds out; its last row before and its first after, microseconds.
fn stop(rows: &mut Vec<Row>, start_s: i64) -> (i64, i64) {
    let name = format!("\"producer\":\"{STOPS}\"");
    let is_its = |row: &Row| String::from_utf8_lossy(&row.payload).contains(&name);
    let silent_us = (start_s + SILENT_S.start) * 1_000_000..(start_s + SILENT_S.end) * 1_000_000;
    let its = |rows: &[Row]| -> Vec<i64> { rows.iter().filter(|r| is_its(r)).map(|r| r.time_us).collect() };
    assert_eq!(its(rows).len(), SECONDS as usize, "{STOPS} has a row a second");
    rows.retain(|row| !(is_its(row) && silent_us.contains(&row.time_us)));
    let left = its(rows);
    (left[SILENT_S.start as usize - 1], left[SILENT_S.start as usize])
}

/// Asks until the answer is as wanted.
fn until(site: &Site, query: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let found = site.database.rows(query);
        if wanted(&found) {
            return found;
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{query} gives {found:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The silence is reported not before two seconds and not after six.
fn is_reported_in_time(site: &Site, last_us: i64) {
    // The newest signal of the same moment says how far the rows' time had come, however slow this machine is.
    let query = format!(
        "SELECT (SELECT round(extract(epoch FROM max(time)) * 1e6)::bigint FROM signal_rows) FROM silences
         WHERE producer = '{STOPS}' AND until_time IS NULL AND round(extract(epoch FROM from_time) * 1e6) = {last_us}"
    );
    let newest_us: i64 = until(site, &query, |rows| rows.len() == 1)[0].parse().unwrap();
    let (clock_us, stream_us) = (since_epoch().as_micros() as i64 - last_us, newest_us - last_us);
    eprintln!(
        "reported {:.2} s after the last row; others had rows {:.2} s after it",
        clock_us as f64 / 1e6,
        stream_us as f64 / 1e6
    );
    // Rows are pushed at the clock's pace, so the silence cannot be reported earlier by the clock than by the rows.
    assert!(clock_us >= 2_000_000, "reported {clock_us} us after the last row");
    assert!(stream_us <= 6_000_000, "reported when others had rows {stream_us} us after the last row");
}

/// `sources` and `completeness` while the client is silent.
fn counts_as_silent(site: &Site, last_us: i64) {
    until(site, "SELECT producer FROM sources WHERE state = 'silent'", |found| found == [STOPS]);
    let (from, to) = (last_us as f64 / 1e6, last_us as f64 / 1e6 + 2.0);
    let query = format!(
        "SELECT kind, name, silent_now, round(completeness::numeric, 3)
         FROM completeness(to_timestamp({from:.6}), to_timestamp({to:.6}))
         WHERE kind = 'system' OR (kind = 'node' AND name IN ('{STOPS}', '{GOES_ON}')) ORDER BY 1, 2"
    );
    // Eight clients and two routers.
    let wanted = [
        format!("node | {STOPS} | 1 | 0.000"),
        format!("node | {GOES_ON} | 0 | 1.000"),
        "system |  | 1 | 0.900".into(),
    ];
    until(site, &query, |found| found == wanted);
    documented_queries(site);
}

/// The queries of docs/sql.md, at that moment.
fn documented_queries(site: &Site) {
    let block = documents::block("docs/sql.md", "SELECT * FROM sources");
    let queries: Vec<&str> = block.split_inclusive(';').filter(|query| query.contains("SELECT")).collect();
    let [sources, completeness, jobs] = queries[..] else { panic!("{queries:?}") };
    let silent = site.database.rows(sources);
    assert!(matches!(&silent[..], [one] if one.contains(STOPS) && one.contains("silent")), "{silent:?}");
    let groups = site.database.rows(completeness);
    assert!(!groups.is_empty() && groups.iter().all(|row| row.starts_with("group | ")), "{groups:?}");
    let jobs = site.database.rows(jobs);
    assert!(!jobs.is_empty(), "{jobs:?}");
}

/// The default rule, but for how long a source must be silent.
fn rule_of_seconds(site: &Site) {
    let default = alerts::rule::DEFAULTS.iter().find(|(file, _)| *file == "data_missing.toml").unwrap().1;
    let rule = default.replace("least_duration_s = 60", "least_duration_s = 10");
    assert_ne!(rule, default);
    let folder = site.config.with_extension("rules");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("data_missing.toml"), rule).unwrap();
    site.configure(&format!("[alerts]\nrules = [{:?}]\n", folder.display().to_string()));
}

#[test]
fn data_missing_fires_when_all_sources_stop() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "all_stop");
    rule_of_seconds(&site);
    let mut process = site.start();
    process.wait_for_times("partitions claimed", 2);
    let feed = Feed::to(&site);
    let live = |seconds: u32| {
        let start_s = since_epoch().as_secs() as i64 + 3;
        feed.live(&rows::live(start_s, seconds), start_s, |_| {});
    };
    live(12);
    let stopped = Instant::now();
    let firing = "SELECT count(*) > 0 FROM alerts WHERE rule = 'data_missing' AND resolved IS NULL";
    until(&site, firing, |found| found == ["t"]);
    let after_s = stopped.elapsed().as_secs_f64();
    eprintln!("data_missing fired {after_s:.1} s after the last row");
    assert!(after_s >= 9.0, "fired {after_s} s after the last row");
    live(30);
    let resolved = "SELECT count(*) > 0 FROM alerts WHERE rule = 'data_missing' AND resolved IS NOT NULL";
    until(&site, resolved, |found| found == ["t"]);
    process.finish();
}

#[test]
fn stopped_source_is_silent_within_seconds_until_its_next_row() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "silences");
    let mut process = site.start();
    process.wait_for_times("partitions claimed", 2);
    let start_s = since_epoch().as_secs() as i64 + 3;
    let mut rows = rows::live(start_s, SECONDS);
    let (last_us, next_us) = stop(&mut rows, start_s);
    let feed = Feed::to(&site);
    std::thread::scope(|scope| {
        scope.spawn(|| feed.live(&rows, start_s, |_| {}));
        is_reported_in_time(&site, last_us);
        counts_as_silent(&site, last_us);
        until(&site, "SELECT producer FROM sources WHERE state = 'silent'", <[String]>::is_empty);
    });
    let over = "SELECT producer, schema, component, round(extract(epoch FROM from_time) * 1e6)::bigint,
                       round(extract(epoch FROM until_time) * 1e6)::bigint
                FROM silences WHERE until_time IS NOT NULL";
    site.settled_for_now();
    let samplers = "SELECT DISTINCT state, event_driven FROM sources WHERE schema = 'slurm_jobs'";
    assert_eq!(site.database.rows(samplers), ["reports | t"], "samplers of jobs report");
    assert_eq!(
        site.database.rows(over),
        [format!("{STOPS} | lustre_client | {STOPS} | {last_us} | {next_us}")],
        "all silences that ended"
    );
    process.finish();
}
