//! A store with four series, two episodes and two jobs, built with the migrations of the real one.

use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use store::migrations::SQLITE_MIGRATIONS;
use store::sqlite::put_metrics;

/// The latest event time.
pub const NOW: f64 = 1_800_000_600.0;

const ROWS: &str = r#"
INSERT INTO series VALUES
    (0, 'lustre_write_rate/nid00012/snx11137', 'lustre_write_rate', 'nid00012', 'snx11137'),
    (1, 'aries_stall_ratio/c0-0c0s0/r0c0', 'aries_stall_ratio', 'c0-0c0s0', 'r0c0'),
    (2, 'aries_stall_ratio/c0-0c0s0/r0c1', 'aries_stall_ratio', 'c0-0c0s0', 'r0c1'),
    (3, 'aries_stall_ratio/c0-0c0s1', 'aries_stall_ratio', 'c0-0c0s1', NULL);
INSERT INTO series_latest VALUES
    (0, 1800000600.0, 6.7e8, 6.7e8, 1e9, 8.6e8, 'contended', 40.0),
    (1, 1800000600.0, 0.3, 0.3, 0.3, 0.4, 'clear', 0.0),
    (2, 1800000600.0, 0.0, NULL, NULL, NULL, 'idle', 0.0),
    (3, 1800000590.0, 0.3, 0.3, 0.3, 0.4, 'clear', 0.0);
INSERT INTO episodes VALUES
    (1, 0, 1800000100.0, 1800000196.0, 0, 6.7e8, 1e9, 31.7, 29.9, 33.4, 1.0,
     '[[1800000100.0, 0.0], [1800000196.0, 31.7]]',
     '[{"cause":"other_job","kind":"endpoint","series_or_job":"4711","share":0.8}]'),
    (2, 0, 1800000575.0, 1800000600.0, 1, 6.7e8, 1e9, 8.3, 7.9, 8.8, 1.0,
     '[[1800000575.0, 0.0], [1800000600.0, 8.3]]', '[]');
INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app) VALUES
    ('4710', 'amelie', '<img src=x onerror=alert(1)>', 1800000000.0, NULL, 'hacc_io'),
    ('4711', 'bo', '', 1800000300.0, NULL, NULL);
INSERT INTO job_nodes VALUES ('4710', 'nid00012'), ('4711', 'nid00040');
INSERT INTO job_series VALUES ('4710', 0), ('4711', 0);
INSERT INTO job_results VALUES ('4710', 121.0, 40.0, 37.8, 42.2, 1.0, 1.0);
INSERT INTO job_causes VALUES ('4710', 0, 'other_job', 'endpoint', '4711', 0.8);
INSERT INTO node_switches VALUES ('nid00012', 'c0-0c0s0', 'c0-0..c1-0');
INSERT INTO regions VALUES
    (1, 'aries_stall_ratio', 'router c0-0c0s0', 1800000500.0, 1800000600.0, 1, 1, 1, 4.0, 'avoidable', 0.9, 0.5,
     'other_job', 0.8, 1.0);
INSERT INTO regions VALUES
    (2, 'aries_stall_ratio', 'c0-0c1s0 to c0-0c0s0', 1800000510.0, 1800000540.0, 0, 1, 1, 2.0, 'unknown', 0.0, 0.0,
     'unknown', 0.0, 1.0);
INSERT INTO region_steps VALUES
    (1, 1800000500.0, 'began', 0, 1, 'aries_stall_ratio/c0-0c0s0/r0c0', 1.5),
    (1, 1800000520.0, 'grew', 0, 2, 'aries_stall_ratio/c0-0c0s0/r0c0', 4.0),
    (1, 1800000540.0, 'took_up', 2, 3, 'aries_stall_ratio/c0-0c0s0/r0c0', 3.0),
    (1, 1800000580.0, 'shrank', 0, 1, 'aries_stall_ratio/c0-0c0s0/r0c0', NULL);
INSERT INTO region_causes VALUES
    (1, 0, 'other_job', '4711', 0.7, 0.8, '["nodes_on_router", "change_point"]');
INSERT INTO region_victims VALUES (2, '4710', 0, 3.0, 2.5, 3.5, 0.75), (2, 'gone', 1, 1.0, 0.5, 1.5, 0.25);
INSERT INTO link_places VALUES
    ('aries_stall_ratio/c0-0c0s0/r0c0', 'black', 'c0-0c1s0', 'c0-0c0s0', 'c0-0c1s0 to c0-0c0s0', 5.25e9),
    ('aries_stall_ratio/c0-0c0s0/r0c1', 'black', 'c0-0c1s0', 'c0-0c0s0', 'c0-0c1s0 to c0-0c0s0', NULL),
    ('aries_stall_ratio/c0-0c0s1/r0c0', 'green', 'c0-0c0s0', 'c0-0c0s1', '', NULL);
INSERT INTO region_series VALUES (1, 'aries_stall_ratio/c0-0c0s0/r0c0', 0), (1, 'aries_stall_ratio/c0-0c0s0/r0c1', NULL);
INSERT INTO dropped_rows VALUES ('late', 12), ('duplicate', 0);
INSERT INTO producers VALUES
    ('nid00012', 'lustre_client', 'nid00012', 'snx11137', 1800000600.0, 600),
    ('nid00099', 'lustre_client', 'nid00099', 'snx11137', 1800000500.0, 500);
"#;

/// A store with tables only.
pub fn empty_store(folder: &Path) -> PathBuf {
    let path = folder.join("store.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    for migration in SQLITE_MIGRATIONS {
        connection.execute_batch(migration).unwrap();
    }
    put_metrics(&connection).unwrap();
    path
}

/// A store with rows.
pub fn store(folder: &Path) -> PathBuf {
    let path = empty_store(folder);
    let mut connection = Connection::open(&path).unwrap();
    let transaction = connection.transaction().unwrap();
    transaction.execute_batch(ROWS).unwrap();
    for tick in 0..=600 {
        let sql = "INSERT INTO signals VALUES (0, ?1, 1e9, 1e9, 1e9, 8.6e8, 'clear', 0.0, NULL, NULL)";
        transaction.execute(sql, params![1_800_000_000.0 + f64::from(tick)]).unwrap();
    }
    transaction.commit().unwrap();
    path
}
