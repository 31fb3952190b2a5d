//! Series that are forgotten, and new ones with their numbers: the tables equal those of a replay, which forgets none.

use super::feed::Feed;
use super::replayed::{difference, replayed, stored, written};
use super::rows::{Dice, Row};
use super::site::Site;
use std::time::Duration;
use support::stack::turn;

/// When the rows begin: seconds since the epoch.
const START_S: i64 = 1_790_000_000;
/// Every fifty minutes come rows for a quarter of a minute: a look for what is forgotten is due with each.
const PAUSE_S: i64 = 3_000;
const ROWS_S: i64 = 15;
/// So many looks make a day; what reported before is forgotten by then.
const FORGOTTEN: i64 = 35;
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
    let (rows, mut moments) = (rows(), Dice::new("forgotten kills"));
    Feed::to(&site).all(&rows);
    for _ in 0..2 {
        let process = site.start();
        std::thread::sleep(Duration::from_millis(1_000 + moments.below(3_000)));
        process.kill();
    }
    let process = site.start();
    site.settled();
    let folder = tempfile::tempdir().unwrap();
    let store = replayed(&site, &rows, folder.path());
    let found = written(&site, KAFKA);
    assert_eq!(difference("signals", &found, &stored(&store, REPLAY)), None);
    let of = |name: &str| found.iter().filter(|row| row.contains(name)).count();
    assert!(of("/old0/") > 20 && of("/new0/") > 40, "{} {}", of("/old0/"), of("/new0/"));
    assert_eq!(site.database.rows("SELECT count(*)::text FROM series WHERE component LIKE 'old%'"), ["24"]);
    process.finish();
}
