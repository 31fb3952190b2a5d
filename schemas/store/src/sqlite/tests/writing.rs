//! What a commit leaves in the tables.

use super::*;
use crate::sqlite::open_reader;
use std::path::{Path, PathBuf};
use topology::LinkPlace;

fn open() -> (tempfile::TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = Store::open(&path, Retention::default()).unwrap();
    (folder, path, store)
}

fn one(path: &Path, sql: &str) -> f64 {
    number(&open_reader(path).unwrap(), sql)
}

#[test]
fn a_row_with_the_key_of_an_earlier_row_replaces_it() {
    let (_folder, path, mut store) = open();
    store.commit(&tick(2, 0), &[]).unwrap();
    let mut again = tick(2, 0);
    again.signals[1].value = 42.0;
    again.episodes = vec![episode(1, 0.0, 4.0), episode(1, 0.0, 8.0)];
    store.commit(&again, &[]).unwrap();
    store.commit(&again, &[]).unwrap();
    assert_eq!(one(&path, "SELECT count(*) FROM signals"), 2.0);
    assert_eq!(one(&path, "SELECT value FROM signals WHERE series_id = 1"), 42.0);
    assert_eq!(one(&path, "SELECT sum(slowdown_s) FROM episodes"), 6.0);
}

#[test]
fn a_figure_that_does_not_exist_is_null() {
    let (_folder, path, mut store) = open();
    let mut batch = tick(1, 0);
    batch.signals[0].value = f64::NAN;
    store.commit(&batch, &[]).unwrap();
    let nulls = "SELECT count(*) FROM signals WHERE value IS NULL AND bound IS NULL AND mean IS NOT NULL";
    assert_eq!(one(&path, nulls), 1.0);
}

#[test]
fn latest_is_the_newest_signal_whatever_the_order_of_arrival() {
    let (_folder, path, mut store) = open();
    let mut batch = tick(2, 0);
    batch.signals = [25.0, 3.0, 31.0, 30.0].map(|s| signal(0, s)).to_vec();
    store.commit(&batch, &[]).unwrap();
    assert_eq!(one(&path, "SELECT value FROM series_latest"), 31.0);
    batch.signals = vec![signal(0, 7.0)];
    store.commit(&batch, &[]).unwrap();
    assert_eq!(one(&path, "SELECT value FROM series_latest"), 31.0);
    assert_eq!(one(&path, "SELECT count(*) FROM signals WHERE series_id = 0"), 5.0);
}

#[test]
fn a_job_written_again_keeps_its_result_only() {
    let (_folder, path, mut store) = open();
    let mut batch = tick(1, 0);
    batch.jobs = vec![job("7", &["nid00001", "nid00002"], None)];
    batch.job_results = vec![job_result("7", &[("8", 0.5), ("9", 0.25)])];
    batch.job_series = vec![(name("7"), SeriesIndex(0)), (name("7"), SeriesIndex(0))];
    store.commit(&batch, &[]).unwrap();
    let update = ResultBatch { jobs: vec![job("7", &["nid00002"], Some(9.0))], ..ResultBatch::default() };
    store.commit(&update, &[]).unwrap();
    assert_eq!(one(&path, "SELECT count(*) FROM job_nodes"), 1.0);
    assert_eq!(one(&path, "SELECT count(*) FROM job_causes"), 2.0);
    assert_eq!(one(&path, "SELECT count(*) FROM job_series"), 1.0);
    let result = ResultBatch { job_results: vec![job_result("7", &[("9", 1.0)])], ..ResultBatch::default() };
    store.commit(&result, &[]).unwrap();
    assert_eq!(
        one(&path, "SELECT sum(share) FROM job_causes WHERE cause = 'other_job' AND kind = 'capacity'"),
        1.0
    );
}

#[test]
fn totals_replace_totals() {
    let (_folder, path, mut store) = open();
    let mut batch = tick(1, 0);
    for rows in 1..=3 {
        batch.drops.count(schemas::DropReason::Late);
        batch.last_seen = vec![producer(rows)];
        store.commit(&batch, &[]).unwrap();
    }
    assert_eq!(one(&path, "SELECT count FROM dropped_rows WHERE reason = 'late'"), 3.0);
    assert_eq!(one(&path, "SELECT rows FROM producers"), 3.0);
}

#[test]
fn a_batch_that_breaks_a_rule_leaves_nothing_behind() {
    let (_folder, path, mut store) = open();
    let mut batch = tick(1, 0);
    batch.episodes = vec![Episode { peak: f64::NAN, ..episode(1, 0.0, 1.0) }];
    let state = StateBlob { name: "s", version: 1, content: b"" };
    assert!(!store.commit(&batch, &[state]).unwrap_err().is_retryable());
    assert_eq!(one(&path, "SELECT count(*) FROM signals"), 0.0);
    assert_eq!(store.load_state("s").unwrap(), None);
}

#[test]
fn one_series_is_read_without_touching_the_others() {
    let (_folder, path, mut store) = open();
    for second in 0..30 {
        store.commit(&tick(50, second), &[]).unwrap();
    }
    let reader = open_reader(&path).unwrap();
    let plan: Vec<String> = reader
        .prepare(
            "EXPLAIN QUERY PLAN SELECT value FROM signals WHERE series_id = 7 AND time BETWEEN 1.0 AND 2.0",
        )
        .unwrap()
        .query_map([], |row| row.get(3))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let seek = "SEARCH r USING PRIMARY KEY (bucket=? AND series_id=? AND time>? AND time<?)";
    assert!(plan.iter().any(|step| step == seek), "{plan:#?}");
    assert_eq!(number(&reader, "SELECT sum(value) FROM signals WHERE series_id = 7"), 435.0);
}

#[test]
fn the_view_takes_rows_as_the_table_would() {
    let (_folder, path, mut store) = open();
    store.commit(&tick(2, 0), &[]).unwrap();
    let sql =
        "INSERT OR REPLACE INTO signals SELECT series_id, time, 9.0, mean, baseline, bound, state, slowdown_s,
               passed_per_s, waited_per_s FROM signals WHERE series_id = 1";
    store.connection.execute_batch(sql).unwrap();
    assert_eq!(one(&path, "SELECT sum(value) FROM signals"), 9.0);
    store.connection.execute_batch("DELETE FROM signals WHERE value > 8.0").unwrap();
    assert_eq!(one(&path, "SELECT count(*) FROM signals"), 1.0);
}

/// Each reader sees whole commits only: as many rows of every tick, and never less than before.
#[test]
fn two_readers_read_while_one_writes() {
    let (_folder, path, mut store) = open();
    store.commit(&tick(20, 0), &[]).unwrap();
    std::thread::scope(|scope| {
        let watch = || {
            let (reader, mut seen) = (open_reader(&path).unwrap(), 0.0);
            while seen < 20.0 * 60.0 {
                let now = number(&reader, "SELECT count(*) FROM signals");
                assert!(now >= seen && now % 20.0 == 0.0, "{now} after {seen}");
                seen = now;
            }
        };
        let readers = [scope.spawn(watch), scope.spawn(watch)];
        for second in 1..60 {
            store.commit(&tick(20, second), &[]).unwrap();
        }
        readers.into_iter().for_each(|r| r.join().unwrap());
    });
}

#[test]
fn links_have_their_places_and_new_ones_replace_them() {
    let (_folder, path, mut store) = open();
    let link = |series: &str, bundle: &str, bytes_per_s| LinkPlace {
        series: format!("aries_stall_ratio/{series}"),
        class: "black",
        from: name("c0-0c1s0"),
        to: name("c0-0c0s0"),
        bundle: bundle.to_string(),
        bytes_per_s,
    };
    let trunk = "c0-0c1s0 to c0-0c0s0";
    store.put_links(&[link("c0-0c0s0/r0c0", trunk, 5.25e9), link("c0-0c0s0/r0c1", trunk, 0.0)]).unwrap();
    // Of two links that one series would measure, the first counts.
    store.put_links(&[link("c0-0c0s0/r0c0", trunk, 0.0), link("c0-0c0s0/r0c0", "", 7.0)]).unwrap();
    let count = "SELECT count(*) FROM link_places WHERE class = 'black' AND bundle = 'c0-0c1s0 to c0-0c0s0'
                AND from_name = 'c0-0c1s0' AND to_name = 'c0-0c0s0' AND bytes_per_s IS NULL";
    assert_eq!((one(&path, count), one(&path, "SELECT count(*) FROM link_places")), (1.0, 1.0));
    store.put_links(&[]).unwrap();
    assert_eq!(one(&path, "SELECT count(*) FROM link_places"), 0.0);
}
