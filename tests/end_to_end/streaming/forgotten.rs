//! Series that are forgotten, and new ones with their numbers: the tables equal those of a replay, which forgets none.

use super::feed::Feed;
use super::lines::address_of;
use super::replayed::{difference, replayed, stored, written};
use super::rows::Row;
use super::site::Site;
use std::time::Duration;
use support::stack::turn;

/// When the rows begin: seconds since the epoch.
const START_S: i64 = 1_790_000_000;
/// Every fifty minutes come rows for a quarter of a minute: a look for what is forgotten is due with each.
const PAUSE_S: i64 = 3_000;
const ROWS_S: i64 = 15;
/// Time between two bursts: those that are read together are one look.
const APART: Duration = Duration::from_millis(800);
/// Half of these looks make a day; what reported before is forgotten by then.
const FORGOTTEN: i64 = 70;
/// After this burst the process is killed.
const KILLED: usize = 20;
const HOSTS: i64 = 6;
/// Readings of the detector. A replay reports series that are silent at its end as unknown; the database has no such rows.
const KAFKA: &str =
    "SELECT s.name, 't' || (extract(epoch FROM r.time) * 1000000)::bigint, tailback_state(r.state), r.value, r.mean, r.baseline
     FROM signal_rows r JOIN series s USING (series_id) WHERE tailback_state(r.state) <> 'unknown'";
const REPLAY: &str =
    "SELECT s.name, 't' || CAST(round(r.time * 1000000) AS INTEGER), r.state, r.value, r.mean, r.baseline
     FROM signal_rows r JOIN series s USING (series_id) WHERE r.state <> 'unknown'";

/// Rows of `lasting` hosts in each burst, of `old` ones in the first, of `new` ones in the last two.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for burst in 0..FORGOTTEN + 2 {
        let others = match burst {
            0 => Some("old"),
            burst if burst >= FORGOTTEN => Some("new"),
            _ => None,
        };
        for second in 0..ROWS_S {
            for host in 0..HOSTS {
                let names = [Some("lasting"), others].into_iter().flatten();
                rows.extend(names.map(|name| row(&format!("{name}{host}"), burst * PAUSE_S + second, host)));
            }
        }
    }
    rows
}

fn row(node: &str, second: i64, host: i64) -> Row {
    let (time_s, bytes) = (START_S + second, second * 1_000_000 * (1 + host));
    let payload = format!(
        r#"{{"timestamp":{time_s}.0,"producer":"{node}","instance":"{node}/home","component_id":1,"fs_name":"home","llite":"home-ffff88103d6bd000","read_bytes.sum":0,"write_bytes.sum":{bytes},"open":1,"close":1}}"#
    );
    Row {
        schema: "lustre_client",
        time_us: time_s * 1_000_000,
        arrival_us: time_s * 1_000_000 + 4_000,
        partition: (host % 2) as i32,
        payload: payload.into_bytes(),
    }
}

#[test]
fn new_series_with_numbers_of_forgotten_ones_keep_apart() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "forgotten");
    site.configure("[stream]\nforget_after_days = 1");
    let rows = rows();
    let mut process = site.start();
    process.wait_for("raw partitions assigned");
    for (at, burst) in rows.chunk_by(|a, b| b.time_us - a.time_us < PAUSE_S * 500_000).enumerate() {
        Feed::to(&site).all(burst);
        if at == KILLED {
            process.kill();
            process = site.start();
            process.wait_for("raw partitions assigned");
        }
        std::thread::sleep(APART);
    }
    site.settled_for_now();
    let folder = tempfile::tempdir().unwrap();
    let store = replayed(&site, &rows, folder.path());
    let found = written(&site, KAFKA);
    assert_eq!(difference("signals", &found, &stored(&store, REPLAY)), None);
    let of = |name: &str| found.iter().filter(|row| row.contains(name)).count();
    assert!(of("/old0/") > 20 && of("/new0/") > 40, "{} {}", of("/old0/"), of("/new0/"));
    // The database has the series of all hosts, the detector those of the lasting and the new ones.
    assert_eq!(site.database.rows("SELECT count(*)::text FROM series"), ["54"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = format!("http://{}/metrics", address_of(&process));
    let metrics = runtime.block_on(async { reqwest::get(url).await.unwrap().text().await.unwrap() });
    let is_series = |line: &&str| line.starts_with("tailback_series{stage=\"detector\"}");
    assert_eq!(metrics.lines().find(is_series), Some("tailback_series{stage=\"detector\"} 36"));
    assert!(metrics.contains("tailback_limit{name=\"series\"} 2000000"), "{metrics}");
    process.finish();
}
