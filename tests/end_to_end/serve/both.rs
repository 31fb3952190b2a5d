//! The same rows in a store and in a database, written by the project's own writers.

use rusqlite::Connection;
use schemas::{DropReason, LastSeen, ResultBatch, SeriesIndex};
use std::path::{Path, PathBuf};
use store::postgres::{PgStore, roll_up};
use store::sqlite::{Retention, Store};
use support::answers::{at, batch, commit_to_server, name};
use support::database::Database;

/// Links and incidents, which these writers do not write: the same statements fit both stores.
const BESIDE: &str = r#"
INSERT INTO link_places VALUES
    ('aries_stall_ratio/c0-0c0s0/r0c0', 'black', 'c0-0c0s0', 'c0-0c1s0', 'c0-0c0s0 to c0-0c1s0', 5.25e9),
    ('aries_stall_ratio/c0-0c0s0/r0c1', 'black', 'c0-0c0s0', 'c0-0c1s0', 'c0-0c0s0 to c0-0c1s0', NULL),
    ('aries_stall_ratio/c0-0c0s1/r0c0', 'green', 'c0-0c0s1', 'c0-0c0s0', '', NULL);
INSERT INTO alert_incidents VALUES
    ('0123456789abcdef', 'region', 'warning', 'router c0-0c0s0', 'firing', 1795168900, 1795168960, NULL, 1795169900, 1,
     'avoid', 'a sentence', '{"version":1,"key":"0123456789abcdef.1"}'),
    ('123456789abcdef0', 'storage_contended', 'warning', 'snx11137', 'firing', 1795168920, 1795168940, NULL, 1795169900, 1,
     'throttle_io', 'a sentence', '{"version":1,"key":"123456789abcdef0.1","members":4,"slowdown_s":213.5,"slowdown_lo_s":200.5,
     "slowdown_hi_s":220.5,"completeness":1,"labels":{"mount":"snx11137","metric":"lustre_write_rate"},
     "advice":{"causes":["1235"],"confidence":0.75}}'),
    ('23456789abcdef01', 'storage_contended', 'warning', 'snx11137', 'resolved', 1795160000, 1795160040, 1795160100, 1795160100, 2,
     'none_capacity', 'a sentence', '{"version":1,"key":"23456789abcdef01.2","members":1,"slowdown_s":3.5,"slowdown_lo_s":2.5,
     "slowdown_hi_s":4.5,"completeness":0.5,"labels":{"mount":"snx11137","metric":"lustre_write_rate"},
     "advice":{"causes":[],"confidence":0}}'),
    ('3456789abcdef012', 'storage_contended', 'warning', 'r0c0', 'resolved', 1795168800, 1795168860, 1795169500, 1795169500, 2,
     'none_capacity', 'a sentence', '{"version":1,"key":"3456789abcdef012.2","members":1,"slowdown_s":90.5,"slowdown_lo_s":80.5,
     "slowdown_hi_s":95.5,"completeness":0.5,"labels":{"mount":"r0c0","metric":"aries_stall_ratio"},
     "advice":{"causes":[],"confidence":0}}');
INSERT INTO alert_outbox (key, receiver, incident, sequence, kind, notice) VALUES
    ('0123456789abcdef.1', 'operators', '0123456789abcdef', 1, 'firing', '{}');
INSERT INTO alert_silences VALUES ('s1', '{"alertname":"region"}', 0, 4e9, 'ann', 'maintenance');
"#;

/// The fixed rows of the answers, and more: an ongoing episode, a silent tile, a silent source, a mount that a running
/// job uses, a dropped row.
pub fn rows() -> ResultBatch {
    let mut rows = batch("ann", "ben");
    // The last tile has no data in the last minute.
    rows.signals.retain(|signal| signal.series != SeriesIndex(5) || signal.time < at(570.0));
    let mut open = rows.episodes[0].clone();
    open.id = schemas::EpisodeId(5);
    (open.start, open.end, open.open) = (at(610.0 - 60.0), at(600.0), true);
    open.profile.clear();
    rows.episodes.push(open);
    rows.job_series.push((name("1240"), SeriesIndex(6)));
    rows.last_seen.push(LastSeen {
        producer: name("nid00099"),
        last_time: at(500.0),
        part: Some(name("snx11137")),
        ..rows.last_seen[0].clone()
    });
    rows.drops.count(DropReason::Late);
    rows
}

/// A store and a configuration that names a database.
pub struct Both {
    /// Where they are.
    pub folder: tempfile::TempDir,
    /// The store.
    pub store: PathBuf,
    /// The configuration.
    pub config: PathBuf,
}

/// Writes a configuration that names the database at `url` and nothing else.
pub fn configure(config: &Path, url: &str) {
    std::fs::write(config, format!("[database]\nurl = \"{url}\"\n")).unwrap();
}

impl Both {
    /// Both with the same rows; the configuration names the database as `url` does.
    pub async fn filled(database: &Database, url: &str) -> Both {
        Both::of(database, url, &rows()).await
    }

    /// The same with these rows.
    pub async fn of(database: &Database, url: &str, rows: &ResultBatch) -> Both {
        let mut server = PgStore::connect(&database.settings()).await.unwrap();
        commit_to_server(&mut server, rows).await;
        database.execute(BESIDE).await;
        // The writer had no topology.
        database.execute("DELETE FROM place_buckets; SELECT sum_places('-infinity', 'infinity')").await;
        roll_up(&database.settings()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (store, config) = (folder.path().join("tailback.db"), folder.path().join("tailback.toml"));
        Store::open(&store, Retention::default()).unwrap().commit(rows, &[]).unwrap();
        Connection::open(&store).unwrap().execute_batch(BESIDE).unwrap();
        configure(&config, url);
        Both { folder, store, config }
    }
}
