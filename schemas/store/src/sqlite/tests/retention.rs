//! What goes, what stays, and that the file does not grow without end.

use super::*;
use crate::sqlite::open_reader;

#[test]
fn the_file_stays_bounded_by_age() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let retention = Retention { signals_s: 60.0, ..Retention::default() };
    let mut store = Store::open(&path, retention).unwrap();
    let mut largest_early = 0;
    for second in 0..600 {
        store.commit(&tick(200, second), &[]).unwrap();
        while store.expire(at(f64::from(second))).unwrap() {}
        let size = std::fs::metadata(&path).unwrap().len();
        if second < 200 {
            largest_early = largest_early.max(size);
        } else {
            assert!(size <= largest_early + largest_early / 4, "{size} after {largest_early}");
        }
    }
    let reader = open_reader(&path).unwrap();
    let oldest = number(&reader, "SELECT min(value) FROM signals");
    assert!((530.0..=540.0).contains(&oldest), "{oldest}");
    assert_eq!(number(&reader, "SELECT count(*) FROM series_latest"), 200.0);
}

#[test]
fn the_file_stays_bounded_by_size_and_the_newest_signals_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let retention = Retention { bytes_max: Some(2 << 20), ..Retention::default() };
    let mut store = Store::open(&path, retention).unwrap();
    for second in 0..400 {
        store.commit(&tick(500, second), &[]).unwrap();
        while store.expire(at(f64::from(second))).unwrap() {}
    }
    // Shrinking reaches the file itself at a checkpoint; the log may hold that back by its own length.
    let _ = store.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    assert!(std::fs::metadata(&path).unwrap().len() <= 2 << 20);
    let reader = open_reader(&path).unwrap();
    assert_eq!(number(&reader, "SELECT max(value) FROM signals"), 399.0);
    assert!(number(&reader, "SELECT count(*) FROM signals") > 10_000.0);
}

#[test]
fn one_call_deletes_a_slice_and_says_that_more_is_due() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db"), Retention::default()).unwrap();
    for second in 0..3 {
        store.commit(&tick(40_000, second), &[]).unwrap();
    }
    let much_later = at(1e6);
    assert!(store.expire(much_later).unwrap());
    let left = number(&store.connection, "SELECT count(*) FROM signals");
    assert!((70_000.0..70_010.0).contains(&left), "{left}");
    while store.expire(much_later).unwrap() {}
    assert_eq!(number(&store.connection, "SELECT count(*) FROM signals"), 0.0);
}

#[test]
fn old_episodes_and_jobs_go_but_not_open_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db"), Retention::default()).unwrap();
    let mut batch = tick(1, 0);
    let (ended, mut open) = (episode(1, 0.0, 9.0), episode(2, 0.0, 9.0));
    open.open = true;
    batch.episodes = vec![ended, open];
    batch.jobs = vec![job("7", &["nid00000"], Some(9.0)), job("8", &["nid00000"], None)];
    batch.job_results = vec![job_result("7", &[("9", 1.0)]), job_result("8", &[])];
    store.commit(&batch, &[]).unwrap();
    store.expire(at(91.0 * 86_400.0)).unwrap();
    let one = |sql| number(&store.connection, sql);
    assert_eq!(one("SELECT sum(id) FROM episodes"), 2.0);
    assert_eq!(one("SELECT sum(job_id) FROM jobs"), 8.0);
    assert_eq!(one("SELECT count(*) FROM job_causes"), 0.0);
    assert_eq!(one("SELECT count(*) FROM job_nodes"), 1.0);
}
