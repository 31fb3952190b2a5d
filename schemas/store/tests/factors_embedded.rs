//! Calibration from finished runs of one configuration, in the embedded store. The same cases as on a server (`factors.rs`).

use detector::factors::learnt::learn;
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use store::sqlite::{Retention, Store};

/// Runs of `app` on two nodes: `clear_s` seconds and six tenths of the contention.
fn runs(to: &Connection, app: &str, first: u32, clear_s: f64, lost: &[f64], node: &str) {
    for (at, lost_s) in lost.iter().enumerate() {
        let job = (first + at as u32).to_string();
        let run_s = clear_s + 0.6 * lost_s + if at % 2 == 0 { 2.0 } else { -2.0 };
        let sql = format!(
            "INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app)
             VALUES ('{job}', 'alice', 'x', 1.7e9, {:.3}, '{app}');
             INSERT INTO job_nodes (job_id, node) VALUES ('{job}', '{node}1'), ('{job}', '{node}2');
             INSERT INTO job_results (job_id, contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness)
             VALUES ('{job}', {lost_s:.1}, {lost_s:.1}, {:.1}, {:.1}, 1.0);
             INSERT INTO job_causes (job_id, position, cause, kind, series_or_job, share)
             VALUES ('{job}', 0, 'other_job', 'capacity', '9', 0.7), ('{job}', 1, 'self', 'endpoint', '{job}', 0.2);",
            1.7e9 + run_s,
            lost_s * 0.9,
            lost_s * 1.1,
        );
        to.execute_batch(&sql).unwrap();
    }
}

fn asked(from: &Connection, sql: &str) -> String {
    from.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn the_embedded_store_learns_beta_and_writes_factors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tailback.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch(
            "INSERT INTO node_switches VALUES ('near1', 's1', 'g1'), ('near2', 's1', 'g1'),
                                              ('far1', 's1', 'g1'), ('far2', 's2', 'g2')",
        )
        .unwrap();
    runs(&other, "cfd", 100, 1_000.0, &[0.0, 50.0, 100.0, 150.0, 200.0, 250.0], "near");
    runs(&other, "rare", 300, 1_000.0, &[100.0], "near");
    assert_eq!(store.learn(learn).unwrap(), (1, 7));
    let beta = "SELECT version || ' ' || runs || ' ' || round(beta, 1) || ' ' || (beta_lo < 0.6 AND 0.6 < beta_hi) FROM betas";
    assert_eq!(asked(&other, beta), "1 6 0.6 1");
    // The same runs change nothing; runs of another placement do.
    assert_eq!(store.learn(learn).unwrap().0, 0);
    runs(&other, "cfd", 200, 1_200.0, &[0.0, 100.0, 200.0], "far");
    assert_eq!(store.learn(learn).unwrap().0, 1);
    let placement =
        |job: u32| format!("SELECT '' || round(placement, 1) FROM job_factors WHERE job_id = '{job}'");
    assert_eq!(asked(&other, &placement(200)), "1.2");
    let rare =
        "SELECT configuration || ': ' || other_s || ' ' || self_s || ' ' || beta_version || ' ' || caveat
                FROM job_factors WHERE job_id = '300'";
    let expected = "rare on 2 nodes: 70.0 20.0 0 no finished runs of this configuration to learn from";
    assert_eq!(asked(&other, rare), expected);
    let ordered = "SELECT '' || min(other_lo_s <= other_s AND other_s <= other_hi_s AND self_lo_s <= self_s
                                    AND self_s <= self_hi_s) FROM job_factors";
    assert_eq!(asked(&other, ordered), "1");
}

#[test]
fn learning_waits_for_others_that_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tailback.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    let (runner, writer) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
    let ended = AtomicBool::new(false);
    let timeout = std::time::Duration::from_secs(30);
    [&runner, &writer].into_iter().for_each(|connection| connection.busy_timeout(timeout).unwrap());
    let ended = &ended;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                writer.execute_batch("INSERT OR REPLACE INTO node_switches VALUES ('n', 's', 'g')").unwrap();
            }
        });
        let learnt: Vec<_> = (0..200)
            .map(|job| {
                runs(&runner, "cfd", 100 + job, 1_000.0, &[50.0], "near");
                store.learn(learn)
            })
            .collect();
        ended.store(true, Ordering::Relaxed);
        learnt.into_iter().for_each(|learnt| assert!(learnt.unwrap().1 > 0));
    });
}
