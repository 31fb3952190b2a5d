//! The fabric and its regions, as the page requests them.

use crate::integration::api::sample::NOW;
use crate::integration::api::{answer, ask_of, sample};
use rusqlite::Connection;
use serde_json::{Value, json};

const FIRST: &str = "aries_stall_ratio/c0-0c0s0/r0c0";

/// The fabric of the sample store after `statements` changed it.
async fn fabric_after(statements: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    Connection::open(&store).unwrap().execute_batch(statements).unwrap();
    ask_of(&store, "/api/v1/fabric").await.1
}

#[tokio::test]
async fn the_fabric_has_groups_switches_and_regions() {
    let fabric = answer("/api/v1/fabric").await;
    let groups = fabric["groups"].as_array().unwrap();
    let known = groups.iter().find(|group| group["name"] == "c0-0..c1-0").unwrap();
    assert_eq!((&known["series"], &known["reporting"]), (&2.into(), &2.into()));
    // The location of the other router is unknown, and it is silent.
    let other = groups.iter().find(|group| group["name"].is_null()).unwrap();
    assert_eq!((&other["series"], &other["reporting"]), (&1.into(), &0.into()));
    assert_eq!(fabric["switches"].as_array().unwrap().len(), 2);
    let region = &fabric["regions"][0];
    assert_eq!((&region["open"], &region["kind"]), (&true.into(), &"avoidable".into()));
    assert_eq!(region["worst_series"], "aries_stall_ratio/c0-0c0s0/r0c0");
    assert_eq!(region["lost_s"], Value::Null);

    let one = answer("/api/v1/fabric?group=c0-0..c1-0").await;
    assert_eq!(one["switches"].as_array().unwrap().len(), 1);
    assert_eq!(one["switches"][0]["name"], "c0-0c0s0");
    assert_eq!(one["switches"][0]["worst_series"], Value::Null);
    let unplaced = answer("/api/v1/fabric?group=").await;
    assert_eq!(unplaced["switches"][0]["name"], "c0-0c0s1");
}

#[tokio::test]
async fn link_classes_have_the_share_of_the_latest_minute() {
    // Contended for the first half of the minute, and all the time before, which does not count.
    let fabric = fabric_after(
        "WITH RECURSIVE ticks (tick) AS (SELECT 500 UNION ALL SELECT tick + 1 FROM ticks WHERE tick < 600)
         INSERT INTO signals SELECT 1, 1800000000.0 + tick, 0.3, 0.3, 0.3, 0.4,
                                    iif(tick <= 570, 'contended', 'clear'), 0.0, 1e8, 3e7 FROM ticks;
         UPDATE series_latest SET state = 'contended' WHERE series_id = 1",
    )
    .await;
    assert_eq!((&fabric["links_known"], &fabric["parallel_known"]), (&json!(3), &json!(2)));
    assert_eq!(fabric["share_over_s"], 60.0);
    let black = &fabric["classes"][0];
    assert_eq!((&black["class"], &black["metric"]), (&json!("black"), &json!("aries_stall_ratio")));
    assert_eq!(
        (&black["links"], &black["reporting"], &black["contended"]),
        (&json!(2), &json!(2), &json!(1))
    );
    assert_eq!((&black["contended_share"], &black["worst_series"]), (&json!(0.5), &json!(FIRST)));
}

#[tokio::test]
async fn a_class_without_data_has_no_share_and_no_worst_link() {
    let fabric = answer("/api/v1/fabric").await;
    let green = &fabric["classes"][1];
    assert_eq!(
        (&green["class"], &green["links"], &green["reporting"]),
        (&json!("green"), &json!(1), &json!(0))
    );
    assert_eq!((&green["contended_share"], &green["worst_series"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn imbalance_is_the_worst_of_parallel_links_over_their_mean() {
    let even = "UPDATE series_latest SET mean = 0.1, state = 'clear' WHERE series_id = 2";
    let bundle = &fabric_after(even).await["bundles"][0];
    assert_eq!((&bundle["bundle"], &bundle["class"]), (&json!("c0-0c1s0 to c0-0c0s0"), &json!("black")));
    assert_eq!((&bundle["links"], &bundle["links_known"]), (&json!(2), &json!(2)));
    assert_eq!((&bundle["worst_ratio"], &bundle["worst_series"]), (&json!(0.3), &json!(FIRST)));
    let near = |figure: &str, expected: f64| (bundle[figure].as_f64().unwrap() - expected).abs() < 1e-9;
    assert!(near("mean_ratio", 0.2) && near("imbalance", 1.5), "{bundle}");
}

#[tokio::test]
async fn parallel_links_without_traffic_have_no_imbalance_and_silent_ones_are_not_shown() {
    let idle = "UPDATE series_latest SET mean = NULL, state = 'idle' WHERE series_id IN (1, 2)";
    let fabric = fabric_after(idle).await;
    let bundle = &fabric["bundles"][0];
    assert_eq!((&bundle["imbalance"], &bundle["worst_series"]), (&Value::Null, &Value::Null));
    let silent = "UPDATE series_latest SET time = time - 60 WHERE series_id = 1";
    let fabric = fabric_after(silent).await;
    assert_eq!((&fabric["bundles"], &fabric["parallel_known"]), (&json!([]), &json!(2)));
}

#[tokio::test]
async fn without_a_topology_no_link_is_known() {
    let fabric = fabric_after("DELETE FROM link_places").await;
    assert_eq!((&fabric["links_known"], &fabric["classes"]), (&json!(0), &json!([])));
    assert_eq!(fabric["bundles"], json!([]));
}

#[tokio::test]
async fn links_with_the_largest_loss_have_ends_and_are_no_clients() {
    // The first began before the hour: three quarters of it are counted. The client of Lustre lost more.
    let episodes = "INSERT INTO episodes VALUES
        (3, 1, 1799996700.0, 1799997900.0, 0, 9.0, 0.3, 100.0, 90.0, 110.0, 1.0, '[]', '[]'),
        (4, 2, 1800000500.0, 1800000510.0, 0, 4.0, 0.3, 5.0, 4.0, 6.0, 1.0, '[]', '[]'),
        (5, 2, 1800000540.0, 1800000560.0, 0, 5.0, 0.3, 10.0, 9.0, 11.0, 1.0, '[]', '[]'),
        (6, 3, 1799990000.0, 1799990900.0, 0, 9.0, 0.3, 900.0, 900.0, 900.0, 1.0, '[]', '[]');";
    let fabric = fabric_after(episodes).await;
    assert_eq!(fabric["worst_over_s"], 3600.0);
    let worst = fabric["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 2, "an episode before the hour does not count: {worst:?}");
    assert_eq!((&worst[0]["series"], &worst[0]["class"]), (&json!(FIRST), &json!("black")));
    assert_eq!((&worst[0]["lost_s"], &worst[0]["contended_s"]), (&json!(75.0), &json!(900.0)));
    assert_eq!((&worst[0]["from_name"], &worst[0]["to_name"]), (&json!("c0-0c1s0"), &json!("c0-0c0s0")));
    assert_eq!((&worst[1]["lost_s"], &worst[1]["episodes"]), (&json!(15.0), &json!(2)));
    assert_eq!((&worst[1]["peak"], &worst[1]["state"]), (&json!(5.0), &json!("idle")));
}

#[tokio::test]
async fn links_rank_by_the_lower_end_of_their_loss() {
    // The second may have lost more, and nothing confirms it.
    let episodes = "INSERT INTO episodes VALUES
        (3, 1, 1800000500.0, 1800000510.0, 0, 4.0, 0.3, 5.0, 4.0, 6.0, 1.0, '[]', '[]'),
        (4, 2, 1800000540.0, 1800000560.0, 0, 5.0, 0.3, 20.0, 0.0, 30.0, 1.0, '[]', '[]');";
    let fabric = fabric_after(episodes).await;
    let losses = [0, 1].map(|at| &fabric["worst"][at]["lost_s"]);
    assert_eq!(losses, [&json!(5.0), &json!(20.0)]);
}

#[tokio::test]
async fn a_router_as_a_whole_is_no_link_beside_its_tiles() {
    let whole = "INSERT INTO series VALUES (9, 'aries_stall_ratio/c0-0c0s0', 'aries_stall_ratio', 'c0-0c0s0', NULL);
        INSERT INTO series_latest VALUES (9, 1800000600.0, 0.9, 0.9, 0.3, 0.4, 'contended', 5.0);
        INSERT INTO episodes VALUES (3, 9, 1800000500.0, 1800000510.0, 0, 4.0, 0.3, 5.0, 4.0, 6.0, 1.0, '[]', '[]');";
    let (without, with) = (answer("/api/v1/fabric").await, fabric_after(whole).await);
    assert_eq!((&with["groups"], &with["switches"]), (&without["groups"], &without["switches"]));
    assert_eq!(with["worst"], json!([]));
}

#[tokio::test]
async fn a_router_has_its_tiles() {
    let router = answer("/api/v1/routers/c0-0c0s0").await;
    assert_eq!(router["metric"]["unit"], schemas::Metric::from_name("aries_stall_ratio").unwrap().unit());
    let parts: Vec<&Value> = router["tiles"].as_array().unwrap().iter().map(|tile| &tile["part"]).collect();
    assert_eq!(parts, ["r0c0", "r0c1"]);
    let [first, second] = [&router["tiles"][0], &router["tiles"][1]];
    assert_eq!(
        (&first["state"], &first["mean"], &first["bound"]),
        (&json!("clear"), &json!(0.3), &json!(0.4))
    );
    assert_eq!((&first["class"], &first["from_name"]), (&json!("black"), &json!("c0-0c1s0")));
    assert_eq!((&second["state"], &second["mean"]), (&json!("idle"), &Value::Null));
    // A router without tiles, which is silent.
    let whole = answer("/api/v1/routers/c0-0c0s1").await;
    assert_eq!((&whole["tiles"][0]["part"], &whole["tiles"][0]["state"]), (&Value::Null, &json!("unknown")));
}

#[tokio::test]
async fn regions_are_listed_open_ones_first_and_as_many_as_asked_for() {
    let ids = |found: &Value| -> Vec<i64> {
        found["regions"].as_array().unwrap().iter().map(|region| region["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(&answer("/api/v1/regions").await), [1, 2]);
    assert_eq!(ids(&answer("/api/v1/regions?limit=1").await), [1]);
}

#[tokio::test]
async fn a_region_comes_with_its_history_links_and_causes() {
    let one = answer("/api/v1/regions/1").await;
    assert_eq!((&one["region"]["name"], &one["region"]["peak"]), (&json!("router c0-0c0s0"), &json!(4.0)));
    assert_eq!(one["metric"]["unit"], schemas::Metric::from_name("aries_stall_ratio").unwrap().unit());
    let changes: Vec<&str> =
        one["history"].as_array().unwrap().iter().map(|step| step["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["began", "grew", "took_up", "shrank"]);
    let took = &one["history"][2];
    assert_eq!((&took["other"], &took["other_name"]), (&json!(2), &json!("c0-0c1s0 to c0-0c0s0")));
    assert_eq!(
        (&took["at_time"], &took["links"], &took["worst"]),
        (&json!(NOW - 60.0), &json!(3), &json!(3.0))
    );
    assert_eq!((&one["history"][0]["other"], &one["history"][3]["worst"]), (&Value::Null, &Value::Null));
    assert_eq!((&one["history_total"], &one["links_total"]), (&json!(4), &json!(2)));
    let [worst, left] = [&one["links"][0], &one["links"][1]];
    assert_eq!(
        (&worst["series"], &worst["belongs"], &worst["class"]),
        (&json!(FIRST), &json!(true), &json!("black"))
    );
    assert_eq!(
        (&left["belongs"], &left["state"], &left["mean"]),
        (&json!(false), &json!("idle"), &Value::Null)
    );
    assert_eq!(one["causes"][0]["evidence"], json!(["nodes_on_router", "change_point"]));
    assert_eq!(one["victims"], json!([]));
}

#[tokio::test]
async fn victims_of_a_region_include_unknown_jobs() {
    let victims = answer("/api/v1/regions/2").await["victims"].clone();
    assert_eq!((&victims[0]["job_id"], &victims[0]["user"]), (&json!("4710"), &json!("amelie")));
    assert_eq!(
        (&victims[1]["job_id"], &victims[1]["name"], &victims[1]["lost_s"]),
        (&json!("gone"), &Value::Null, &json!(1.0))
    );
}
