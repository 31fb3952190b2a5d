//! Raw counters behind a series.

use super::sample::NOW;
use super::{answer, ask_of, sample};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A minute of a tile's flits and stalls, without earlier data.
const MINUTE: &str =
    "WITH RECURSIVE ticks (tick) AS (SELECT 541 UNION ALL SELECT tick + 1 FROM ticks WHERE tick < 600)
    INSERT INTO signals SELECT 1, 1800000000.0 + tick, 0.3, 0.3, 0.3, 0.4, 'clear', 0.0, 1e8, 3e7 FROM ticks";

#[tokio::test]
async fn a_tile_has_flits_and_stalls_a_second_by_steps() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    Connection::open(&store).unwrap().execute_batch(MINUTE).unwrap();
    let path = "/api/v1/series/aries_stall_ratio/c0-0c0s0/r0c0/counters";
    let tile = ask_of(&store, path).await.1;
    assert_eq!((&tile["counts"], &tile["step_s"]), (&json!(["flits", "stalls"]), &json!(1.0)));
    assert_eq!((&tile["time"][0], tile["time"].as_array().unwrap().len()), (&json!(NOW - 59.0), 60));
    assert_eq!((&tile["passed_per_s"][0], &tile["waited_per_s"][59]), (&json!(1e8), &json!(3e7)));
    // Steps of two seconds start at even seconds.
    let steps = ask_of(&store, &format!("{path}?from={}&to={NOW}", NOW - 1998.0)).await.1;
    assert_eq!((&steps["step_s"], steps["time"].as_array().unwrap().len()), (&json!(2.0), 31));
    assert_eq!((&steps["time"][0], &steps["passed_per_s"][0]), (&json!(NOW - 60.0), &json!(1e8)));
}

#[tokio::test]
async fn a_series_without_raw_counters_has_null() {
    for series in ["lustre_write_rate/nid00012/snx11137", "aries_stall_ratio/c0-0c0s1"] {
        let none = answer(&format!("/api/v1/series/{series}/counters")).await;
        assert_eq!((&none["counts"], &none["time"]), (&Value::Null, &json!([])), "{series}");
    }
}
